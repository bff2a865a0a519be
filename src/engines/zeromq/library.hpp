// SPDX-License-Identifier: MIT
#pragma once

#include <zmq.h>

#include <cstddef>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "engines/engine.hpp"
#include "joust/bytes.hpp"
#include "joust/time.hpp"
#include "net/address.hpp"

// Owners of the library's objects, and its sockets with options that are set on purpose. The library sets
// errno, as system calls do.
namespace joust {

// A context of the library, which has the threads that read and write its sockets.
class ZmqContext {
 public:
  // Throws std::system_error. `sockets`: the largest number of sockets at a time.
  ZmqContext(int io_threads, std::size_t sockets);
  // All sockets must be closed. Waits until what they hold is sent, for as long as each socket lingers.
  ~ZmqContext();
  ZmqContext(const ZmqContext&) = delete;
  ZmqContext& operator=(const ZmqContext&) = delete;

  void* get() const { return context_; }

 private:
  void* context_;
};

// A part of a message. The library counts references, and frees the bytes after the last one.
class ZmqPart {
 public:
  ZmqPart() { zmq_msg_init(&part_); }
  explicit ZmqPart(std::size_t size) {
    if (zmq_msg_init_size(&part_, size) != 0) throw std::bad_alloc();
  }
  ZmqPart(ZmqPart&& other) noexcept : ZmqPart() { zmq_msg_move(&part_, &other.part_); }
  ZmqPart& operator=(ZmqPart&& other) noexcept {
    if (this != &other) zmq_msg_move(&part_, &other.part_);
    return *this;
  }
  ~ZmqPart() { zmq_msg_close(&part_); }

  std::byte* data() { return static_cast<std::byte*>(zmq_msg_data(&part_)); }
  std::size_t size() const { return zmq_msg_size(&part_); }
  Bytes bytes() const {
    return {static_cast<const std::byte*>(zmq_msg_data(const_cast<zmq_msg_t*>(&part_))), size()};
  }
  bool more_follow() const { return zmq_msg_more(&part_) != 0; }
  zmq_msg_t* get() { return &part_; }

 private:
  zmq_msg_t part_;
};

// Belongs to one thread at a time. No call blocks.
class ZmqSocket {
 public:
  // Throws std::system_error.
  ZmqSocket(const ZmqContext& context, int type);
  ZmqSocket(ZmqSocket&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)) {}
  ZmqSocket& operator=(ZmqSocket&&) = delete;
  ~ZmqSocket();  // the library sends what it holds, for as long as the socket lingers

  // These throw std::system_error.
  void set(int option, int value);
  void set_milliseconds(int option, Duration value);
  void bind(const std::string& address);
  void connect(const std::string& address);

  int fd() const { return option(ZMQ_FD); }
  // Returns ZMQ_POLLIN, ZMQ_POLLOUT. The library has then reported everything so far at fd().
  unsigned events() const { return static_cast<unsigned>(option(ZMQ_EVENTS)); }
  void* get() const { return socket_; }

 private:
  int option(int name) const;

  void* socket_;
};

// Makes a context with as many I/O threads as the knob demands, and places for the sockets of the run.
ZmqContext context_for(const Hosting& hosting);

// Makes the ROUTER of one of a server's loops, which listens at the addresses of all listeners.
ZmqSocket router_for(const Hosting& hosting, const ZmqContext& context, std::size_t loop);

// Makes a client's socket, which begins to connect.
ZmqSocket dealer_for(const Hosting& hosting, const ZmqContext& context, const Endpoint& to);

// Sets the options that the library has none for. It does so on the client's socket from which the message
// has come, if the library reports it. Keeps the kernel's facts of the socket for the results.
void equip_source(const Hosting& hosting, ZmqPart& message);

// Notes in the results which options the library does not let a server's sockets have.
void note_options_left_out(const Hosting& hosting);

}  // namespace joust
