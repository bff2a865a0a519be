// SPDX-License-Identifier: MIT
#include "report/page/node.hpp"

#include <fmt/format.h>

#include <cmath>

namespace joust::report::page {
namespace {

// Returns what a value is, in words: "a string".
std::string kind_of(const Node::Json& value) {
  const std::string name = value.type_name();
  return (name == "array" || name == "object" ? "an " : name == "null" ? "" : "a ") + name;
}

}  // namespace

void Node::fail(const std::string& why) const {
  throw WrongDocument(fmt::format("{}: {}", way_.empty() ? "the document" : way_, why));
}

Node Node::operator[](const char* key) const {
  if (!value_->is_object()) fail(fmt::format("is {}, and should be an object", kind_of(*value_)));
  const auto found = value_->find(key);
  std::string way = way_.empty() ? key : fmt::format("{}.{}", way_, key);
  if (found == value_->end()) throw WrongDocument(way + ": the key is missing");
  return {*found, std::move(way)};
}

std::optional<Node> Node::find(const char* key) const {
  if (!value_->is_object() || !value_->contains(key)) return std::nullopt;
  const Node member = (*this)[key];
  return member.is_null() ? std::nullopt : std::optional(member);
}

std::string Node::text() const {
  if (!value_->is_string()) fail(fmt::format("is {}, and should be a string", kind_of(*value_)));
  return value_->get<std::string>();
}

double Node::number() const {
  if (!value_->is_number()) fail(fmt::format("is {}, and should be a number", kind_of(*value_)));
  const auto number = value_->get<double>();
  if (!(number >= 0 && number <= kGreatest))
    fail(fmt::format("is {:g}, and should be between 0 and {:g}", number, kGreatest));
  return number;
}

double Node::bound() const {
  if (!value_->is_number()) fail(fmt::format("is {}, and should be a number", kind_of(*value_)));
  const auto number = value_->get<double>();
  if (!(number >= 0)) fail(fmt::format("is {:g}, and should not be negative", number));
  return number;
}

std::uint64_t Node::count() const {
  if (value_->is_number_unsigned())
    return value_->get<std::uint64_t>();  // a seed may be greater than a figure
  const double value = number();
  if (value != std::floor(value)) fail(fmt::format("is {:g}, and should be a whole number", value));
  return static_cast<std::uint64_t>(value);
}

bool Node::flag() const {
  if (!value_->is_boolean()) fail(fmt::format("is {}, and should be true or false", kind_of(*value_)));
  return value_->get<bool>();
}

std::vector<Node> Node::items() const {
  if (!value_->is_array()) fail(fmt::format("is {}, and should be an array", kind_of(*value_)));
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < value_->size(); ++i)
    nodes.emplace_back((*value_)[i], fmt::format("{}[{}]", way_, i));
  return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  if (!value_->is_object()) fail(fmt::format("is {}, and should be an object", kind_of(*value_)));
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto& [key, value] : value_->items())
    nodes.emplace_back(key, Node(value, fmt::format("{}.{}", way_, key)));
  return nodes;
}

}  // namespace joust::report::page
