// SPDX-License-Identifier: MIT
#include "base/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/text.hpp"

namespace joust {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

using StandIn = std::pair<std::string_view, std::string_view>;
constexpr std::array kStandIns{StandIn{"█", "#"}, StandIn{"▉", "#"}, StandIn{"▊", "#"},  StandIn{"▋", "#"},
                               StandIn{"▌", "#"}, StandIn{"▍", " "}, StandIn{"▎", " "},  StandIn{"▏", " "},
                               StandIn{"─", "-"}, StandIn{"│", "|"}, StandIn{"–", "-"},  StandIn{"≥", ">"},
                               StandIn{"≤", "<"}, StandIn{"µ", "u"}, StandIn{"±", "+-"}, StandIn{"×", "x"}};

std::string stand_in(std::string_view character) {
  const auto* const found = std::ranges::find(kStandIns, character, &StandIn::first);
  if (found != kStandIns.end()) return std::string(found->second);
  std::string bytes;
  for (const char c : character) bytes += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return bytes;
}

}  // namespace

bool obeys_escapes(int descriptor) {
  const std::string_view kind = environment("TERM");
  return !kind.empty() && kind != "dumb" && ::isatty(descriptor) == 1;
}

bool shows_colours(int descriptor) {
  return environment("NO_COLOR").empty() && obeys_escapes(descriptor);
}

std::size_t columns_of(int descriptor, std::size_t otherwise) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

bool locale_has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale(environment(name));
    if (locale.empty()) continue;
    std::ranges::transform(locale, locale.begin(), [](unsigned char c) { return std::tolower(c); });
    return locale.contains("utf-8") || locale.contains("utf8");
  }
  return true;
}

std::string in_locale(std::string_view text) {
  if (locale_has_utf8()) return std::string(text);
  std::string shown;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, utf8_sequence(text)));
    if (static_cast<unsigned char>(character.front()) < 0x80)
      shown += character;
    else
      shown += stand_in(character);
    text.remove_prefix(character.size());
  }
  return shown;
}

void print_to_stderr(const std::string& text) noexcept {
  try {
    const std::string shown = in_locale(text);
    std::fwrite(shown.data(), 1, shown.size(), stderr);
  } catch (const std::bad_alloc&) {
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

void redraw_line_of_stderr(const std::string& line) {
  print_to_stderr("\r\x1b[K" + line);
}

}  // namespace joust
