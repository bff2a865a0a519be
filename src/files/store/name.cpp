// SPDX-License-Identifier: MIT
#include "files/store/name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace joust {
namespace {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Ignores the case of letters, because some file systems do.
bool is_reserved(std::string_view part) {
  const auto folded = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(part.substr(0, kTemporaryPrefix.size()), kTemporaryPrefix, {}, folded);
}

std::string_view objection_to_component(std::string_view part) {
  if (part.empty()) return "a part of the name is empty";
  if (part == "." || part == "..") return "'.' and '..' are no names";
  if (part.size() > kLongestComponent) return "a part of the name is longer than 255 bytes";
  if (is_reserved(part)) return "names of this kind are the server's own";
  return {};
}

}  // namespace

std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t slash = name.find('/');
    parts.push_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

SplitName split_name(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return {{}, name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

std::string joined(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.empty()) return std::string(folder.empty() ? name : folder);
  return fmt::format("{}/{}", folder, name);
}

std::string_view objection_to(std::string_view name) {
  if (name.empty()) return "the name is empty";
  if (name.size() > kLongestName) return "the name is longer than 1024 bytes";
  if (name.front() == '/') return "the name is absolute";
  if (!is_utf8(name)) return "the name is not UTF-8";
  if (has_control(name)) return "the name has a control character";
  for (const std::string_view part : components(name))
    if (const std::string_view objection = objection_to_component(part); !objection.empty()) return objection;
  return {};
}

}  // namespace joust
