// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hostile/chance.hpp"
#include "hostile/messages.hpp"
#include "hostile/wire.hpp"

namespace joust::hostile {

// Until one of these events of poll(), and no longer than `most`.
struct Pause {
  short events = 0;
  Duration most{};
};

// One thing a hostile peer does on a connection that stands. A peer does several, one after the other.
class Behaviour {
 public:
  virtual ~Behaviour() = default;

  // As much as goes without waiting. Returns what to wait for before the next step; nothing when this
  // behaviour has come to its end.
  virtual std::optional<Pause> step(Wire& wire) = 0;
};

// What one peer may do to the machine: large enough to go beyond every limit of a server, and small enough
// for a test.
struct Appetite {
  std::uint64_t behaviours = ~std::uint64_t{0};  // a bit for each that comes up in this run
  bool answers = false;                          // as the server of echo, half of the time
  std::uint64_t flood_bytes = 1 << 20;
  Duration pause = std::chrono::milliseconds(20);  // the longest
};

struct Means {
  Messages& messages;
  Chance& chance;
  Appetite appetite{};
};

// Bytes on their way out, as far as the kernel takes them.
class Sending {
 public:
  void put(std::string bytes) {
    bytes_ = std::move(bytes);
    done_ = 0;
  }
  bool all_gone() const { return done_ == bytes_.size(); }
  void send(Wire& wire, std::size_t most = ~std::size_t{0}) {
    done_ += wire.send(std::string_view(bytes_).substr(done_, most));
  }

 private:
  std::string bytes_;
  std::size_t done_ = 0;
};

// One file each.
std::unique_ptr<Behaviour> flood(const Means& means);        // messages without end, and reads nothing
std::unique_ptr<Behaviour> trickle(const Means& means);      // a message, one byte at a time
std::unique_ptr<Behaviour> pipeline(const Means& means);     // many small messages in one send
std::unique_ptr<Behaviour> converse(const Means& means);     // a message, and reads what comes
std::unique_ptr<Behaviour> violate(const Means& means);      // what breaks the protocol
std::unique_ptr<Behaviour> cut(const Means& means);          // the beginning of a message
std::unique_ptr<Behaviour> read_slowly(const Means& means);  // a few bytes at a time
std::unique_ptr<Behaviour> stay_silent(const Means& means);
std::unique_ptr<Behaviour> half_close(const Means& means);  // ends its direction, or its hearing
std::unique_ptr<Behaviour> answer(const Means& means);      // what an honest server of echo does
std::unique_ptr<Behaviour> urgent(const Means& means);      // a byte out of band

std::unique_ptr<Behaviour> some_behaviour(const Means& means);

// The set for one run. A few behaviours that all peers share bring about states that a mixture of all never
// does, such as a room in which nobody reads.
std::uint64_t some_behaviours(Chance& chance);

}  // namespace joust::hostile
