// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

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
//   k  does not finish at a stop, but when its peer does
//   p  publishes a letter: every session, this one too, sends "p"
class ScriptedService : public Service {
 public:
  static constexpr unsigned kSegments = 5'000;      // of 16 bytes
  static constexpr unsigned kPublications = 1'000;  // at most

  std::unique_ptr<Session> open(const Opening& opening) override;
  Publications* publications() override { return &publications_; }

  // A new peer whose session is open.
  Peer join(const Server& server);
  unsigned sessions() const { return sessions_; }  // so far; the last one has the number below this

  Gate& gate() { return gate_; }
  void hold_next_opened() { hold_next_opened_ = true; }  // in its on_open
  bool holds_this() { return hold_next_opened_.exchange(false); }
  // Releases the held thread. told_before() counts from here.
  void let_go();
  // Publishes; all sessions want bytes again.
  void want_again();
  bool all_want() const { return all_want_; }
  void publish();
  unsigned published() const { return published_; }  // letters

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

  std::atomic<unsigned> sessions_{0};
  std::atomic<bool> hold_next_opened_{false};
  std::atomic<bool> all_want_{false};
  std::atomic<unsigned> published_{0};
  Gate gate_;
  Publications publications_;
  mutable std::mutex mutex_;
  std::vector<Told> log_;
};

}  // namespace joust::conformance
