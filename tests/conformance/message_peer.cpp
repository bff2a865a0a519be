// SPDX-License-Identifier: MIT
#include "conformance/message_peer.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/check.hpp"
#include "base/random.hpp"
#include "conformance/group_sockets.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

std::uint64_t new_token() {
  static std::atomic<std::uint64_t> number{0};
  return mixed(++number * kMixStep);
}

}  // namespace

MessagePeer::MessagePeer(const Endpoint& to)
    : socket_(is_group(to) ? group_sender()
                           : Fd(checked(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket()"))),
      token_(new_token()) {
  if (is_group(to))
    group_ = to;
  else
    checked(::connect(socket_.get(), to.raw(), to.size), "connect()");
  own_ = bound_address(socket_.get());
}

MessagePeer::MessagePeer(const Engine& client) : socket_(group_sender()), token_(new_token()) {
  if (!client.group.empty()) joins_ = group_member(endpoint_of(client.group));
  own_ = bound_address(joins_.is_open() ? joins_.get() : socket_.get());
}

// By sendmsg() and recvmsg(), because tests have the calls fail that engines make.
void MessagePeer::send_raw(Bytes bytes, const Endpoint* to) {
  if (to == nullptr && group_.size > 0) to = &group_;
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

int MessagePeer::readable_within(Duration time) const {
  std::array<pollfd, 2> inputs{
      {{.fd = socket_.get(), .events = POLLIN, .revents = 0},
       {.fd = joins_.get(), .events = POLLIN, .revents = 0}}};  // poll() passes -1 over
  const auto most_ms = std::chrono::ceil<milliseconds>(time).count();
  checked(::poll(inputs.data(), inputs.size(), static_cast<int>(most_ms)), "poll()");
  for (const pollfd& input : inputs)
    if (input.revents != 0) return input.fd;
  return -1;
}

std::optional<MessagePeer::Heard> MessagePeer::next(Duration within) {
  const int readable = readable_within(within);
  if (readable < 0) return std::nullopt;
  std::vector<std::byte> buffer(1 << 16);
  Heard heard;
  iovec piece{buffer.data(), buffer.size()};
  msghdr message = message_of({&piece, 1});
  message.msg_name = &heard.from.storage;
  message.msg_namelen = sizeof heard.from.storage;
  heard.bytes = static_cast<std::size_t>(checked(::recvmsg(readable, &message, 0), "recvmsg()"));
  heard.from.size = message.msg_namelen;
  const auto datagram = parse_datagram(Bytes(buffer).first(heard.bytes));
  if (!datagram) throw std::runtime_error("what came is no datagram of a message connection");
  heard.head = datagram->head;
  heard.payload = as_text(datagram->payload);
  if (group_.size > 0 && heard.head.kind == DatagramKind::challenge) {
    checked(::connect(socket_.get(), heard.from.raw(), heard.from.size), "connect()");
    group_ = {};
  }
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
