// SPDX-License-Identifier: MIT
#include "conformance/message_peer.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/check.hpp"
#include "base/random.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

std::uint64_t new_token() {
  static std::atomic<std::uint64_t> number{0};
  return mixed(++number * kMixStep);
}

Endpoint name_of(int socket) {
  Endpoint own;
  own.size = sizeof own.storage;
  checked(::getsockname(socket, reinterpret_cast<sockaddr*>(&own.storage), &own.size), "getsockname()");
  return own;
}

}  // namespace

MessagePeer::MessagePeer(const Endpoint& to)
    : socket_(checked(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket()")), token_(new_token()) {
  checked(::connect(socket_.get(), to.raw(), to.size), "connect()");
  own_ = name_of(socket_.get());
}

MessagePeer::MessagePeer()
    : socket_(checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket()")), token_(new_token()) {
  const Endpoint any = endpoint_of("127.0.0.1:0");
  checked(::bind(socket_.get(), any.raw(), any.size), "bind()");
  own_ = name_of(socket_.get());
}

// By sendmsg() and recvmsg(), because tests have the calls fail that engines make.
void MessagePeer::send_raw(Bytes bytes, const Endpoint* to) {
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message = message_of({&piece, 1});
  if (to != nullptr) {
    message.msg_name = const_cast<sockaddr_storage*>(&to->storage);
    message.msg_namelen = to->size;
  }
  checked(::sendmsg(socket_.get(), &message, 0), "sendmsg()");
}

void MessagePeer::send(const DatagramHead& head, std::string_view payload, const Endpoint* to) {
  DatagramOut out;
  if (payload.empty())
    write_signal(head, out);
  else
    write_datagram(head, as_bytes(payload), out);
  std::vector<std::byte> whole(out.front().begin(), out.front().end());
  whole.insert(whole.end(), out.tail.begin(), out.tail.end());
  send_raw(whole, to);
}

std::optional<MessagePeer::Heard> MessagePeer::next(Duration within) {
  pollfd input{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  const auto most_ms = std::chrono::ceil<milliseconds>(within).count();
  if (checked(::poll(&input, 1, static_cast<int>(most_ms)), "poll()") == 0) return std::nullopt;
  std::vector<std::byte> buffer(1 << 16);
  Heard heard;
  iovec piece{buffer.data(), buffer.size()};
  msghdr message = message_of({&piece, 1});
  message.msg_name = &heard.from.storage;
  message.msg_namelen = sizeof heard.from.storage;
  heard.bytes = static_cast<std::size_t>(checked(::recvmsg(socket_.get(), &message, 0), "recvmsg()"));
  heard.from.size = message.msg_namelen;
  const auto datagram = parse_datagram(Bytes(buffer).first(heard.bytes));
  if (!datagram) throw std::runtime_error("what came is no datagram of a message connection");
  heard.head = datagram->head;
  heard.payload = as_text(datagram->payload);
  return heard;
}

MessagePeer::Heard MessagePeer::await(DatagramKind kind) {
  const Time until = Clock::now() + kPatience;
  while (Clock::now() < until)
    if (auto heard = next(until - Clock::now()); heard && heard->head.kind == kind) return *heard;
  throw std::runtime_error("a datagram does not come");
}

bool MessagePeer::tries_to_join(Duration time) {
  for (const Time until = Clock::now() + time; Clock::now() < until;) {
    send({.kind = DatagramKind::join, .token = token_, .number = cookie_});
    const auto heard = next(std::min<Duration>(milliseconds(50), time));
    if (heard && heard->head.kind == DatagramKind::challenge) cookie_ = heard->head.number;
    if (heard && heard->head.kind == DatagramKind::joined) return true;
  }
  return false;
}

void MessagePeer::join() {
  if (!tries_to_join(kPatience)) throw std::runtime_error("the server lets nobody in");
}

void MessagePeer::send(std::string_view message) {
  send({.kind = DatagramKind::data, .token = token_, .number = sent_++}, message);
}

std::string MessagePeer::receive() {
  if (messages_.empty()) {
    const Heard heard = await(DatagramKind::data);
    Bytes payload = as_bytes(heard.payload);
    while (const auto message = take_message(heard.head, payload)) messages_.emplace_back(as_text(*message));
  }
  std::string first = std::move(messages_.front());
  messages_.pop_front();
  return first;
}

std::uint64_t MessagePeer::leave() {
  for (const Time until = Clock::now() + kPatience; Clock::now() < until;) {
    send({.kind = DatagramKind::leave, .token = token_, .number = sent_});
    const auto heard = next(milliseconds(100));
    if (heard && heard->head.kind == DatagramKind::left) return heard->head.number;
  }
  throw std::runtime_error("the server does not answer that the peer leaves");
}

MessagePeer::Heard MessagePeer::admit() {
  const Heard asked = await(DatagramKind::join);
  token_ = asked.head.token;
  send({.kind = DatagramKind::challenge, .token = token_, .number = 99}, {}, &asked.from);
  Heard again = await(DatagramKind::join);
  while (again.head.number != 99) again = await(DatagramKind::join);
  send({.kind = DatagramKind::joined, .token = token_, .number = 60'000}, {}, &again.from);
  return again;
}

}  // namespace joust::conformance
