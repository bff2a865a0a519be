// SPDX-License-Identifier: MIT
#include "protocols/http/head_cutter.hpp"

#include <algorithm>

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

}  // namespace joust::http
