// SPDX-License-Identifier: MIT
#include "cli/common/meant_option.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace joust {
namespace {

// Names of options in other programs, and the names here; the first that a command has is meant.
constexpr std::array kElsewhere{std::pair{"address", "listen connect"},
                                std::pair{"bind", "listen"},
                                std::pair{"bytes", "payload"},
                                std::pair{"clients", "connections"},
                                std::pair{"concurrency", "connections"},
                                std::pair{"count", "messages rounds"},
                                std::pair{"directory", "root into"},
                                std::pair{"folder", "root into"},
                                std::pair{"host", "listen connect"},
                                std::pair{"keepalive", "reconnect"},
                                std::pair{"length", "payload"},
                                std::pair{"loops", "threads"},
                                std::pair{"parallel", "connections"},
                                std::pair{"pipeline", "depth"},
                                std::pair{"port", "listen connect"},
                                std::pair{"qps", "rate"},
                                std::pair{"requests", "messages"},
                                std::pair{"rps", "rate"},
                                std::pair{"runs", "rounds"},
                                std::pair{"seconds", "duration"},
                                std::pair{"size", "payload"},
                                std::pair{"time", "duration"},
                                std::pair{"timeout", "request-timeout idle-timeout"},
                                std::pair{"url", "connect"},
                                std::pair{"workers", "threads"}};

std::string without_dashes(std::string_view option) {
  const std::size_t begin = std::min(option.find_first_not_of('-'), option.size());
  return std::string(option.substr(begin, option.find('=') - begin));
}

}  // namespace

std::string meant_option(std::string_view word, std::span<const std::string> options) {
  std::vector<std::string> names;
  for (const std::string& option : options)
    if (option.starts_with("--")) names.push_back(without_dashes(option));
  const std::string wanted = without_dashes(word);
  if (const std::string near = nearest(wanted, names); !near.empty()) return "--" + near;
  const auto* const known = std::ranges::find(
      kElsewhere, std::string_view(wanted), [](const auto& entry) { return std::string_view(entry.first); });
  if (known == kElsewhere.end()) return {};
  for (std::string_view here = known->second; !here.empty();) {
    const std::string name(here.substr(0, here.find(' ')));
    if (std::ranges::find(names, name) != names.end()) return "--" + name;
    here.remove_prefix(std::min(name.size() + 1, here.size()));
  }
  return {};
}

}  // namespace joust
