// SPDX-License-Identifier: MIT
//
// broadcast: joins under names that others use too, and messages of all sizes.
#include "base/bytes.hpp"
#include "hostile/messages.hpp"
#include "protocols/broadcast/protocol.hpp"

namespace joust::hostile {
namespace {

using broadcast::Frame;

std::string framed(std::string_view body, std::uint32_t length) {
  std::array<std::byte, broadcast::kLengthBytes> head;
  write_big_endian(length, head.data());
  return std::string(as_text(head)) + std::string(body);
}

std::string wire(const Frame& frame) {
  std::string body(broadcast::kHeadBytes, '\0');
  auto* const at = reinterpret_cast<std::byte*>(body.data());
  at[0] = static_cast<std::byte>(frame.kind);
  write_big_endian(frame.member, at + 1);
  write_big_endian(frame.number, at + 5);
  body += as_text(frame.payload);
  return framed(body, static_cast<std::uint32_t>(body.size()));
}

class BroadcastMessages : public Messages {
 public:
  explicit BroadcastMessages(Chance& chance)
      : chance_(chance), member_(static_cast<std::uint32_t>(chance.below(chance.one_in(4) ? 4 : 100'000))) {}

  std::string opening() override {
    return wire({.kind = broadcast::Kind::join, .member = member_, .payload = {}});
  }
  std::string valid() override {
    return message(chance_.one_in(2) ? 65'000 : chance_.size(broadcast::kLargestPayload));
  }
  std::string small() override { return message(chance_.below(16)); }
  std::string invalid() override;

 private:
  std::string message(std::size_t bytes) {
    const std::string payload(bytes, 'h');
    return wire({broadcast::Kind::message, member_, number_++, as_bytes(payload)});
  }

  Chance& chance_;
  const std::uint32_t member_;
  std::uint64_t number_ = 0;
};

std::string BroadcastMessages::invalid() {
  const std::string some = chance_.bytes(chance_.size(100));
  switch (chance_.below(7)) {
    case 0:  // lengths below and beyond the limits
      return framed(some, chance_.pick({0U, 1U, 12U, 0x1000eU, 0x7fffffffU, 0xffffffffU}));
    case 1:  // a second join
      return opening();
    case 2:  // in another member's name; honest ones begin at 900,000
      return wire({broadcast::Kind::message, 900'000 + static_cast<std::uint32_t>(chance_.below(8)), 0,
                   as_bytes(some)});
    case 3:  // what only a server says
      return wire({chance_.pick({broadcast::Kind::welcome, broadcast::Kind::refused}), member_, 0, {}});
    case 4:  // kinds that do not exist
      return wire({static_cast<broadcast::Kind>(chance_.below(256)), member_, 0, as_bytes(some)});
    case 5:  // a member beyond the largest
      return wire(
          {.kind = broadcast::Kind::join, .member = chance_.pick({1'000'000U, 0xffffffffU}), .payload = {}});
    default:
      return some;
  }
}

}  // namespace

std::unique_ptr<Messages> broadcast_messages(Chance& chance) {
  return std::make_unique<BroadcastMessages>(chance);
}

}  // namespace joust::hostile
