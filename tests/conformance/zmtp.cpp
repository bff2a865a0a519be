// SPDX-License-Identifier: MIT
#include "conformance/zmtp.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/system/sockets.hpp"
#include "conformance/peer.hpp"

namespace joust::conformance {
namespace {

constexpr std::size_t kGreeting = 64;
constexpr std::string_view kPing = "\x04PING";
constexpr unsigned kMore = 1, kLong = 2, kCommand = 4;

std::string big_endian(std::uint64_t value, std::size_t bytes) {
  std::array<std::byte, 8> all{};
  write_big_endian(value, all.data());
  return std::string(as_text(all).substr(8 - bytes));
}

std::string frame(unsigned flags, std::string_view body) {
  const bool is_long = body.size() > 255;
  std::string whole(1, static_cast<char>(flags | (is_long ? kLong : 0)));
  return whole + big_endian(body.size(), is_long ? 8 : 1) + std::string(body);
}

std::string property(std::string_view name, std::string_view value) {
  return std::string(1, static_cast<char>(name.size())) + std::string(name) + big_endian(value.size(), 4) +
         std::string(value);
}

int milliseconds_of(Duration time) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  return static_cast<int>(std::max<decltype(ms)>(ms, 0));
}

}  // namespace

Endpoint name_of(int socket) {
  Endpoint own;
  own.size = sizeof own.storage;
  checked(::getsockname(socket, reinterpret_cast<sockaddr*>(&own.storage), &own.size), "getsockname()");
  return own;
}

std::string zmtp_greeting() {
  std::string greeting = "\xff" + std::string(8, '\0') + "\x7f";  // the signature
  greeting += '\x03';                                             // version 3.0
  greeting += '\0';
  greeting += "NULL";  // the mechanism: no security
  greeting.resize(kGreeting, '\0');
  return greeting;
}

std::string zmtp_ready(std::string_view socket_type, std::string_view identity) {
  std::string body = "\x05READY" + property("Socket-Type", socket_type);
  if (!identity.empty()) body += property("Identity", identity);
  return frame(kCommand, body);
}

std::string zmtp_frame(std::string_view part, bool more_follow) {
  return frame(more_follow ? kMore : 0, part);
}

ZmtpConnection::ZmtpConnection(Fd socket) : socket_(std::move(socket)) {
  peer_.size = sizeof peer_.storage;
  ::getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&peer_.storage), &peer_.size);
}

void ZmtpConnection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = checked(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), "send()");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

bool ZmtpConnection::read() {
  std::array<char, 1 << 16> buffer;
  const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (n > 0) input_.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EAGAIN);
}

void ZmtpConnection::await_ready() {
  const Time until = Clock::now() + kPatience;
  for (; !ready_; buffered_ = take()) {
    pollfd input{.fd = fd(), .events = POLLIN, .revents = 0};
    checked(::poll(&input, 1, 100), "poll()");
    if (!read() || Clock::now() > until) throw std::runtime_error("the server does not shake hands");
  }
}

std::optional<std::string> ZmtpConnection::take() {
  if (buffered_) return std::exchange(buffered_, std::nullopt);
  if (!greeted_ && input_.size() < kGreeting) return std::nullopt;
  if (!std::exchange(greeted_, true)) input_.erase(0, kGreeting);
  while (input_.size() >= 2) {
    const auto flags = static_cast<unsigned char>(input_[0]);
    const std::size_t head = (flags & kLong) != 0 ? 9 : 2;
    if (input_.size() < head) return std::nullopt;
    const Bytes bytes = as_bytes(input_);
    const std::uint64_t size =
        head == 9 ? read_big_endian<std::uint64_t>(bytes.data() + 1) : std::to_integer<unsigned>(bytes[1]);
    if (input_.size() - head < size) return std::nullopt;
    const std::string body = input_.substr(head, size);
    input_.erase(0, head + size);
    if ((flags & kCommand) == 0)
      message_ += body;
    else
      obey(body);
    if ((flags & (kCommand | kMore)) == 0) return std::exchange(message_, {});
  }
  return std::nullopt;
}

