// SPDX-License-Identifier: MIT
#include "load/wrong_reply.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace joust {
namespace {

constexpr std::size_t kShown = 64;
constexpr std::size_t kBefore = 16;  // bytes before a difference that lies behind the first ones

std::string quoted(Bytes bytes, std::size_t from) {
  const Bytes part = bytes.subspan(std::min(from, bytes.size()),
                                   std::min(kShown, bytes.size() - std::min(from, bytes.size())));
  return fmt::format("{}\"{}\"{}", from > 0 ? "..." : "", printable(as_text(part)),
                     from + part.size() < bytes.size() ? "..." : "");
}

std::size_t first_difference(Bytes one, Bytes other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

}  // namespace

std::string describe(const WrongReply& wrong) {
  const std::string where =
      fmt::format("request {} of connection {}: {}", wrong.request, wrong.connection, wrong.complaint);
  if (wrong.expected.empty())
    return fmt::format("{}; {} came: {}", where, counted(wrong.came.size(), "byte"), quoted(wrong.came, 0));
  const std::size_t differs = first_difference(wrong.expected, wrong.came);
  const std::size_t from = differs < kShown ? 0 : differs - kBefore;
  return fmt::format("{}; {} expected: {}, {} came: {}, different from byte {} on", where,
                     counted(wrong.expected.size(), "byte"), quoted(wrong.expected, from),
                     counted(wrong.came.size(), "byte"), quoted(wrong.came, from), differs);
}

}  // namespace joust
