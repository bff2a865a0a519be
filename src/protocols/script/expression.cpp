// SPDX-License-Identifier: MIT
#include "protocols/script/expression.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/text.hpp"

namespace joust::script {
namespace {

constexpr std::int64_t kMostMemory = 8 << 20;  // bytes of a compiled expression
constexpr std::size_t kLongest = 4096;         // bytes of its text
// Bytes of a reply that are searched: an expression may take a microsecond for each of them.
constexpr std::size_t kMostSearched = 64 << 10;

RE2::Options options() {
  RE2::Options options(RE2::Latin1);  // replies are bytes
  options.set_log_errors(false);
  options.set_dot_nl(true);
  options.set_max_mem(kMostMemory);
  return options;
}

class Re2Expression final : public Expression {
 public:
  explicit Re2Expression(std::string_view text)
      : compiled_(re2::StringPiece(text.data(), text.size()), options()) {}

  const RE2& compiled() const { return compiled_; }

  std::optional<std::string_view> find(std::string_view text) const override {
    re2::StringPiece found[2];
    const int groups = compiled_.NumberOfCapturingGroups() > 0 ? 2 : 1;
    const re2::StringPiece all(text.data(), text.size());
    if (!compiled_.Match(all, 0, std::min(text.size(), kMostSearched), RE2::UNANCHORED, found, groups))
      return std::nullopt;
    const re2::StringPiece& part = found[groups - 1];
    return std::string_view(part.data() == nullptr ? text.data() : part.data(), part.size());
  }

 private:
  const RE2 compiled_;
};

}  // namespace

std::expected<std::shared_ptr<const Expression>, std::string> compile_expression(std::string_view text) {
  if (text.size() > kLongest)
    return std::unexpected(fmt::format("an expression of {} bytes is longer than {}", text.size(), kLongest));
  auto made = std::make_shared<const Re2Expression>(text);
  if (!made->compiled().ok())
    return std::unexpected(fmt::format("the expression '{}' is wrong: {}", printable(std::string(text)),
                                       made->compiled().error()));
  return made;
}

}  // namespace joust::script
