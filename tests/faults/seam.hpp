// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

// Makes the calls fail by which an engine talks to the system, without a hook in the library. The linker puts
// a wrapper in the place of each call (ld --wrap, see CMakeLists.txt): NAME in the library's objects becomes
// __wrap_NAME, which asks here whether this call shall fail, and __real_NAME is the call itself. Only threads
// of an engine are concerned.
namespace joust::faults {

// Instead of an errno: the call does less than it was asked for.
inline constexpr int kShort = -1;

// One wrapped call. Objects of this class live as long as the program, one beside each wrapper.
class Call {
 public:
  Call(std::string_view name, std::initializer_list<int> faults);  // faults that Linux documents for it

  std::string_view name() const { return name_; }
  std::span<const int> faults() const { return faults_; }
  std::uint64_t made() const { return made_; }  // by engines since the last reset_counts()

  // Counts the call, and decides: 0 to let it pass, kShort, or the errno to fail with.
  int fault();

 private:
  friend void reset_counts();

  const std::string_view name_;
  const std::vector<int> faults_;
  std::atomic<std::uint64_t> made_{0};
};

std::span<Call* const> all_calls();
void reset_counts();

// Which call fails, once.
struct Fault {
  const Call* call = nullptr;
  int error = 0;
  std::uint64_t nth = 1;  // counted from reset_counts()
};

// These calls fail, until stop_injecting(). No engine may be running meanwhile.
void inject(std::span<const Fault> faults);
void stop_injecting();

// Marks the thread it is made on as an engine's, or as none, until it is destroyed. A thread that an engine's
// thread starts is an engine's too.
class EngineThread {
 public:
  explicit EngineThread(bool is_engine = true);
  ~EngineThread();
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;
  static bool here();

 private:
  bool before_;
};

// What a call that fails returns.
inline int fail(int error) {
  errno = error;
  return -1;
}

// For calls that cannot fall short.
template <typename Real, typename... Args>
auto call_or_fail(Call& call, Real real, Args... args) -> decltype(real(args...)) {
  const int error = call.fault();
  return error > 0 ? fail(error) : real(args...);
}

// The bytes that a call falls short to.
inline std::size_t fall_short(std::size_t size) {
  return size < 2 ? size : 1 + size / 7;
}

}  // namespace joust::faults
