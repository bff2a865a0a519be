// SPDX-License-Identifier: MIT
#pragma once

#include <cfloat>
#ifndef FLT_RADIX  // toml++ needs it; the <cfloat> of macOS lacks it where <cmath> has been included before
#define FLT_RADIX __FLT_RADIX__
#endif
#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "joust/time.hpp"

namespace joust::race {

// The shortest time that may be given where 0 has no meaning.
inline constexpr Duration kShortest = std::chrono::milliseconds(1);

// Overwrites `to` only if a value was given.
template <typename T>
void assign(T& to, const std::optional<T>& from) {
  if (from) to = *from;
}

// The errors in a scenario file, one line each, in the order of the file.
class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}
  void add(const toml::source_region& where, std::string_view key, std::string_view what);
  void add(const toml::source_region& where, std::string_view what);
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  std::string text() const;

 private:
  struct Problem {
    toml::source_position where;
    std::string what;
  };

  std::string file_;
  std::vector<Problem> all_;
};

// Reads one table key by key. A key that is read is allowed; finish() reports the others. A value of the
// wrong type or out of range is reported and treated as absent, so that one run reports all errors.
class TableReader {
 public:
  // `path` precedes the keys in messages: "load." for the table [load].
  TableReader(const toml::table& table, std::string path, Problems& problems)
      : table_(table), path_(std::move(path)), problems_(problems) {}

  std::optional<std::string> text(std::string_view key);
  std::optional<std::string> word(std::string_view key, std::span<const std::string> allowed);
  std::optional<bool> boolean(std::string_view key);
  // A whole number, or text with an SI unit ("4k").
  std::optional<std::uint64_t> count(std::string_view key, std::uint64_t least, std::uint64_t most);
  std::optional<std::uint64_t> bytes(std::string_view key, std::uint64_t least, std::uint64_t most);
  // Text with a unit ("10ms"), or 0.
  std::optional<Duration> duration(std::string_view key, Duration least, Duration most = Duration::max());
  // A text, or a list of texts.
  std::vector<std::string> texts(std::string_view key);
  // A CPU list: text, or one number.
  std::optional<std::string> scalar(std::string_view key);

  // The value of one of a race's own settings.
  std::optional<SettingValue> value(const Setting& row);
  // Sets those of the settings that the table has. `name`: that of the table in the rows.
  template <typename Struct>
  void read(SettingRows rows, std::string_view name, Struct& into) {
    for (const Setting& row : rows)
      if (row.in_file && row.table == name)
        if (const auto given = value(row)) row.set(into, *given);
  }

  const toml::table* table(std::string_view key);
  std::vector<const toml::table*> tables(std::string_view key);
  const toml::node* node(std::string_view key);

  // Reports an error in the value of `key`. If the key is absent, the error is at the table.
  void wrong(std::string_view key, std::string_view what);
  // Reports a key that is known only in another place, if it is given in this table.
  void misplaced(std::string_view key, std::string_view what);
  // Returns the keys that have not been read, with their values as text: an engine's knobs, a protocol's
  // parameters.
  std::vector<std::pair<std::string, std::string>> others();
  // Reports the keys that have not been read.
  void finish();

  const std::string& path() const { return path_; }
  Problems& problems() { return problems_; }

 private:
  void ask(std::string_view key) { asked_.emplace_back(key); }

  const toml::table& table_;
  std::string path_;
  Problems& problems_;
  std::vector<std::string> asked_;
  std::vector<std::string> misplaced_;
};

// Returns a string, number or boolean as text; nothing for a table, an array or a date.
std::optional<std::string> scalar_text(const toml::node& node);

}  // namespace joust::race
