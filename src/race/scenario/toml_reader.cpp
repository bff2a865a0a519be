// SPDX-License-Identifier: MIT
#include "race/scenario/toml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/model/scenario.hpp"

namespace joust::race {

void Problems::add(const toml::source_region& where, std::string_view what) {
  all_.push_back({where.begin, std::string(what)});
}

void Problems::add(const toml::source_region& where, std::string_view key, std::string_view what) {
  add(where, fmt::format("key '{}': {}", key, what));
}

std::string Problems::text() const {
  // Tables are read key by key, so an unknown key is found last.
  std::vector<Problem> sorted = all_;
  std::ranges::stable_sort(sorted, [](const Problem& a, const Problem& b) { return a.where < b.where; });
  std::vector<std::string> lines;
  for (const auto& [where, what] : sorted)
    lines.push_back(fmt::format("{}:{}:{}: {}", file_, where.line, where.column, what));
  return join(lines, "\n");
}

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  return std::nullopt;
}

const toml::node* TableReader::node(std::string_view key) {
  ask(key);
  const toml::node* const value = table_.get(key);
  if (value == nullptr || value->as_array() == nullptr || value->as_array()->size() <= kMostEntries)
    return value;
  wrong(key, fmt::format("it has {} entries; allowed: up to {}", value->as_array()->size(), kMostEntries));
  return nullptr;
}

void TableReader::wrong(std::string_view key, std::string_view what) {
  const auto found = table_.find(key);
  problems_.add(found == table_.end() ? table_.source() : found->first.source(), path_ + std::string(key),
                what);
}

std::optional<std::string> TableReader::text(std::string_view key) {
  const toml::node* value = node(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = value->as_string()) return text->get();
  wrong(key, "wrong type; allowed: text in quotes");
  return std::nullopt;
}

std::optional<std::string> TableReader::word(std::string_view key, std::span<const std::string> allowed) {
  const auto value = text(key);
  if (!value || std::ranges::count(allowed, *value) != 0) return value;
  wrong(key, not_allowed(fmt::format("'{}' is not allowed", *value), *value, allowed));
  return std::nullopt;
}

std::optional<bool> TableReader::boolean(std::string_view key) {
  const toml::node* value = node(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* truth = value->as_boolean()) return truth->get();
  wrong(key, "wrong type; allowed: true, false");
  return std::nullopt;
}

std::vector<std::string> TableReader::texts(std::string_view key) {
  const toml::node* value = node(key);
  if (value == nullptr) return {};
  if (const auto* text = value->as_string()) return {text->get()};
  std::vector<std::string> all;
  if (const toml::array* array = value->as_array())
    for (const toml::node& each : *array)
      if (const auto* text = each.as_string()) all.push_back(text->get());
  if (all.empty() || all.size() != value->as_array()->size())
    wrong(key, "wrong type; allowed: a text, or a list of texts");
  return all;
}

std::optional<std::string> TableReader::scalar(std::string_view key) {
  const toml::node* value = node(key);
  if (value == nullptr) return std::nullopt;
  if (auto text = scalar_text(*value)) return text;
  wrong(key, "wrong type; allowed: text or a number");
  return std::nullopt;
}

namespace {

using Parse = std::expected<std::uint64_t, std::string> (*)(std::string_view);

// Returns the number in `value`, or the error message. `allowed` describes the range in words.
std::expected<std::uint64_t, std::string> number_of(const toml::node& value, Parse parse, std::uint64_t least,
                                                    std::uint64_t most) {
  const std::string allowed =
      fmt::format("allowed: a whole number from {} to {}, units as in \"4k\"", least, most);
  std::uint64_t number = 0;
  if (const auto* whole = value.as_integer()) {
    if (whole->get() < 0) return std::unexpected(fmt::format("{} is negative; {}", whole->get(), allowed));
    number = static_cast<std::uint64_t>(whole->get());
  } else if (const auto* text = value.as_string()) {
    const auto parsed = parse(text->get());
    if (!parsed) return std::unexpected(fmt::format("{}; {}", parsed.error(), allowed));
    number = *parsed;
  } else {
    return std::unexpected("wrong type; " + allowed);
  }
  if (number < least || number > most)
    return std::unexpected(fmt::format("{} is out of range; {}", number, allowed));
  return number;
}

}  // namespace

