// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/framing.hpp"
#include "protocols/http/messages.hpp"

namespace joust::http {

inline constexpr std::size_t kLargestHead = 8 << 10;    // bytes of a request's head, with its empty line
inline constexpr std::size_t kLongestTarget = 2 << 10;  // bytes

// Cuts a stream into the heads of requests, which are lines up to an empty one. Only CR LF ends a line: where
// servers disagree about that, a request can be hidden in another one. Lines that continue the previous line
// are refused for the same reason. A head that is complete in one chunk is passed on without a copy.
class HeadCutter {
 public:
  enum class Status : std::uint8_t { head, need_more, malformed, target_too_long, head_too_long };
  struct Step {
    Status status;
    std::size_t taken;  // bytes of `chunk` used by this step
    Bytes head{};       // with its empty line; valid until the next call, and only as long as the chunk
  };

  // Returns the next head of `chunk`, which continues after the bytes taken by earlier calls. Must not be
  // called again after an error.
  Step next(Bytes chunk);

  bool in_head() const { return !held_.empty() && !held_is_head_; }

 private:
  Status scan(std::string_view text);
  Step hold(Bytes part, std::size_t held);

  std::vector<std::byte> held_;  // the beginning of an incomplete head
  bool held_is_head_ = false;    // held_ was handed out by the last step
  // Offsets in the text that is scanned.
  std::size_t begin_ = 0;    // start of the head, after empty lines that may precede it
  std::size_t line_ = 0;     // start of the incomplete line
  std::size_t scanned_ = 0;  // end of the scanned text

  std::size_t empty_lines_ = 0;  // since the last head
};

// Extracts the body of a reply from its chunks (RFC 9112, 7.1). Extensions of chunks and trailers are read
// and left out.
class ChunkedBody {
 public:
  // Adds the data in `bytes` to `body`, which may grow to `most` bytes: more are a complaint, or are left
  // out. Returns how many bytes were taken: all, except those after the end of the body. Must not be called
  // after the end or a complaint.
  enum class Beyond : std::uint8_t { complaint, left_out };
  std::size_t take(Bytes bytes, std::vector<std::byte>& body, std::size_t most,
                   Beyond beyond = Beyond::complaint);

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

  void step(char next, std::uint64_t room);
  void begin_data(std::uint64_t room);
  void skip(char next, At at_end);
  void expect(char next, char expected, At then, std::string_view complaint);

  At at_ = At::size;
  unsigned digits_ = 0;      // digits of the size so far
  std::uint64_t size_ = 0;   // size of the chunk; then the rest of its data
  std::size_t skipped_ = 0;  // bytes of extensions and trailers in the whole body
  std::string complaint_;
};

inline constexpr std::size_t kLargestReply = 1 << 20;  // bytes of a head and its body, where that is kept
inline constexpr std::size_t kBeginning = 4 << 10;     // bytes of a body that is counted and not kept
inline constexpr std::size_t kMostInterim = 64 << 10;  // bytes of the interim replies before a reply

// Cuts a stream into the replies to requests (RFC 9112, 6). A message is a head and the body, taken out of
// its chunks. Interim replies, such as 103 Early Hints, are left out. A reply of known length that is
// complete in one chunk of the stream is passed on without a copy. Where bodies are counted, one of any size
// that comes in several chunks is read to its end, and the message has only its beginning.
class ReplyCutter : public Cutter {
 public:
  enum class Bodies : std::uint8_t { kept, counted };
  explicit ReplyCutter(ReplyTo requests = ReplyTo::others, Bodies bodies = Bodies::kept)
      : requests_(requests), bodies_(bodies) {}

  CutStep next(Bytes chunk) override;
  CutStep end() override;
  bool in_message() const override { return part_ != Part::head || (!held_.empty() && !held_is_message_); }
  std::string_view complaint() const override { return complaint_; }

 private:
  enum class Part : std::uint8_t { head, sized, chunked, until_end };

  CutStep next_head(Bytes chunk);
  CutStep next_sized(Bytes chunk);
  CutStep next_in_chunks(Bytes chunk);
  CutStep begin_body(const ReplyHead& head, std::size_t size, std::size_t held, Bytes chunk);
  CutStep skip_interim(unsigned status, std::size_t size, std::size_t taken);
  void hold(Bytes part);
  CutStep complete(std::size_t taken);
  CutStep malformed(std::string complaint);

  bool counts() const { return bodies_ == Bodies::counted; }

  const ReplyTo requests_;
  const Bodies bodies_;
  Part part_ = Part::head;        // the part that is read next
  std::uint64_t left_ = 0;        // bytes of the body that are still to come (sized only)
  std::size_t most_held_ = 0;     // bytes of the message that are held
  std::size_t interim_ = 0;       // bytes of interim replies since the last reply
  std::vector<std::byte> held_;   // the beginning of an incomplete message
  bool held_is_message_ = false;  // held_ was handed out by the last step
  ChunkedBody chunks_;
  std::string complaint_;
};

}  // namespace joust::http
