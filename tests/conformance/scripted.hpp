// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/memory.hpp"
#include "conformance/gate.hpp"
#include "conformance/running.hpp"
#include "joust/service.hpp"

namespace joust::conformance {

// One call of a session.
struct Told {
  enum class What : std::uint8_t { opened, bytes, sent, finished, drain, failure, mark };
  What what;
  unsigned session;
  std::size_t size;  // bytes
  int thread;        // the kernel's thread id
};

std::size_t bytes_of(unsigned session, std::span<const Told> told);

// Sessions that obey the letters sent by their peer, and a common log of their calls:
//
//   e  sends the letter back
//   .  does nothing
//   h  holds the thread that reads it, see gate()
//   n  wants nothing from now on, until want_again() is called
//   s  sends kSegments small segments
//   i  does not finish when its peer does
//   k  does not finish at a stop, but when its peer does
//   p  publishes a letter: every session, this one too, sends "p"
//
// Sessions in other processes have the log in common too; publications do not reach them.
class ScriptedService : public Service {
 public:
  static constexpr unsigned kSegments = 5'000;      // of 16 bytes
  static constexpr unsigned kPublications = 1'000;  // at most

  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  Publications* publications() override { return &publications_; }

  // A new peer whose session is open.
  Peer join(const Server& server);
  unsigned sessions() const { return state_->sessions; }  // so far; the last one has the number below this

  Gate& gate() { return gate_; }
  void hold_next_opened() { state_->hold_next_opened = true; }  // in its on_open
  bool holds_this() { return state_->hold_next_opened.exchange(false); }
  // Releases the held thread. told_before() counts from here.
  void let_go();
  // Publishes; all sessions want bytes again.
  void want_again();
  bool all_want() const { return state_->all_want; }
  void publish();
  unsigned published() const { return state_->published; }  // letters

  void tell(Told::What what, unsigned session, std::size_t size = 0);
  std::vector<Told> log() const;
  std::size_t bytes_of(unsigned session) const { return conformance::bytes_of(session, log()); }
  int thread_of(unsigned session) const;  // the thread of its last call
  // The calls of all sessions since let_go(); of these, the ones before the next bytes of `session`.
  std::vector<Told> told_since() const;
  std::vector<Told> told_before(unsigned session) const;
  // Both return after that call of `session`, and throw after kPatience.
  void await(Told::What what, unsigned session) const;
  void await_bytes(std::size_t bytes, unsigned session) const;
  // True if one thread made all calls of all sessions.
  bool on_one_thread() const;

 private:
  static void await(const std::function<bool()>& told);

  static constexpr std::size_t kLongestLog = 1 << 18;  // calls; pages that are not used take no memory

  struct State {
    std::atomic<unsigned> sessions{0};
    std::atomic<bool> hold_next_opened{false};
    std::atomic<bool> all_want{false};
    std::atomic<unsigned> published{0};
    std::atomic<std::size_t> begun{0};  // calls; each takes a place,
    std::atomic<std::size_t> told{0};   // and those before this one are written
    std::array<Told, kLongestLog> log;
  };

  SharedMemory<State> state_;
  Gate gate_;
  Publications publications_;
};

}  // namespace joust::conformance