std::optional<std::uint64_t> TableReader::count(std::string_view key, std::uint64_t least,
                                                std::uint64_t most) {
  const toml::node* value = node(key);
  if (value == nullptr) return std::nullopt;
  const auto number = number_of(*value, parse_count, least, most);
  if (number) return *number;
  wrong(key, number.error());
  return std::nullopt;
}

std::optional<std::uint64_t> TableReader::bytes(std::string_view key, std::uint64_t least,
                                                std::uint64_t most) {
  const toml::node* value = node(key);
  if (value == nullptr) return std::nullopt;
  const auto number = number_of(*value, parse_bytes, least, most);
  if (number) return *number;
  wrong(key, number.error());
  return std::nullopt;
}

std::optional<Duration> TableReader::duration(std::string_view key, Duration least, Duration most) {
  const auto value = scalar(key);
  if (!value) return std::nullopt;
  const auto time = parse_duration(*value);
  if (!time) {
    wrong(key, time.error() + "; allowed: a time such as \"10ms\"");
  } else if (*time < least) {
    wrong(key, fmt::format("'{}' is too short; allowed: {} or more", *value, format_duration(least)));
  } else if (*time > most) {
    wrong(key, fmt::format("'{}' is too long; allowed: up to {}", *value, format_duration(most)));
  } else {
    return *time;
  }
  return std::nullopt;
}

std::optional<SettingValue> TableReader::value(const Setting& row) {
  using Kind = Setting::Kind;
  const std::string_view key = row.key_in_file();
  const auto read = [](const auto& given) {
    return given ? std::optional<SettingValue>(*given) : std::nullopt;
  };
  switch (row.kind) {
    case Kind::toggle:
      return read(boolean(key));
    case Kind::count:
      return read(count(key, row.least, row.most));
    case Kind::bytes:
      return read(bytes(key, row.least, row.most));
    case Kind::time:
      return read(duration(key, Duration(row.least), row.most == 0 ? Duration::max() : Duration(row.most)));
    default:
      break;
  }
  const auto given = row.objection == nullptr ? text(key) : scalar(key);
  if (!given) return std::nullopt;
  const auto parsed = parse_setting(row, *given);
  if (!parsed) wrong(key, parsed.error());
  return parsed ? std::optional(*parsed) : std::nullopt;
}

const toml::table* TableReader::table(std::string_view key) {
  const toml::node* value = node(key);
  if (value == nullptr) return nullptr;
  if (value->as_table() == nullptr) wrong(key, fmt::format("wrong type; allowed: a table [{}]", key));
  return value->as_table();
}

std::vector<const toml::table*> TableReader::tables(std::string_view key) {
  const toml::node* value = node(key);
  if (value == nullptr) return {};
  std::vector<const toml::table*> all;
  if (const toml::array* array = value->as_array())
    for (const toml::node& each : *array)
      if (const toml::table* one = each.as_table()) all.push_back(one);
  if (value->as_array() == nullptr || all.size() != value->as_array()->size()) {
    wrong(key, fmt::format("wrong type; allowed: tables [[{}]]", key));
    return {};
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> TableReader::others() {
  std::vector<std::pair<std::string, std::string>> rest;
  for (const auto& [key, value] : table_) {
    const std::string name(key.str());
    if (std::ranges::count(asked_, name) != 0) continue;
    ask(name);
    if (auto text = scalar_text(value))
      rest.emplace_back(name, *text);
    else
      wrong(name, "wrong type; allowed: text, a number, true or false");
  }
  return rest;
}

void TableReader::misplaced(std::string_view key, std::string_view what) {
  if (!table_.contains(key)) return;
  wrong(key, what);
  misplaced_.emplace_back(key);
}

void TableReader::finish() {
  for (const auto& [key, value] : table_) {
    const std::string name(key.str());
    if (std::ranges::count(asked_, name) + std::ranges::count(misplaced_, name) == 0)
      problems_.add(key.source(), path_ + name, not_allowed("unknown key", name, asked_));
  }
}

}  // namespace joust::race
