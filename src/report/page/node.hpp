// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// Reads a JSON document that may be anybody's. Every wrong value is an error that names its key.
namespace joust::report::page {

// The message begins with the key: "contestants[2].summary.ratio: ...".
struct WrongDocument : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A value of a document, with the way to it. Valid for as long as the document.
class Node {
 public:
  using Json = nlohmann::ordered_json;

  Node(const Json& value, std::string way) : value_(&value), way_(std::move(way)) {}

  // Return a member of an object. Throw WrongDocument if there is none.
  Node operator[](const char* key) const;
  Node member(const std::string& key) const { return (*this)[key.c_str()]; }
  // Returns a member that may be missing or null.
  std::optional<Node> find(const char* key) const;

  bool is_null() const { return value_->is_null(); }
  bool is_object() const { return value_->is_object(); }
  const Json& json() const { return *value_; }
  const std::string& way() const { return way_; }

  // Return the value. Throw WrongDocument if it is of another type, or a number that no figure of a race can
  // be: negative, or above kGreatest.
  std::string text() const;
  double number() const;
  // Returns a bound of an interval, which is any number but a negative one: two noisy rounds know little.
  double bound() const;
  std::uint64_t count() const;
  bool flag() const;
  std::vector<Node> items() const;
  std::vector<std::pair<std::string, Node>> members() const;

  [[noreturn]] void fail(const std::string& why) const;

  static constexpr double kGreatest = 1e18;

 private:
  const Json* value_;
  std::string way_;
};

}  // namespace joust::report::page
