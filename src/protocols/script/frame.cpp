// SPDX-License-Identifier: MIT
#include "protocols/script/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "protocols/http/heads.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/script/template_parser.hpp"
#include "session/framing.hpp"

namespace joust::script {
namespace {

// A size before, or at a place of, a message.
struct SizeRules {
  BinaryNumber form{};
  std::size_t offset = 0;      // the bytes before it
  bool counts_itself = false;  // it counts its own bytes too; those before it are never counted
};

class LengthFinder final : public Finder {
 public:
  explicit LengthFinder(std::size_t size) : size_(size) {}
  Found find(Bytes message) override {
    return message.size() < size_ ? Found{.least = size_} : Found{.size = size_};
  }

 private:
  const std::size_t size_;
};

class EndingFinder final : public Finder {
 public:
  explicit EndingFinder(std::string ending) : ending_(std::move(ending)) {}
  Found find(Bytes message) override {
    const std::size_t at = as_text(message).find(ending_, looked_at_);
    if (at != std::string_view::npos) return {.size = at + ending_.size()};
    looked_at_ = message.size() < ending_.size() ? 0 : message.size() - ending_.size() + 1;
    return {};
  }
  void reset() override { looked_at_ = 0; }

 private:
  const std::string ending_;
  std::size_t looked_at_ = 0;  // no ending begins before it
};

class SizeFinder final : public Finder {
 public:
  explicit SizeFinder(const SizeRules& rules) : rules_(rules) {}
  Found find(Bytes message) override {
    const std::size_t head = rules_.offset + rules_.form.width;
    if (message.size() < head) return {};
    const std::uint64_t size = rules_.form.read(message.subspan(rules_.offset));
    if (rules_.counts_itself && size < rules_.form.width)
      return {.complaint = "a size counts its own bytes, and is smaller than these"};
    const std::uint64_t before = rules_.counts_itself ? rules_.offset : head;
    const std::uint64_t all = size > SIZE_MAX - before ? SIZE_MAX : size + before;
    return message.size() < all ? Found{.least = all} : Found{.size = all};
  }

 private:
  const SizeRules rules_;
};

std::unique_ptr<Finder> length_finder(std::size_t size) {
  return std::make_unique<LengthFinder>(size);
}

std::unique_ptr<Finder> ending_finder(std::string ending) {
  return std::make_unique<EndingFinder>(std::move(ending));
}

std::unique_ptr<Finder> size_finder(const SizeRules& rules) {
  return std::make_unique<SizeFinder>(rules);
}

// Takes all until the peer ends the stream.
class ClosingCutter final : public Cutter {
 public:
  CutStep next(Bytes chunk) override {
    if (held_.size() + chunk.size() > kLargestMessage) {
      complaint_ = fmt::format("a message has more than {} bytes", kLargestMessage);
      return {CutStep::Status::malformed, 0, {}, {}};
    }
    held_.insert(held_.end(), chunk.begin(), chunk.end());
    return {CutStep::Status::need_more, chunk.size(), {}, {}};
  }
  CutStep end() override {
    if (held_.empty()) return {CutStep::Status::need_more, 0, {}, {}};
    return {CutStep::Status::message, 0, held_, held_};
  }
  bool in_message() const override { return !held_.empty(); }
  std::string_view complaint() const override { return complaint_; }

 private:
  std::vector<std::byte> held_;
  std::string complaint_;
};

using Parsed = std::expected<Frame, std::string>;

template <class MakeFinder>
Frame found_by(MakeFinder make) {
  return {.cutter = [make = std::move(make)]() -> std::unique_ptr<Cutter> {
    return std::make_unique<FoundCutter>(make(), kLargestMessage);
  }};
}

Parsed length_frame(std::string_view text) {
  const auto size = parse_bytes(text);
  if (!size || *size == 0 || *size > kLargestMessage)
    return std::unexpected(
        fmt::format("length:{} is no number of bytes up to {}", printable(text), kLargestMessage));
  return found_by([size = static_cast<std::size_t>(*size)] { return length_finder(size); });
}

Parsed until_frame(std::string_view text) {
  auto bytes = unescaped(text);
  if (!bytes) return std::unexpected("until: " + bytes.error());
  if (bytes->empty()) return std::unexpected("until: say which bytes end a message: until:\\r\\n\\r\\n");
  return found_by([bytes = std::move(*bytes)] { return ending_finder(bytes); });
}

// Parses what follows the width: "le", "+self" and "@OFFSET", in this order.
Parsed size_frame(std::string_view text) {
  SizeRules rules;
  std::string_view rest = text;
  const auto takes = [&rest](std::string_view word) {
    const bool has = rest.starts_with(word);
    if (has) rest.remove_prefix(word.size());
    return has;
  };
  rules.form = BinaryNumber::take_from(rest);
  rules.counts_itself = takes("+self");
  if (takes("@")) {
    constexpr std::uint64_t kMostOffset = 64 << 10;
    const auto offset = parse_count(rest);
    if (offset && *offset > kMostOffset)
      return std::unexpected(
          fmt::format("'{}': a size stands at byte {} at most", printable(text), kMostOffset));
    if (offset) rules.offset = static_cast<std::size_t>(*offset);
    if (offset) rest = {};
  }
  if (!rest.empty())
    return std::unexpected(
        fmt::format("'{}': say the width of the size, then le for little endian, +self if it counts its own "
                    "bytes too, and @BYTE for its place: u32le+self@4",
                    printable(text)));
  return found_by([rules] { return size_finder(rules); });
}

bool is_last_of_http(Bytes reply) {
  const std::size_t end = as_text(reply).find("\r\n\r\n");
  const auto head = http::parse_reply(reply.first(end == std::string_view::npos ? reply.size() : end + 4));
  return head && head->is_last;
}

Parsed frame_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon),
                         rest = colon == text.npos ? "" : text.substr(colon + 1);
  if (name == "length") return length_frame(rest);
  if (name == "until") return until_frame(rest);
  if (text == "line") return found_by([] { return ending_finder("\n"); });
  if (text == "resp") return found_by([] { return resp_finder(); });
  if (text == "datagram") return Frame{};
  if (text == "close")
    return Frame{.cutter = []() -> std::unique_ptr<Cutter> { return std::make_unique<ClosingCutter>(); },
                 .ends_connection = true};
  if (text == "http")
    return Frame{.cutter = []() -> std::unique_ptr<Cutter> { return std::make_unique<http::ReplyCutter>(); },
                 .is_last = is_last_of_http};
  for (const std::string_view width : {"u8", "u16", "u32", "u64"})
    if (name.starts_with(width)) return size_frame(text);
  static const std::vector<std::string> kFrames{
      "length:BYTES", "line", "until:BYTES", "u8", "u16", "u32", "u64", "resp", "http", "datagram", "close"};
  return std::unexpected(
      not_allowed(fmt::format("'{}' is no frame", printable(text)), std::string(name), kFrames));
}

}  // namespace

Parsed parse_frame(std::string_view text) {
  Parsed frame = frame_of(text);
  if (frame) frame->text = text;
  return frame;
}

}  // namespace joust::script
