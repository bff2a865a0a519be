// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "joust/session.hpp"

namespace joust {

// Two sessions joined in memory under virtual time, without sockets or waiting. It obeys the contract of
// Session as the worst of engines may: it cuts the stream where it is told, lets bytes stay on the way, and
// releases them only when they have arrived. What a session must not do is an assertion here.
class Pair {
 public:
  // How many of `available` bytes travel together next.
  using Cut = std::function<std::size_t(std::size_t available)>;

  static constexpr Time kBegin{std::chrono::hours(1)};
  Pair(std::unique_ptr<Session> left, std::unique_ptr<Session> right, Cut cut = whole, Time begin = kBegin);
  static std::size_t whole(std::size_t available) { return available; }
  static std::size_t single(std::size_t /*available*/) { return 1; }

  Session& left() { return *ends_[0].session; }
  Session& right() { return *ends_[1].session; }
  Time now() const { return now_; }

  // Carries bytes, ends and deadlines until nothing moves at this instant.
  void settle();
  // Lets time pass, stopping at every deadline on the way.
  void pass(Duration time);
  void hold(bool held) { held_ = held; }  // nothing travels: a network that is down

  bool over() const;  // both have ended their side

 private:
  struct OnTheWay {
    std::optional<Bytes> where;  // still the sender's memory, but for what came from a file
    std::string what;            // as it was when it was sent
  };
  struct End {
    std::unique_ptr<Session> session;
    std::deque<OnTheWay> sent;  // towards the other
    std::string arrived;        // not taken yet
    bool finished = false;      // has ended its side,
    bool heard_finish = false;  // and heard that the other has
  };

  bool carry(End& from, End& to);
  bool collect(End& from);
  bool collect_file(End& from, const FileRange& range);
  bool deliver(End& from, End& to);
  bool fire(End& end);
  std::optional<Time> next_deadline() const;

  std::array<End, 2> ends_;
  Cut cut_;
  Time now_;
  bool held_ = false;
};

}  // namespace joust
