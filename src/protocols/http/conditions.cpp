// SPDX-License-Identifier: MIT
#include "protocols/http/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "protocols/http/date.hpp"
#include "protocols/http/field_text.hpp"

namespace joust::http {
namespace {

constexpr std::string_view kWeak = "W/";

enum class Comparison : std::uint8_t { weak, strong };

std::string_view opaque(std::string_view tag) {
  return tag.substr(tag.starts_with(kWeak) ? kWeak.size() : 0);
}

bool same_tag(std::string_view a, std::string_view b, Comparison comparison) {
  const bool any_weak = a.starts_with(kWeak) || b.starts_with(kWeak);
  return opaque(a) == opaque(b) && (comparison == Comparison::weak || !any_weak);
}

// Returns the entity tag at the beginning of `list`, and removes it; empty if none exists. A tag may contain
// commas.
std::string_view take_tag(std::string_view& list) {
  const std::size_t begin = std::min(list.find_first_not_of(" \t,"), list.size());
  list.remove_prefix(begin);
  const std::size_t quote = list.starts_with(kWeak) ? kWeak.size() : 0;
  const std::size_t end = list.substr(quote).starts_with('"') ? list.find('"', quote + 1) : list.npos;
  if (end == list.npos) return {};
  const std::string_view tag = list.substr(0, end + 1);
  list.remove_prefix(end + 1);
  return tag;
}

bool is_listed(std::string_view list, const std::string& tag, Comparison comparison) {
  if (trimmed(list) == "*") return true;
  for (std::string_view each; !(each = take_tag(list)).empty();)
    if (same_tag(each, tag, comparison)) return true;
  return false;
}

// True if the file is newer than the date; nothing if the text is no date.
std::optional<bool> is_newer(const Validators& file, std::string_view date, std::int64_t now_s) {
  const auto seconds = parse_date(date, now_s);
  return seconds ? std::optional(file.modified_s > *seconds) : std::nullopt;
}

// Parses a number of digits only; a number that does not fit becomes the greatest. Nothing for other texts.
std::optional<std::uint64_t> number(std::string_view digits) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    value = value > (kMost - digit) / 10 ? kMost : value * 10 + digit;
  }
  return value;
}

// Returns the only range of "bytes=..."; empty if it has none or several.
std::string_view single_range(std::string_view field) {
  constexpr std::string_view kUnit = "bytes=";
  const auto same = [](char a, char b) { return a == b || (a | 0x20) == b; };
  if (field.size() < kUnit.size() || !std::ranges::equal(field.substr(0, kUnit.size()), kUnit, same))
    return {};
  field.remove_prefix(kUnit.size());
  std::string_view only;
  while (!field.empty()) {
    const std::size_t comma = std::min(field.find(','), field.size());
    const std::string_view each = trimmed(field.substr(0, comma));
    if (!each.empty() && !only.empty()) return {};
    if (!each.empty()) only = each;
    field.remove_prefix(std::min(comma + 1, field.size()));
  }
  return only;
}

RangeChoice range_of(std::string_view field, std::uint64_t size) {
  using Kind = RangeChoice::Kind;
  const std::string_view range = single_range(field);
  const std::size_t dash = range.find('-');
  if (dash == range.npos) return {};
  const std::string_view from = range.substr(0, dash), to = range.substr(dash + 1);
  const auto first = number(from), last = number(to);
  if (from.empty()) {  // the last bytes
    if (!last) return {};
    if (*last == 0) return {Kind::not_satisfiable};
    const std::uint64_t bytes = std::min(*last, size);
    return size == 0 ? RangeChoice{} : RangeChoice{Kind::part, {size - bytes, bytes}};
  }
  if (!first || (!to.empty() && (!last || *last < *first))) return {};
  if (*first >= size) return {Kind::not_satisfiable};
  const std::uint64_t end = std::min(last.value_or(size - 1), size - 1);
  return {Kind::part, {*first, end - *first + 1}};
}

// True if If-Range names this version by a strong validator. A date is one only if the file cannot have
// changed again in its second. The time of the last change shows that, even if the time of modification has
// been set.
bool is_this_version(std::string_view if_range, const Validators& file, std::int64_t now_s) {
  if (if_range.find('"') != if_range.npos)
    return file.is_strong && same_tag(trimmed(if_range), file.tag, Comparison::strong);
  const auto date = parse_date(if_range, now_s);
  return date && *date == file.modified_s && *date == file.changed_s && file.has_date(now_s);
}

}  // namespace

Validators validators_of(const OpenFile& file) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const FileVersion& version = file.version;
  // The tag includes the time of the last change because the other time can be set to any value.
  const auto hex = [](std::int64_t time_ns) { return static_cast<std::uint64_t>(time_ns); };
  return {.tag = fmt::format("{}\"{:x}-{:x}-{:x}\"", file.settled ? "" : kWeak, version.size,
                             hex(version.modified_ns), hex(version.changed_ns)),
          .is_strong = file.settled,
          .modified_s = version.modified_ns / kSecond,
          .changed_s = version.changed_ns / kSecond};
}

Judgement judge(const Request& request, const Validators& file, std::int64_t now_s) {
  if (!request.if_match.empty()) {
    if (!is_listed(request.if_match, file.tag, Comparison::strong)) return Judgement::failed;
  } else if (is_newer(file, request.if_unmodified_since, now_s).value_or(false)) {
    return Judgement::failed;
  }
  if (!request.if_none_match.empty())
    return is_listed(request.if_none_match, file.tag, Comparison::weak) ? Judgement::not_modified
                                                                        : Judgement::send;
  return is_newer(file, request.if_modified_since, now_s).value_or(true) ? Judgement::send
                                                                         : Judgement::not_modified;
}

RangeChoice choose_range(const Request& request, const Validators& file, std::uint64_t size,
                         std::int64_t now_s) {
  if (request.method != Method::get || request.range.empty()) return {};
  if (!request.if_range.empty() && !is_this_version(request.if_range, file, now_s)) return {};
  return range_of(request.range, size);
}

}  // namespace joust::http
