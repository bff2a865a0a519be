// SPDX-License-Identifier: MIT
#include "protocols/websocket/message.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"

namespace joust::websocket {

namespace {

// The first byte of a head, and its second one.
constexpr unsigned kFinal = 0x80, kReserved = 0x70, kOpcode = 0x0f;
constexpr unsigned kMasked = 0x80, kSize = 0x7f;

// Values of the size in the second byte that stand for a larger one behind it.
constexpr unsigned kSize16 = 126, kSize64 = 127;

std::size_t bytes_of_size(unsigned size) {
  return size == kSize64 ? 8 : size == kSize16 ? 2 : 0;
}

unsigned short_size(std::uint64_t payload) {
  return payload < kSize16 ? static_cast<unsigned>(payload) : payload <= 0xffff ? kSize16 : kSize64;
}

std::uint64_t payload_size(Bytes head) {
  const auto size = std::to_integer<unsigned>(head[1]) & kSize;
  if (size == kSize16) return read_big_endian<std::uint16_t>(head.data() + 2);
  return size == kSize64 ? read_big_endian<std::uint64_t>(head.data() + 2) : size;
}

bool is_known(Opcode opcode) {
  return opcode <= Opcode::binary || (opcode >= Opcode::close && opcode <= Opcode::pong);
}

}  // namespace

std::size_t head_size(Bytes begin) {
  const auto second = std::to_integer<unsigned>(begin[1]);
  return 2 + bytes_of_size(second & kSize) + ((second & kMasked) != 0 ? sizeof(MaskKey) : 0);
}

std::size_t head_size(const FrameHead& head) {
  return 2 + bytes_of_size(short_size(head.payload)) + (head.key ? sizeof(MaskKey) : 0);
}

std::uint64_t frame_size(Bytes begin) {
  return head_size(begin) + payload_size(begin);
}

std::expected<FrameHead, Violation> read_head(Bytes bytes, Role sender) {
  const auto refused = [](CloseCode code, std::string_view words) {
    return std::unexpected(Violation{code, words});
  };
  const auto first = std::to_integer<unsigned>(bytes[0]), second = std::to_integer<unsigned>(bytes[1]);
  FrameHead head{.opcode = static_cast<Opcode>(first & kOpcode),
                 .is_final = (first & kFinal) != 0,
                 .payload = second & kSize};
  if ((first & kReserved) != 0)
    return refused(kProtocolError, "a frame has a reserved bit, and no extension was agreed on");
  if (!is_known(head.opcode)) return refused(kProtocolError, "a frame has an unknown opcode");
  if (is_control(head.opcode) && !head.is_final)
    return refused(kProtocolError, "a control frame is a fragment");
  if (is_control(head.opcode) && head.payload > kLargestControl)
    return refused(kProtocolError, "a control frame has more than 125 bytes");
  const bool is_masked = (second & kMasked) != 0;
  if (is_masked != (sender == Role::dial))
    return refused(kProtocolError,
                   is_masked ? "a frame of the server is masked" : "a frame of the client is not masked");
  head.payload = payload_size(bytes);
  if (short_size(head.payload) != (second & kSize))
    return refused(kProtocolError, "the size of a frame takes more bytes than it needs");
  if (head.payload > kLargestMessage) return refused(kTooLarge, "a message has more than 1 MiB");
  if (is_masked) std::ranges::copy(bytes.last<sizeof(MaskKey)>(), head.key.emplace().begin());
  return head;
}

std::byte* write_head(const FrameHead& head, std::byte* to) {
  const unsigned size = short_size(head.payload);
  *to++ = static_cast<std::byte>((head.is_final ? kFinal : 0) | static_cast<unsigned>(head.opcode));
  *to++ = static_cast<std::byte>((head.key ? kMasked : 0) | size);
  if (size == kSize16) write_big_endian(static_cast<std::uint16_t>(head.payload), to);
  if (size == kSize64) write_big_endian(head.payload, to);
  to += bytes_of_size(size);
  return head.key ? std::ranges::copy(*head.key, to).out : to;
}

// Eight bytes at a time: the key twice.
std::byte* copy_masked(Bytes from, const MaskKey& key, std::uint64_t at, std::byte* to) {
  std::array<std::byte, 2 * sizeof(MaskKey)> keys{};
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key[(at + i) % key.size()];
  std::uint64_t mask = 0;
  std::memcpy(&mask, keys.data(), sizeof mask);
  const std::byte* next = from.data();
  std::size_t left = from.size();
  for (; left >= sizeof mask; left -= sizeof mask, next += sizeof mask, to += sizeof mask) {
    std::uint64_t word = 0;
    std::memcpy(&word, next, sizeof word);
    word ^= mask;
    std::memcpy(to, &word, sizeof word);
  }
  for (std::size_t i = 0; i < left; ++i) *to++ = next[i] ^ keys[i];
  return to;
}

namespace {

// The first byte tells them apart: that of a frame has its highest bit set, that of a head is a letter.
constexpr unsigned kFrame = 0x80, kFrameOpcode = 0x0f, kViolation = 0;

// Codes that a peer may send (section 7.4): the registered ones but those that stand for the lack of a code,
// and those for libraries and applications.
bool may_be_sent(unsigned code) {
  constexpr unsigned kUndefined = 1004, kNone = 1005, kAbnormal = 1006, kLastRegistered = 1014;
  if (code >= 3000) return code < 5000;
  return code >= kNormal && code <= kLastRegistered && code != kUndefined && code != kNone &&
         code != kAbnormal;
}

}  // namespace

Message Message::read(Bytes bytes) {
  const auto first = std::to_integer<unsigned>(bytes[0]);
  if (first == kViolation)
    return {Kind::violation, bytes.subspan(1 + kCodeBytes), read_big_endian<std::uint16_t>(bytes.data() + 1)};
  if ((first & kFrame) == 0) return {Kind::handshake, bytes};
  const Bytes payload = bytes.subspan(head_size(bytes));
  switch (static_cast<Opcode>(first & kFrameOpcode)) {
    case Opcode::text:
      return {Kind::text, payload};
    case Opcode::ping:
      return {Kind::ping, payload};
    case Opcode::pong:
      return {Kind::pong, payload};
    case Opcode::close:
      return {Kind::close, payload,
              payload.empty() ? std::uint16_t{0} : read_big_endian<std::uint16_t>(payload.data())};
    case Opcode::binary:
    case Opcode::continuation:
      break;
  }
  return {Kind::binary, payload};
}

std::string Message::of(const Violation& violation) {
  std::string text(1 + kCodeBytes, static_cast<char>(kViolation));
  write_big_endian(violation.code, reinterpret_cast<std::byte*>(text.data() + 1));
  return text.append(violation.words);
}

Bytes close_payload(const Violation& why, std::span<std::byte, kLargestControl> room) {
  write_big_endian(why.code, room.data());
  const Bytes words = as_bytes(why.words.substr(0, room.size() - kCodeBytes));
  std::ranges::copy(words, room.begin() + kCodeBytes);
  return room.first(kCodeBytes + words.size());
}

void write_bare(Opcode opcode, Bytes payload, Writer& writer) {
  const FrameHead head{.opcode = opcode, .payload = payload.size()};
  std::ranges::copy(payload, write_head(head, writer.extend(head_size(head) + payload.size()).data()));
}

void write_bare_close(const Violation& why, Writer& writer) {
  std::array<std::byte, kLargestControl> payload{};
  write_bare(Opcode::close, close_payload(why, payload), writer);
}

Violation objection_to_close(Bytes payload) {
  if (payload.empty()) return {};
  if (payload.size() < kCodeBytes) return {kProtocolError, "a close frame has half a code"};
  if (!may_be_sent(read_big_endian<std::uint16_t>(payload.data())))
    return {kProtocolError, "a close frame has a code that is not to be sent"};
  if (!is_utf8(as_text(payload.subspan(kCodeBytes))))
    return {kNotUtf8, "the reason of a close frame is not UTF-8"};
  return {};
}

// Eight characters of ASCII at a time: most text has no others.
bool is_utf8(std::string_view text) {
  constexpr std::uint64_t kNotAscii = 0x8080808080808080U;
  while (!text.empty()) {
    std::uint64_t word = 0;
    if (text.size() >= sizeof word) {
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & kNotAscii) == 0) {
        text.remove_prefix(sizeof word);
        continue;
      }
    }
    const std::size_t size = utf8_sequence(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

namespace {

constexpr std::string_view kHandshakeEnd = "\r\n\r\n";

constexpr CutStep more_needed(std::size_t taken) {
  return {CutStep::Status::need_more, taken, {}, {}};
}

// The beginning of a handshake: other data are refused at their first wrong byte, as they may have no end.
std::string_view handshake_begin(Role sender) {
  return sender == Role::dial ? "GET " : "HTTP/1.1 ";
}

}  // namespace

void Assembly::append(Bytes part, const FrameHead& frame, std::uint64_t at) {
  const std::size_t end = kLongestBareHead + size_ + part.size();
  if (bytes_.size() < end) bytes_.resize(end);
  std::byte* const to = bytes_.data() + kLongestBareHead + size_;
  if (frame.key)
    copy_masked(part, *frame.key, at, to);
  else if (!part.empty())
    std::memcpy(to, part.data(), part.size());
  size_ += part.size();
}

Bytes Assembly::as_frame(Opcode opcode) {
  const FrameHead head{.opcode = opcode, .payload = size_};
  const std::size_t bytes = head_size(head);
  write_head(head, bytes_.data() + kLongestBareHead - bytes);
  return Bytes(bytes_).subspan(kLongestBareHead - bytes, bytes + size_);
}

CutStep MessageCutter::next(Bytes chunk) {
  if (std::exchange(was_whole_, false)) data_.clear();
  return is_open_ ? next_in_frame(chunk) : next_in_handshake(chunk);
}

std::size_t MessageCutter::memory() const {
  return handshake_.capacity() + data_.memory() + control_.memory();
}

bool MessageCutter::in_message() const {
  return is_open_ ? head_bytes_ > 0 || frame_ || opcode_ : !handshake_.empty();
}

// Looks for the end in the new bytes only.
CutStep MessageCutter::next_in_handshake(Bytes chunk) {
  const std::size_t before = handshake_.size();
  const Bytes part = chunk.first(std::min(chunk.size(), kLargestHandshake - before));
  handshake_.insert(handshake_.end(), part.begin(), part.end());
  const std::string_view text = as_text(handshake_), begin = handshake_begin(sender_);
  if (!begin.starts_with(text.substr(0, begin.size())))
    return violated({400, sender_ == Role::dial ? "this is no GET of HTTP, with which a connection begins"
                                                : "the answer to the handshake is not that of HTTP/1.1"});
  const std::size_t found =
      text.find(kHandshakeEnd, std::max(before, kHandshakeEnd.size()) - kHandshakeEnd.size());
  if (found == text.npos && handshake_.size() == kLargestHandshake)
    return violated({431, "the head of the handshake has more than 16 KiB"});
  if (found == text.npos) return more_needed(part.size());
  is_open_ = true;
  const std::size_t size = found + kHandshakeEnd.size();
  const Bytes head = Bytes(handshake_).first(size);
  return {CutStep::Status::message, size - before, head, head};
}

CutStep MessageCutter::next_in_frame(Bytes chunk) {
  if (!handshake_.empty()) handshake_ = {};
  if (frame_) return take_payload(0, chunk);
  if (head_bytes_ == 0 && chunk.size() >= 2 && chunk.size() >= head_size(chunk))
    return begin_frame(chunk.first(head_size(chunk)), head_size(chunk), chunk);
  std::size_t taken = 0;
  while (head_bytes_ < 2 || head_bytes_ < head_size(head_)) {
    if (taken == chunk.size()) return more_needed(taken);
    head_[head_bytes_++] = chunk[taken++];
  }
  return begin_frame(Bytes(head_).first(head_bytes_), taken, chunk);
}

// `taken` bytes of the chunk belong to the head.
CutStep MessageCutter::begin_frame(Bytes bytes, std::size_t taken, Bytes chunk) {
  const auto head = read_head(bytes, sender_);
  if (!head) return violated(head.error());
  const bool continues = head->opcode == Opcode::continuation;
  if (continues && !opcode_)
    return violated({kProtocolError, "a fragment continues a message that was not begun"});
  if (!continues && !is_control(head->opcode) && opcode_)
    return violated({kProtocolError, "a message begins within the fragments of another one"});
  if (continues && head->payload > kLargestMessage - data_.size())
    return violated({kTooLarge, "a message has more than 1 MiB"});
  const bool is_in_chunk = head_bytes_ == 0 && chunk.size() - taken >= head->payload;
  head_bytes_ = 0;
  // A message that is already what is handed on.
  if (is_in_chunk && !head->key && head->is_final && !continues)
    return whole(head->opcode, taken + head->payload, chunk.first(taken + head->payload));
  frame_ = *head;
  left_ = head->payload;
  if (!is_control(head->opcode) && !continues) opcode_ = head->opcode;
  return take_payload(taken, chunk);
}

CutStep MessageCutter::take_payload(std::size_t taken, Bytes chunk) {
  Assembly& assembly = is_control(frame_->opcode) ? control_ : data_;
  const Bytes part = chunk.subspan(taken, std::min<std::uint64_t>(left_, chunk.size() - taken));
  assembly.append(part, *frame_, frame_->payload - left_);
  left_ -= part.size();
  taken += part.size();
  return left_ > 0 ? more_needed(taken) : end_frame(taken);
}

CutStep MessageCutter::end_frame(std::size_t taken) {
  const FrameHead frame = *std::exchange(frame_, std::nullopt);
  if (is_control(frame.opcode)) {
    const Bytes message = control_.as_frame(frame.opcode);
    control_.clear();
    return whole(frame.opcode, taken, message);
  }
  if (!frame.is_final) return more_needed(taken);
  const Opcode opcode = *std::exchange(opcode_, std::nullopt);
  was_whole_ = true;
  return whole(opcode, taken, data_.as_frame(opcode));
}

CutStep MessageCutter::whole(Opcode opcode, std::size_t taken, Bytes message) {
  if (opcode == Opcode::text && !is_utf8(as_text(message.subspan(head_size(message)))))
    return violated({kNotUtf8, "a message of text is not UTF-8"});
  if (opcode == Opcode::close)
    if (const Violation found = objection_to_close(message.subspan(head_size(message))); !found.words.empty())
      return violated(found);
  return {CutStep::Status::message, taken, message, message};
}

CutStep MessageCutter::violated(const Violation& violation) {
  violation_ = Message::of(violation);
  return {CutStep::Status::message, 0, as_bytes(violation_), as_bytes(violation_)};
}

}  // namespace joust::websocket