// A PING has a time to live of 2 bytes and a context, which the answer repeats.
void ZmtpConnection::obey(std::string_view command) {
  if (command.starts_with(kPing))
    write(frame(kCommand,
                std::string("\x04PONG").append(command.substr(std::min(command.size(), kPing.size() + 2)))));
  else
    ready_ = true;
}

ZmtpClient::ZmtpClient(const Endpoint& server, std::string_view identity, std::string_view socket_type) {
  Fd socket = stream_socket(server.family(), 0);
  checked(::connect(socket.get(), server.raw(), server.size), "connect()");
  own_ = name_of(socket.get());
  connection_ = std::make_unique<ZmtpConnection>(std::move(socket));
  connection_->write(zmtp_greeting() + zmtp_ready(socket_type, identity));
  connection_->await_ready();
}

void ZmtpClient::send(Bytes message, const Endpoint* /*to*/) {
  write(zmtp_frame(as_text(message)));
}

void ZmtpClient::shut() {
  ::shutdown(connection_->fd(), SHUT_RDWR);
}

std::optional<Wire::Message> ZmtpClient::next(Duration within) {
  for (const Time until = Clock::now() + within;;) {
    if (const auto message = connection_->take()) {
      const Bytes bytes = as_bytes(*message);
      return Message{.bytes = {bytes.begin(), bytes.end()}, .from = connection_->peer()};
    }
    pollfd input{.fd = connection_->fd(), .events = POLLIN, .revents = 0};
    if (checked(::poll(&input, 1, milliseconds_of(until - Clock::now())), "poll()") == 0) return std::nullopt;
    if (!connection_->read()) throw std::runtime_error("the server has closed the connection");
  }
}

ZmtpServer::ZmtpServer() : listener_(stream_socket(AF_INET, 0)) {
  const Endpoint any = endpoint_of("127.0.0.1:0");
  checked(::bind(listener_.get(), any.raw(), any.size), "bind()");
  checked(::listen(listener_.get(), 128), "listen()");
  own_ = name_of(listener_.get());
}

void ZmtpServer::close() {
  listener_.close();
  connections_.clear();
}

void ZmtpServer::send(Bytes message, const Endpoint* to) {
  const auto found = std::ranges::find(connections_, *to, &ZmtpConnection::peer);
  if (found == connections_.end()) throw std::runtime_error("the client has gone");
  found->write(zmtp_frame(as_text(message)));
}

std::optional<Wire::Message> ZmtpServer::take() {
  for (ZmtpConnection& connection : connections_)
    if (const auto message = connection.take()) {
      const Bytes bytes = as_bytes(*message);
      return Message{.bytes = {bytes.begin(), bytes.end()}, .from = connection.peer()};
    }
  return std::nullopt;
}

// A connection that is closed at once only asks whether anybody listens.
void ZmtpServer::read_all() {
  while (true) {
    pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 0) != 1) break;
    Fd socket(checked(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept4()"));
    connections_.emplace_back(std::move(socket));
    try {
      connections_.back().write(zmtp_greeting() + zmtp_ready("ROUTER"));
    } catch (const std::system_error&) {
      connections_.pop_back();
    }
  }
  connections_.remove_if([](ZmtpConnection& connection) { return !connection.read(); });
}

std::optional<Wire::Message> ZmtpServer::next(Duration within) {
  for (const Time until = Clock::now() + within;;) {
    if (auto message = take()) return message;
    std::vector<pollfd> inputs{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    for (const ZmtpConnection& connection : connections_)
      inputs.push_back({.fd = connection.fd(), .events = POLLIN, .revents = 0});
    const int most = milliseconds_of(until - Clock::now());
    if (checked(::poll(inputs.data(), inputs.size(), most), "poll()") == 0) return std::nullopt;
    read_all();
  }
}

}  // namespace joust::conformance
