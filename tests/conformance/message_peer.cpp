// SPDX-License-Identifier: MIT
#include "conformance/message_peer.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/bytes.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

std::uint64_t new_token() {
  static std::atomic<std::uint64_t> number{0};
  return mixed(++number * kMixStep);
}

}  // namespace

MessagePeer::MessagePeer(const Endpoint& to) : wire_(wire_to(to)), token_(new_token()) {}
MessagePeer::MessagePeer(const Engine& client) : wire_(wire_for(client)), token_(new_token()) {}

void MessagePeer::send_raw(Bytes bytes, const Endpoint* to) {
  wire_->send(bytes, to);
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
  const auto message = wire_->next(within);
  if (!message) return std::nullopt;
  const auto datagram = parse_datagram(message->bytes);
  if (!datagram) throw std::runtime_error("what came is no datagram of a message connection");
  return Heard{.head = datagram->head,
               .payload = std::string(as_text(datagram->payload)),
               .bytes = message->bytes.size(),
               .from = message->from};
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
