// SPDX-License-Identifier: MIT
#include "protocols/script/reply_part.hpp"

#include <fmt/format.h>

#include "base/units.hpp"

namespace joust::script {
std::expected<ReplyPart, std::string> ReplyPart::parse(std::string_view text) {
  ReplyPart part;
  if (text.size() >= 2 && text.starts_with('/') && text.ends_with('/')) {
    auto expression = compile_expression(text.substr(1, text.size() - 2));
    if (!expression) return std::unexpected(expression.error());
    part.expression_ = std::move(*expression);
    return part;
  }
  const std::size_t plus = text.find('+');
  const auto offset = parse_count(std::string(text.substr(0, plus)));
  const auto size = plus == text.npos ? std::expected<std::uint64_t, std::string>(std::unexpected(""))
                                      : parse_count(std::string(text.substr(plus + 1)));
  if (!offset || !size || *size == 0 || *offset + *size > kLargestMessage)
    return std::unexpected("say {reply:4+8} for 8 bytes from byte 4 on, or {reply:/EXPRESSION/}");
  part.offset_ = *offset;
  part.size_ = *size;
  return part;
}

std::expected<Bytes, std::string> ReplyPart::of(Bytes reply) const {
  if (expression_) {
    const auto found = expression_->find(as_text(reply));
    if (!found) return std::unexpected("the last reply has nothing that the expression of {reply} finds");
    return as_bytes(*found);
  }
  if (reply.size() < offset_ + size_)
    return std::unexpected(
        fmt::format("the last reply has {} bytes, and {{reply}} takes bytes {} to {} of it", reply.size(),
                    offset_, offset_ + size_));
  return reply.subspan(offset_, size_);
}

}  // namespace joust::script
