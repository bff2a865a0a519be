// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "conformance/wire.hpp"

// ZMTP 3.0 (rfc.zeromq.org/spec/23), as much of it as a peer needs that does without security: a greeting of
// 64 bytes, the command READY, frames, and the answer to a PING.
namespace joust::conformance {

Endpoint name_of(int socket);

std::string zmtp_greeting();
// `identity`: empty if the other side is to give one.
std::string zmtp_ready(std::string_view socket_type, std::string_view identity = {});
// One part of a message.
std::string zmtp_frame(std::string_view part, bool more_follow = false);

// One connection.
class ZmtpConnection {
 public:
  explicit ZmtpConnection(Fd socket);

  int fd() const { return socket_.get(); }
  const Endpoint& peer() const { return peer_; }
  void write(std::string_view bytes);  // throws std::system_error
  // Reads what is there; false at the end of the stream.
  bool read();
  // Waits until the other side has said READY: before that nobody may send a message.
  void await_ready();
  // The next whole message, its parts joined.
  std::optional<std::string> take();

 private:
  void obey(std::string_view command);

  Fd socket_;
  Endpoint peer_;
  std::string input_;
  bool greeted_ = false, ready_ = false;
  std::string message_;  // its first parts
  std::optional<std::string> buffered_;
};

// A DEALER that is connected to a server.
class ZmtpClient : public Wire {
 public:
  explicit ZmtpClient(const Endpoint& server, std::string_view identity = {},
                      std::string_view socket_type = "DEALER");

  const Endpoint& own() const override { return own_; }
  void send(Bytes message, const Endpoint* to) override;
  void write(std::string_view bytes) { connection_->write(bytes); }
  std::optional<Message> next(Duration within) override;
  void close() override { connection_.reset(); }
  void shut() override;

 private:
  std::unique_ptr<ZmtpConnection> connection_;
  Endpoint own_;
};

// A ROUTER that listens.
class ZmtpServer : public Wire {
 public:
  ZmtpServer();

  const Endpoint& own() const override { return own_; }
  void send(Bytes message, const Endpoint* to) override;
  std::optional<Message> next(Duration within) override;
  void close() override;

 private:
  std::optional<Message> take();
  void read_all();

  Fd listener_;
  Endpoint own_;
  std::list<ZmtpConnection> connections_;
};

}  // namespace joust::conformance
