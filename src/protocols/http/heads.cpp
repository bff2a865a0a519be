// SPDX-License-Identifier: MIT
#include "protocols/http/heads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "protocols/http/messages.hpp"

namespace joust::http {
namespace {

// Limit of a request line: the longest target, with a method and the version beside it.
constexpr std::size_t kLongestLine = kLongestTarget + 64;

// Limit of empty lines before a request: some clients send one after a body. Without a limit they would keep
// a connection open.
constexpr std::size_t kMostEmptyLines = 8;

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

HeadCutter::Step HeadCutter::next(Bytes chunk) {
  if (held_is_head_) {
    held_.clear();
    held_is_head_ = false;
  }
  const std::size_t held = held_.size();
  const Bytes part = chunk.first(std::min(chunk.size(), kLargestHead - held));
  if (held > 0) {
    held_.resize(held + part.size());
    std::ranges::copy(part, held_.begin() + static_cast<std::ptrdiff_t>(held));
  }
  const Bytes all = held > 0 ? Bytes(held_) : part;
  const Status status = scan(as_text(all));
  if (status == Status::need_more) return hold(part, held);
  if (status != Status::head) return {status, part.size()};
  const Step step{status, scanned_ - held, all.subspan(begin_, scanned_ - begin_)};
  held_is_head_ = held > 0;
  begin_ = line_ = scanned_ = empty_lines_ = 0;
  return step;
}

HeadCutter::Step HeadCutter::hold(Bytes part, std::size_t held) {
  if (begin_ > 0) {  // empty lines are no part of the head; at most one CR of them was held
    const std::size_t taken = begin_ - held;
    held_.clear();
    begin_ = line_ = scanned_ = 0;
    return {Status::need_more, taken};
  }
  if (held + part.size() >= kLargestHead) return {Status::head_too_long, part.size()};
  if (held == 0) held_.assign(part.begin(), part.end());
  return {Status::need_more, part.size()};
}

// Continues where it stopped, so that a head that arrives byte by byte is read once.
HeadCutter::Status HeadCutter::scan(std::string_view text) {
  while (line_ < text.size()) {
    const bool is_request_line = line_ == begin_;
    const char first = text[line_];
    // Data other than HTTP are refused at the first byte: they may have no end of line.
    if (is_request_line ? !is_letter(first) && first != '\r' : first == ' ' || first == '\t')
      return Status::malformed;
    const std::size_t newline = text.find('\n', scanned_);
    const bool is_complete = newline != std::string_view::npos;
    const std::size_t end = is_complete ? newline + 1 : text.size();
    if (is_request_line && end - line_ > kLongestLine) return Status::target_too_long;
    scanned_ = end;
    if (!is_complete) return Status::need_more;
    if (newline == line_ || text[newline - 1] != '\r') return Status::malformed;
    const bool is_empty = end - line_ == 2;
    line_ = end;
    if (is_empty && !is_request_line) return Status::head;
    if (is_empty) begin_ = end;
    if (is_empty && ++empty_lines_ > kMostEmptyLines) return Status::malformed;
  }
  return Status::need_more;
}

namespace {

constexpr unsigned kMostDigits = 16;            // digits of a size, so that it fits into 64 bits
constexpr std::size_t kMostSkipped = 16 << 10;  // bytes

constexpr std::string_view kBareLineEnd = "a line between the chunks of a reply does not end with CR LF";

}  // namespace

std::size_t ChunkedBody::take(Bytes bytes, std::vector<std::byte>& body, std::size_t most, Beyond beyond) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !is_over() && complaint_.empty()) {
    if (at_ != At::data) {
      step(as_text(bytes)[taken++], beyond == Beyond::complaint ? most - body.size() : UINT64_MAX);
      continue;
    }
    const Bytes data = bytes.subspan(taken, std::min<std::uint64_t>(size_, bytes.size() - taken));
    const Bytes kept = data.first(std::min(data.size(), most - body.size()));
    body.insert(body.end(), kept.begin(), kept.end());
    taken += data.size();
    size_ -= data.size();
    if (size_ == 0) at_ = At::data_cr;
  }
  return taken;
}

