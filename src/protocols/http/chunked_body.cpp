// SPDX-License-Identifier: MIT
#include "protocols/http/chunked_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "protocols/http/excerpt.hpp"
#include "protocols/http/hexadecimal.hpp"

namespace joust::http {
namespace {

constexpr unsigned kMostDigits = 16;            // digits of a size, so that it fits into 64 bits
constexpr std::size_t kMostSkipped = 16 << 10;  // bytes

constexpr std::string_view kBareLineEnd = "a line between the chunks of a reply does not end with CR LF";

}  // namespace

std::size_t ChunkedBody::take(Bytes bytes, std::vector<std::byte>& body, std::size_t most) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !is_over() && complaint_.empty()) {
    if (at_ != At::data) {
      step(as_text(bytes)[taken++], most - body.size());
      continue;
    }
    const Bytes data = bytes.subspan(taken, std::min<std::uint64_t>(size_, bytes.size() - taken));
    body.insert(body.end(), data.begin(), data.end());
    taken += data.size();
    size_ -= data.size();
    if (size_ == 0) at_ = At::data_cr;
  }
  return taken;
}

// Takes a byte that is not data. The body may grow by `room` bytes.
void ChunkedBody::step(char next, std::size_t room) {
  switch (at_) {
    case At::size:
      if (const auto digit = hexadecimal_digit(next)) {
        size_ = size_ * 16 + *digit;
        if (++digits_ > kMostDigits) complaint_ = "the size of a chunk of a reply has more than 16 digits";
      } else if (digits_ == 0 || !std::string_view("\r; \t").contains(next)) {
        complaint_ = fmt::format("the size of a chunk of a reply has '{}' in it", excerpt({&next, 1}));
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

void ChunkedBody::begin_data(std::size_t room) {
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

}  // namespace joust::http
