// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "joust/framing.hpp"
#include "protocols/http/chunked_body.hpp"
#include "protocols/http/messages.hpp"

namespace joust::http {

inline constexpr std::size_t kLargestReply = 1 << 20;  // bytes of a head and its body
inline constexpr std::size_t kMostInterim = 64 << 10;  // bytes of the interim replies before a reply

// Cuts a stream into the replies to requests (RFC 9112, 6). A message is a head and the body, taken out of
// its chunks. Interim replies, such as 103 Early Hints, are left out. A reply of known length that is
// complete in one chunk of the stream is passed on without a copy.
class ReplyCutter : public Cutter {
 public:
  explicit ReplyCutter(ReplyTo requests = ReplyTo::others) : requests_(requests) {}

  CutStep next(Bytes chunk) override;
  CutStep end() override;
  bool in_message() const override { return part_ != Part::head || (!held_.empty() && !held_is_message_); }
  std::string_view complaint() const override { return complaint_; }

 private:
  enum class Part : std::uint8_t { head, sized, chunked, until_end };

  CutStep next_head(Bytes chunk);
  CutStep next_in_chunks(Bytes chunk);
  CutStep begin_body(const ReplyHead& head, std::size_t size, std::size_t held, Bytes chunk);
  CutStep skip_interim(unsigned status, std::size_t size, std::size_t taken);
  CutStep hold(Bytes part, std::size_t size);
  CutStep complete(std::size_t taken);
  CutStep malformed(std::string complaint);

  const ReplyTo requests_;
  Part part_ = Part::head;        // the part that is read next
  std::size_t size_ = 0;          // size of the message (sized only)
  std::size_t interim_ = 0;       // bytes of interim replies since the last reply
  std::vector<std::byte> held_;   // the beginning of an incomplete message
  bool held_is_message_ = false;  // held_ was handed out by the last step
  ChunkedBody chunks_;
  std::string complaint_;
};

}  // namespace joust::http