// Takes a byte that is not data. The body may grow by `room` bytes.
void ChunkedBody::step(char next, std::uint64_t room) {
  switch (at_) {
    case At::size:
      if (const auto digit = hexadecimal_digit(next)) {
        size_ = size_ * 16 + *digit;
        if (++digits_ > kMostDigits) complaint_ = "the size of a chunk of a reply has more than 16 digits";
      } else if (digits_ == 0 || !std::string_view("\r; \t").contains(next)) {
        complaint_ = fmt::format("the size of a chunk of a reply has '{}' in it", snippet({&next, 1}));
      } else {
        at_ = next == '\r' ? At::size_end : At::extension;
      }
      return;
    case At::extension:
      return skip(next, At::size_end);
    case At::size_end:
      expect(next, '\n', At::data, kBareLineEnd);
      return begin_data(room);
    case At::data_cr:
      return expect(next, '\r', At::data_lf, "a chunk of a reply has more data than its size says");
    case At::data_lf:
      return expect(next, '\n', At::size, "a chunk of a reply has more data than its size says");
    case At::line:
      if (next == '\r')
        at_ = At::last_lf;
      else
        skip(next, At::trailer_end);
      return;
    case At::trailer:
      return skip(next, At::trailer_end);
    case At::trailer_end:
      return expect(next, '\n', At::line, kBareLineEnd);
    case At::last_lf:
      return expect(next, '\n', At::end, kBareLineEnd);
    case At::data:
    case At::end:
      return;
  }
}

void ChunkedBody::begin_data(std::uint64_t room) {
  if (size_ > room)
    complaint_ = fmt::format("a reply in chunks is larger than is read: it has one of {} bytes", size_);
  digits_ = 0;
  if (size_ == 0) at_ = At::line;  // the last chunk
}

void ChunkedBody::skip(char next, At at_end) {
  if (at_ == At::line) at_ = At::trailer;
  if (next == '\r') at_ = at_end;
  if (next == '\n') complaint_ = kBareLineEnd;
  if (++skipped_ > kMostSkipped)
    complaint_ = fmt::format("the extensions of chunks and the trailers of a reply are longer than {} bytes",
                             kMostSkipped);
}

void ChunkedBody::expect(char next, char expected, At then, std::string_view complaint) {
  at_ = then;
  if (next != expected) complaint_ = complaint;
}

namespace {

using enum CutStep::Status;

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kBareNewline = "a line of a reply's head does not end with CR LF";

// Detects text that can never become a head, so that it is refused at once and not after a timeout.
bool has_bare_newline(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('\n', from); at != text.npos; at = text.find('\n', at + 1))
    if (at == 0 || text[at - 1] != '\r') return true;
  return false;
}

}  // namespace

CutStep ReplyCutter::next(Bytes chunk) {
  if (std::exchange(held_is_message_, false)) held_.clear();
  switch (part_) {
    case Part::head:
      return next_head(chunk);
    case Part::sized:
      return next_sized(chunk);
    case Part::chunked:
      return next_in_chunks(chunk);
    case Part::until_end:
      break;
  }
  if (!counts() && chunk.size() > kLargestReply - held_.size())
    return malformed(
        fmt::format("a reply that ends with the connection is longer than {} bytes", kLargestReply));
  hold(chunk);
  return {need_more, chunk.size(), {}, {}};
}

// Ends a body whose end is marked only by the end of the stream.
CutStep ReplyCutter::end() {
  return part_ == Part::until_end ? complete(0) : CutStep{need_more, 0, {}, {}};
}

