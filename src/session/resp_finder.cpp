// SPDX-License-Identifier: MIT
#include "session/resp_finder.hpp"

#include <algorithm>
#include <charconv>

namespace joust {
namespace {

// Reads a value element by element, without recursion: a value in a value only raises the number of the
// elements that follow.
class RespFinder final : public Finder {
 public:
  explicit RespFinder(InlineCommands inlines) : inlines_(inlines) {}

  Found find(Bytes message) override {
    const std::string_view text = as_text(message);
    if (inlines_ == InlineCommands::taken && text.front() != '*') return find_line(text);
    while (elements_ > 0) {
      if (at_ < text.size() && !is_line(text[at_]) && !has_number(text[at_]))
        return {.complaint = "a value of RESP has no known type"};
      const std::size_t end = text.find("\r\n", std::max(at_, looked_at_));
      if (end == text.npos) {
        looked_at_ = std::max(at_, text.empty() ? 0 : text.size() - 1);
        return text.size() - at_ > kLongestLine && !is_line(text[at_])
                   ? Found{.complaint = "a number of RESP is too long"}
                   : Found{};
      }
      if (end - at_ > kLongestLine && !is_line(text[at_]))
        return {.complaint = "a number of RESP is too long"};
      const Element element = read(text.substr(at_, end - at_));
      if (!element.complaint.empty()) return {.complaint = element.complaint};
      const std::size_t after = end + 2 + element.bytes;
      if (after > text.size()) return {.least = after};
      at_ = after;
      elements_ += element.elements;
      if (--elements_ > kMostElements) return {.complaint = "a value of RESP has too many elements"};
    }
    return {.size = at_};
  }
  void reset() override {
    at_ = looked_at_ = 0;
    elements_ = 1;
  }

 private:
  // Bytes of a line that is a number, and of an inline command, which Redis limits to as much.
  static constexpr std::size_t kLongestLine = 32, kLongestInline = 64 << 10;
  static constexpr std::size_t kMostBytes = 1 << 30, kMostElements = 1 << 20;

  struct Element {
    std::size_t bytes = 0, elements = 0;  // that follow its line
    std::string_view complaint{};
  };

  static bool is_line(char type) { return std::string_view("+-:_#,(").contains(type); }
  static bool has_number(char type) { return std::string_view("$!=*~>%|").contains(type); }

  static Element read(std::string_view line) {
    const char type = line.front();
    if (is_line(type)) return {};
    std::int64_t number = 0;
    const char* const last = line.data() + line.size();
    const auto [end, error] = std::from_chars(line.data() + 1, last, number);
    if (error != std::errc() || end != last || number < -1 || number > static_cast<std::int64_t>(kMostBytes))
      return {.complaint = "a size of RESP is no number"};
    if (number < 0) return {};  // null
    const auto count = static_cast<std::size_t>(number);
    if (std::string_view("$!=").contains(type)) return {.bytes = count + 2};
    if (type == '%') return {.elements = 2 * count};
    if (type == '|') return {.elements = 2 * count + 1};  // attributes of the value that follows
    return {.elements = count};
  }

  Found find_line(std::string_view text) {
    const std::size_t end = text.find('\n', looked_at_);
    if (std::min(end, text.size()) > kLongestInline) return {.complaint = "an inline command is too long"};
    if (end != text.npos) return {.size = end + 1};
    looked_at_ = text.size();
    return {};
  }

  const InlineCommands inlines_;
  std::size_t at_ = 0, looked_at_ = 0;  // where an element begins, and where its line's end may begin
  std::size_t elements_ = 1;            // that are still to come
};

}  // namespace

std::unique_ptr<Finder> resp_finder(InlineCommands inlines) {
  return std::make_unique<RespFinder>(inlines);
}

}  // namespace joust
