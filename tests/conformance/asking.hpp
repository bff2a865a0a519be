// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "conformance/peer.hpp"
#include "joust/service.hpp"

namespace joust::conformance {

// The behaviour of an AskingService's sessions.
struct Asking {
  int requests = 1;                    // of each session, one after the other
  std::optional<Duration> deadline{};  // for all requests, from on_open on
};

// The dialling side: sessions that send lines, compare the replies, and count the results.
class AskingService : public Service {
 public:
  explicit AskingService(Asking how) : how_(how) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  void not_opened(const Failure& failure, Time now) override;

  std::vector<Failure> refusals() const;

  std::atomic<unsigned> opened{0};
  std::atomic<unsigned> answered{0};    // requests
  std::atomic<unsigned> wrong{0};       // replies
  std::atomic<unsigned> cut_short{0};   // sessions whose peer finished before the last reply
  std::atomic<unsigned> failed{0};      // sessions told of a failure
  std::atomic<unsigned> timed_out{0};   // sessions told of their deadline
  std::atomic<unsigned> told_early{0};  // of these, before the deadline

 private:
  Asking how_;
  mutable std::mutex mutex_;
  std::vector<Failure> refusals_;
};

// A plain server to dial, with a blocking thread for each connection.
class Counterpart {
 public:
  enum class Manner : std::uint8_t {
    in_pieces,  // sends the bytes back, a few at a time
    silent,     // reads and never replies
    resets,     // resets the connection after the first bytes
    leaves,     // sends half of the first bytes back and closes
  };
  explicit Counterpart(Manner manner, std::string_view address = "127.0.0.1:0");
  ~Counterpart();
  Counterpart(const Counterpart&) = delete;
  Counterpart& operator=(const Counterpart&) = delete;

  const Endpoint& endpoint() const { return endpoint_; }

 private:
  void accept_all();
  void serve(Peer& peer) const;

  Manner manner_;
  Fd listener_;
  Endpoint endpoint_;
  std::vector<std::jthread> peers_;  // used only by the acceptor until it has ended
  std::jthread acceptor_;
};

}  // namespace joust::conformance
