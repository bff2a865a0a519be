// SPDX-License-Identifier: MIT
#include "protocols/script/finders.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace joust::script {
namespace {

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

// Reads a value element by element, without recursion: a value in a value only raises the number of the
// elements that follow.
class RespFinder final : public Finder {
 public:
  Found find(Bytes message) override {
    const std::string_view text = as_text(message);
    while (elements_ > 0) {
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
  void reset() override { *this = RespFinder(); }

 private:
  static constexpr std::size_t kLongestLine = 32, kMostBytes = 1 << 30, kMostElements = 1 << 20;

  struct Element {
    std::size_t bytes = 0, elements = 0;  // that follow its line
    std::string_view complaint{};
  };

  static bool is_line(char type) { return std::string_view("+-:_#,(").contains(type); }

  static Element read(std::string_view line) {
    if (line.empty()) return {.complaint = "a value of RESP is an empty line"};
    const char type = line.front();
    if (is_line(type)) return {};
    if (!std::string_view("$!=*~>%|").contains(type))
      return {.complaint = "a value of RESP has no known type"};
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

  std::size_t at_ = 0, looked_at_ = 0;  // where an element begins, and where its line's end may begin
  std::size_t elements_ = 1;            // that are still to come
};

}  // namespace

std::unique_ptr<Finder> length_finder(std::size_t size) {
  return std::make_unique<LengthFinder>(size);
}

std::unique_ptr<Finder> ending_finder(std::string ending) {
  return std::make_unique<EndingFinder>(std::move(ending));
}

std::unique_ptr<Finder> size_finder(const SizeRules& rules) {
  return std::make_unique<SizeFinder>(rules);
}

std::unique_ptr<Finder> resp_finder() {
  return std::make_unique<RespFinder>();
}

}  // namespace joust::script
