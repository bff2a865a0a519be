// SPDX-License-Identifier: MIT
#include "protocols/script/finders.hpp"

#include <algorithm>
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

}  // namespace joust::script
