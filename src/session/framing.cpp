// SPDX-License-Identifier: MIT
#include "session/framing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/bytes.hpp"
#include "joust/framing.hpp"

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

CutStep FoundCutter::next(Bytes chunk) {
  if (std::exchange(held_is_message_, false)) held_.clear();
  const std::size_t before = held_.size();
  if (before > 0) held_.insert(held_.end(), chunk.begin(), chunk.end());
  const Bytes all = before > 0 ? Bytes(held_) : chunk;
  const Finder::Found found = finder_->find(all.first(std::min(all.size(), largest_)));
  if (!found.complaint.empty()) return malformed(std::string(found.complaint));
  if (found.size == 0) {
    if (all.size() >= largest_ || found.least > largest_)
      return malformed(fmt::format("a message has more than {} bytes", largest_));
    if (before == 0) held_.assign(chunk.begin(), chunk.end());
    return {CutStep::Status::need_more, chunk.size(), {}, {}};
  }
  finder_->reset();
  if (before == 0)
    return {CutStep::Status::message, found.size, all.first(found.size), all.first(found.size)};
  held_.resize(found.size);
  held_is_message_ = true;
  return {CutStep::Status::message, found.size - before, held_, held_};
}

CutStep FoundCutter::malformed(std::string complaint) {
  complaint_ = std::move(complaint);
  return {CutStep::Status::malformed, 0, {}, {}};
}

namespace {

// Reads a value element by element, without recursion: a value in a value only raises the number of the
// elements that follow.
class RespFinder final : public Finder {
 public:
  explicit RespFinder(InlineCommands inlines) : inlines_(inlines) {}

  Found find(Bytes message) override {
    const std::string_view text = as_text(message);
    if (inlines_ == InlineCommands::taken && text.front() != '*') return find_line(text);
    while (elements_ > 0) {
      if (at_ < text.size() && !is_line(text[at_]) && !has_number(text[at_]))
        return {.complaint = "a value of RESP has no known type"};
      const std::size_t end = text.find("\r\n", std::max(at_, looked_at_));
      if (end == text.npos) {
        looked_at_ = std::max(at_, text.empty() ? 0 : text.size() - 1);
        return text.size() - at_ > kLongestLine && !is_line(text[at_])
                   ? Found{.complaint = "a number of RESP is too long"}
                   : Found{};
      }
      if (end - at_ > kLongestLine && !is_line(text[at_]))
        return {.complaint = "a number of RESP is too long"};
      const Element element = read(text.substr(at_, end - at_));
      if (!element.complaint.empty()) return {.complaint = element.complaint};
      const std::size_t after = end + 2 + element.bytes;
      if (after > text.size()) return {.least = after};
      at_ = after;
      elements_ += element.elements;
      if (--elements_ > kMostElements) return {.complaint = "a value of RESP has too many elements"};
    }
    return {.size = at_};
  }
  void reset() override {
    at_ = looked_at_ = 0;
    elements_ = 1;
  }

 private:
  // Bytes of a line that is a number, and of an inline command, which Redis limits to as much.
  static constexpr std::size_t kLongestLine = 32, kLongestInline = 64 << 10;
  static constexpr std::size_t kMostBytes = 1 << 30, kMostElements = 1 << 20;

  struct Element {
    std::size_t bytes = 0, elements = 0;  // that follow its line
    std::string_view complaint{};
  };

  static bool is_line(char type) { return std::string_view("+-:_#,(").contains(type); }
  static bool has_number(char type) { return std::string_view("$!=*~>%|").contains(type); }

  static Element read(std::string_view line) {
    const char type = line.front();
    if (is_line(type)) return {};
    std::int64_t number = 0;
    const char* const last = line.data() + line.size();
    const auto [end, error] = std::from_chars(line.data() + 1, last, number);
    if (error != std::errc() || end != last || number < -1 || number > static_cast<std::int64_t>(kMostBytes))
      return {.complaint = "a size of RESP is no number"};
    if (number < 0) return {};  // null
    const auto count = static_cast<std::size_t>(number);
    if (std::string_view("$!=").contains(type)) return {.bytes = count + 2};
    if (type == '%') return {.elements = 2 * count};
    if (type == '|') return {.elements = 2 * count + 1};  // attributes of the value that follows
    return {.elements = count};
  }

  Found find_line(std::string_view text) {
    const std::size_t end = text.find('\n', looked_at_);
    if (std::min(end, text.size()) > kLongestInline) return {.complaint = "an inline command is too long"};
    if (end != text.npos) return {.size = end + 1};
    looked_at_ = text.size();
    return {};
  }

  const InlineCommands inlines_;
  std::size_t at_ = 0, looked_at_ = 0;  // where an element begins, and where its line's end may begin
  std::size_t elements_ = 1;            // that are still to come
};

}  // namespace

std::unique_ptr<Finder> resp_finder(InlineCommands inlines) {
  return std::make_unique<RespFinder>(inlines);
}

}  // namespace joust
