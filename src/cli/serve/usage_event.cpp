// SPDX-License-Identifier: MIT
#include "cli/serve/usage_event.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.hpp"
#include "joust/time.hpp"
#include "measure/usage.hpp"

namespace joust {
namespace {

// Reads a file of /proc, as far as it fits into the buffer.
std::string_view read_into(std::span<char> buffer, const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::size_t size = 0;
  for (;;) {
    const ssize_t got =
        retry_interrupted([&] { return ::read(file, buffer.data() + size, buffer.size() - size); });
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  ::close(file);
  return {buffer.data(), size};
}

}  // namespace

// Formats integers only: the formatting of floating point numbers may allocate memory.
void write_usage_event(int value) noexcept {
  rusage used{}, ended{};
  ::getrusage(RUSAGE_SELF, &used);
  ::getrusage(RUSAGE_CHILDREN, &ended);
  timeradd(&used.ru_utime, &ended.ru_utime, &used.ru_utime);
  timeradd(&used.ru_stime, &ended.ru_stime, &used.ru_stime);
  const Time at = Clock::now();
  std::array<char, 4096> status, rollup;
  std::uint64_t peak = 0;
  if (value != kTimesOnly)
    peak = peak_memory(read_into(status, "/proc/self/status"), read_into(rollup, "/proc/self/smaps_rollup"));
  std::array<char, 512> line;
  const auto end = fmt::format_to_n(
      line.data(), line.size(),
      R"({{"event":"usage","at_ns":{},"usage":{{"cpu_user_s":{}.{:06},"cpu_system_s":{}.{:06},)"
      R"("voluntary_switches":{},"involuntary_switches":{},"peak_memory_bytes":{}}}}})"
      "\n",
      at.time_since_epoch() / Duration(1), used.ru_utime.tv_sec, used.ru_utime.tv_usec, used.ru_stime.tv_sec,
      used.ru_stime.tv_usec, used.ru_nvcsw + ended.ru_nvcsw, used.ru_nivcsw + ended.ru_nivcsw, peak);
  const std::string_view text(line.data(), end.size);
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
}

}  // namespace joust
