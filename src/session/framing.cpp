// SPDX-License-Identifier: MIT
#include "joust/framing.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes.hpp"

namespace joust {
namespace {

constexpr std::size_t kLengthBytes = Length4::kSizeBytes;
constexpr std::string_view kTooLong = "a frame is longer than the protocol allows";

void copy(Bytes from, std::span<std::byte> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

void append(Bytes from, std::vector<std::byte>& to) {
  const std::size_t before = to.size();
  to.resize(before + from.size());
  copy(from, std::span(to).subspan(before));
}

}  // namespace

std::size_t largest_frame(const Framing& framing) {
  if (const auto* length = std::get_if<Length4>(&framing)) return kLengthBytes + length->largest;
  if (const auto* line = std::get_if<Line>(&framing)) return line->largest + 1;
  return SIZE_MAX;
}

std::span<std::byte> extend_by_frame(const Framing& framing, std::size_t n, Outbox& into) {
  if (std::holds_alternative<Length4>(framing)) {
    const std::span<std::byte> room = into.extend(kLengthBytes + n);
    write_big_endian(static_cast<std::uint32_t>(n), room.data());
    return room.subspan(kLengthBytes);
  }
  if (std::holds_alternative<Line>(framing)) {
    const std::span<std::byte> room = into.extend(n + 1);
    room.back() = std::byte{'\n'};
    return room.first(n);
  }
  return n == 0 ? std::span<std::byte>() : into.extend(n);
}

void write_frame(const Framing& framing, Bytes payload, Outbox& into) {
  copy(payload, extend_by_frame(framing, payload.size(), into));
}

void write_frame(const Framing& framing, Bytes head, Bytes payload, Outbox& into) {
  const std::span<std::byte> room = extend_by_frame(framing, head.size() + payload.size(), into);
  copy(head, room);
  copy(payload, room.subspan(head.size()));
}

Deframer::Deframer(Framing framing) : framing_(framing) {
  if (const auto* own = std::get_if<Own>(&framing_)) cutter_ = own->cutter();
}

Deframer::Step Deframer::next(Bytes chunk) {
  if (held_is_message_) {
    held_.clear();
    held_is_message_ = false;
  }
  if (const auto* framing = std::get_if<Length4>(&framing_)) return next_length4(chunk, framing->largest);
  if (const auto* framing = std::get_if<Line>(&framing_)) return next_line(chunk, framing->largest);
  if (cutter_) return cutter_->next(chunk);
  if (exact_ > 0) return next_exact(chunk, exact_);
  return {chunk.empty() ? Status::need_more : Status::message, chunk.size(), chunk, chunk};
}

Deframer::Step Deframer::next_exact(Bytes chunk, std::size_t size) {
  if (held_.size() + chunk.size() < size) return hold(chunk);
  return complete(chunk, size - held_.size());
}

// Cuts frames on the fast path: nearly all are complete in the chunk, often many in one.
Deframer::Step Deframer::next_length4(Bytes chunk, std::size_t largest) {
  if (!held_.empty() || chunk.size() < kLengthBytes) return next_cut_length4(chunk, largest);
  const std::size_t length = read_big_endian<std::uint32_t>(chunk.data());
  if (length > largest) return malformed(kTooLong);
  if (chunk.size() - kLengthBytes < length) return hold(chunk);
  return {Status::message, kLengthBytes + length, chunk.subspan(kLengthBytes, length),
          chunk.first(kLengthBytes + length)};
}

Deframer::Step Deframer::next_cut_length4(Bytes chunk, std::size_t largest) {
  const std::size_t held_part = std::min(held_.size(), kLengthBytes);
  const std::size_t chunk_part = std::min(chunk.size(), kLengthBytes - held_part);
  if (held_part + chunk_part < kLengthBytes) return hold(chunk);
  std::array<std::byte, kLengthBytes> header{};
  copy(Bytes(held_).first(held_part), header);
  copy(chunk.first(chunk_part), std::span(header).subspan(held_part));
  const std::size_t length = read_big_endian<std::uint32_t>(header.data());
  if (length > largest) return malformed(kTooLong);
  Step step = next_exact(chunk, kLengthBytes + length);
  if (step.status == Status::message) step.message = step.message.subspan(kLengthBytes);
  return step;
}

Deframer::Step Deframer::next_line(Bytes chunk, std::size_t largest) {
  const auto newline = std::ranges::find(chunk, std::byte{'\n'});
  const auto before = static_cast<std::size_t>(newline - chunk.begin());
  if (held_.size() + before > largest + 1) return malformed("a line is longer than the protocol allows");
  if (newline == chunk.end()) return hold(chunk);
  Step step = complete(chunk, before + 1);
  step.message = step.message.first(step.message.size() - 1);
  if (!step.message.empty() && step.message.back() == std::byte{'\r'})
    step.message = step.message.first(step.message.size() - 1);
  if (step.message.size() > largest) return malformed("a line is longer than the protocol allows");
  return step;
}

Deframer::Step Deframer::end() {
  return cutter_ ? cutter_->end() : Step{Status::need_more, 0, {}, {}};
}

Deframer::Step Deframer::hold(Bytes chunk) {
  append(chunk, held_);
  return {Status::need_more, chunk.size(), {}, {}};
}

Deframer::Step Deframer::complete(Bytes chunk, std::size_t taken) {
  const Bytes part = chunk.first(taken);
  if (held_.empty()) return {Status::message, taken, part, part};
  append(part, held_);
  held_is_message_ = true;
  return {Status::message, taken, held_, held_};
}

Deframer::Step Deframer::malformed(std::string_view complaint) {
  complaint_ = complaint;
  return {Status::malformed, 0, {}, {}};
}

}  // namespace joust
