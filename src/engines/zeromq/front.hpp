// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/keyed_hash.hpp"
#include "engines/engine.hpp"
#include "engines/zeromq/library.hpp"
#include "engines/zeromq/loop.hpp"
#include "net/waker.hpp"

namespace joust {

// The thread between the ROUTER and the workers. It passes messages on, and reads nothing but the identity.
// It sleeps in poll() for ZMQ_FD of all its sockets; see ZmqLoop for the rules of ZMQ_FD.
class ZmqFront {
 public:
  // Makes the sockets, and starts the thread. Throws std::system_error.
  ZmqFront(const Hosting& hosting, Stop& stop, const ZmqContext& context);
  // The workers must have ended.
  ~ZmqFront();
  // Called by a worker's thread that will receive nothing more. Messages for it are dropped from then on,
  // because a queue without a reader would be full for ever.
  void worker_ends(std::size_t worker);
  // Call it once the workers have ended. Passes on what they have left, for as long as a socket lingers.
  // Counts what peers have not taken by then, and throws the exception that the thread has thrown.
  void finish();

 private:
  // A message for a peer, or a command of one part.
  struct Message {
    ZmqPart identity, datagram;
    bool is_question() const { return datagram.size() == 0; }  // ZmqLoop::ask_front()
  };
  struct Worker {
    Worker(const ZmqContext& context, std::size_t number);
    ZmqSocket pair, command_pair;
    std::atomic<bool> has_ended{false};
    std::deque<ZmqPart> commands;  // commands that have found no room yet
  };
  // The messages held for a peer whose pipe is full.
  struct Held {
    std::size_t worker;
    std::deque<Message> messages;
    std::size_t bytes = 0;
    std::size_t datagrams() const {
      return messages.size() - std::ranges::count_if(messages, &Message::is_question);
    }
  };

  void run();
  bool turn();
  bool pass_in();
  bool take_in();
  bool give(Message& message);
  bool pass_out(std::size_t worker);
  int send_out(Message& message);
  void hold(std::size_t worker, Message message);
  bool pass_held();
  int send_held(Held& held);
  void drop_held();
  void command(std::size_t worker, ZmqCommand what, Bytes identity);
  bool flush_commands(Worker& worker);
  std::size_t worker_of(Bytes identity) const;
  bool has_events() const;
  void sleep();

  const Hosting& hosting_;
  Stop& stop_;
  ZmqSocket router_;
  std::deque<Worker> workers_;
  const HashKey key_;
  std::optional<Message> incoming_;  // a message that waits for room with its worker
  std::unordered_map<std::string, Held> held_;
  bool has_heard_ = false;  // a message has come
  Duration retry_pause_{};
  Time retry_at_{}, tried_at_{};  // when held messages are tried next, and were tried last
  std::atomic<bool> finishing_{false};
  Waker waker_;
  std::exception_ptr error_;
  std::jthread thread_;
};

}  // namespace joust
