// SPDX-License-Identifier: MIT
#include "base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace joust {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
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

}  // namespace joust