// Searches the end of the head in the new bytes only, so that a head that arrives byte by byte is read once.
CutStep ReplyCutter::next_head(Bytes chunk) {
  const std::size_t held = held_.size();
  const Bytes part = chunk.first(std::min(chunk.size(), kLargestHead - held));
  if (held > 0) held_.insert(held_.end(), part.begin(), part.end());
  const Bytes all = held > 0 ? Bytes(held_) : part;
  const std::string_view text = as_text(all);
  const std::size_t found = text.find(kHeadEnd, std::max(held, kHeadEnd.size() - 1) - (kHeadEnd.size() - 1));
  if (found == text.npos) {
    if (has_bare_newline(text, held)) return malformed(std::string(kBareNewline));
    if (text.size() >= kLargestHead)
      return malformed(fmt::format("the head of a reply is longer than {} bytes", kLargestHead));
    if (held == 0) held_.assign(part.begin(), part.end());
    return {need_more, part.size(), {}, {}};
  }
  const std::size_t size = found + kHeadEnd.size();
  const auto head = parse_reply(all.first(size), requests_);
  if (!head)
    return malformed(has_bare_newline(text.substr(0, size), held) ? std::string(kBareNewline) : head.error());
  if (head->is_interim()) return skip_interim(head->status, size, size - held);
  interim_ = 0;
  return begin_body(*head, size, held, chunk);
}

CutStep ReplyCutter::skip_interim(unsigned status, std::size_t size, std::size_t taken) {
  if (status == 101) return malformed("a reply changes the protocol (101), which was not asked for");
  interim_ += size;
  if (interim_ > kMostInterim)
    return malformed(
        fmt::format("the interim replies (1xx) before a reply are longer than {} bytes", kMostInterim));
  held_.clear();
  return {need_more, taken, {}, {}};
}

// `size` is the size of the head, of which `held` bytes have arrived before the chunk.
CutStep ReplyCutter::begin_body(const ReplyHead& head, std::size_t size, std::size_t held, Bytes chunk) {
  if (!counts() && head.content_length > kLargestReply - size)
    return malformed(fmt::format("a reply has a body of {} bytes: at most {} are read, with the head",
                                 head.content_length, kLargestReply));
  const bool is_sized = head.body == ReplyHead::Body::none || head.body == ReplyHead::Body::sized;
  left_ = head.content_length;
  if (is_sized && held == 0 && chunk.size() - size >= left_) {
    const Bytes whole = chunk.first(size + left_);
    return {message, whole.size(), whole, whole};
  }
  // The bytes of the body that have arrived are offered again.
  const Bytes rest = chunk.first(size - held);
  held_.resize(held);
  held_.insert(held_.end(), rest.begin(), rest.end());
  most_held_ = counts() ? size + kBeginning : kLargestReply;
  if (is_sized && left_ == 0) return complete(rest.size());
  part_ = is_sized ? Part::sized : head.body == ReplyHead::Body::chunked ? Part::chunked : Part::until_end;
  chunks_ = {};
  return {need_more, rest.size(), {}, {}};
}

CutStep ReplyCutter::next_sized(Bytes chunk) {
  const Bytes part = chunk.first(std::min<std::uint64_t>(chunk.size(), left_));
  hold(part);
  left_ -= part.size();
  return left_ == 0 ? complete(part.size()) : CutStep{need_more, part.size(), {}, {}};
}

CutStep ReplyCutter::next_in_chunks(Bytes chunk) {
  using enum ChunkedBody::Beyond;
  const std::size_t taken = chunks_.take(chunk, held_, most_held_, counts() ? left_out : complaint);
  if (!chunks_.complaint().empty()) return malformed(std::string(chunks_.complaint()));
  return chunks_.is_over() ? complete(taken) : CutStep{need_more, taken, {}, {}};
}

// Holds a part of a message, as far as it is kept.
void ReplyCutter::hold(Bytes part) {
  const Bytes kept = part.first(std::min(part.size(), most_held_ - held_.size()));
  held_.insert(held_.end(), kept.begin(), kept.end());
}

CutStep ReplyCutter::complete(std::size_t taken) {
  held_is_message_ = true;
  part_ = Part::head;
  return {message, taken, held_, held_};
}

CutStep ReplyCutter::malformed(std::string complaint) {
  complaint_ = std::move(complaint);
  return {CutStep::Status::malformed, 0, {}, {}};
}

}  // namespace joust::http
