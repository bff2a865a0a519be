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
