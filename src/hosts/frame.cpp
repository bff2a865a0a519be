// SPDX-License-Identifier: MIT
#include "hosts/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>

namespace joust::hosts {
namespace {

constexpr std::size_t kLongestHead = 80;
constexpr std::array<std::string_view, 3> kKinds{"message", "ended", "interrupt"};  // by Frame::Kind

std::string head_of(const Frame& frame) {
  return fmt::format("{} {} {}\n", kKinds[static_cast<std::size_t>(frame.kind)], frame.rank,
                     frame.body.size());
}

// Reads a head. `bytes`: the length of the body.
std::optional<Frame> frame_of(const std::string& head, std::size_t& bytes) {
  std::istringstream words(head);
  std::string kind;
  Frame frame;
  std::int64_t length = 0;
  if (!(words >> kind >> frame.rank >> length)) return std::nullopt;
  const auto known = std::ranges::find(kKinds, kind);
  if (known == kKinds.end()) return std::nullopt;
  if (frame.rank < 0 || length < 0) return std::nullopt;
  bytes = static_cast<std::size_t>(length);
  if (bytes > kMostMessageBytes) return std::nullopt;
  frame.kind = static_cast<Frame::Kind>(known - kKinds.begin());
  return frame;
}

}  // namespace

std::string bytes_of(const Frame& frame) {
  return head_of(frame) + frame.body;
}

std::expected<std::optional<Frame>, std::string> FrameReader::next() {
  const std::size_t end = came_.find('\n');
  if (end == std::string::npos && came_.size() < kLongestHead) return std::nullopt;
  std::size_t bytes = 0;
  auto frame = end >= kLongestHead ? std::nullopt : frame_of(came_.substr(0, end), bytes);
  if (!frame) return std::unexpected("what came is no message");
  if (came_.size() < end + 1 + bytes) return std::nullopt;
  frame->body = came_.substr(end + 1, bytes);
  came_.erase(0, end + 1 + bytes);
  return frame;
}

}  // namespace joust::hosts
