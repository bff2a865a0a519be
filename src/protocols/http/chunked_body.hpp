// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "joust/bytes.hpp"

namespace joust::http {

// Extracts the body of a reply from its chunks (RFC 9112, 7.1). Extensions of chunks and trailers are read
// and left out.
class ChunkedBody {
 public:
  // Adds the data in `bytes` to `body`, which may grow to `most` bytes. Returns how many bytes were taken:
  // all, except those after the end of the body. Must not be called after the end or a complaint.
  std::size_t take(Bytes bytes, std::vector<std::byte>& body, std::size_t most);

  bool is_over() const { return at_ == At::end; }
  std::string_view complaint() const { return complaint_; }  // empty if none exists

 private:
  enum class At : std::uint8_t {
    size,       // the size of a chunk
    extension,  // after the size, up to the end of its line
    size_end,   // the LF of that line
    data,
    data_cr,  // the CR of the line's end after the data
    data_lf,
    line,     // the first byte of a line of the trailers
    trailer,  // another byte of such a line
    trailer_end,
    last_lf,  // the LF of the empty line
    end,
  };

  void step(char next, std::size_t room);
  void begin_data(std::size_t room);
  void skip(char next, At at_end);
  void expect(char next, char expected, At then, std::string_view complaint);

  At at_ = At::size;
  unsigned digits_ = 0;      // digits of the size so far
  std::uint64_t size_ = 0;   // size of the chunk; then the rest of its data
  std::size_t skipped_ = 0;  // bytes of extensions and trailers in the whole body
  std::string complaint_;
};

}  // namespace joust::http
