// SPDX-License-Identifier: MIT
#include "engines/engine_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "engines/engine.hpp"

namespace joust {
namespace {

const std::vector<std::string> kWaits{"block", "spin", "adaptive"};
const std::vector<std::string> kSwitch{"on", "off", "true", "false"};  // flags have words, TOML has truth

const Knob* find_knob(const Engine& engine, const std::string& name) {
  const auto found = std::ranges::find(engine.knobs, name, &Knob::name);
  return found == engine.knobs.end() ? nullptr : &*found;
}

std::expected<void, std::string> set_threads(EngineChoice& choice, const std::string& value,
                                             const Engine& engine) {
  const auto threads = parse_count(value);
  if (!threads)
    return std::unexpected(
        fmt::format("'{}' is no number of threads; allowed: up to {}", value, kMostThreads));
  if (auto objection = thread_number_objection(engine, *threads)) return std::unexpected(*objection);
  if (!engine.several_loops && *threads > 1)
    return std::unexpected(
        fmt::format("threads={} means nothing to engine '{}'; leave it out", *threads, engine.name));
  choice.threads = *threads;
  choice.threads_given = true;
  return {};
}

std::expected<void, std::string> set_transport(EngineChoice& choice, const std::string& value,
                                               const Engine& engine) {
  static const std::vector<std::string> kTransports{"tcp", "unix"};
  if (std::ranges::count(kTransports, value) == 0)
    return std::unexpected(not_allowed(fmt::format("'{}' is no transport", value), value, kTransports));
  if (engine.transport != Transport::stream)
    return std::unexpected(
        fmt::format("engine '{}' has a transport of its own; leave transport={} out", engine.name, value));
  choice.transport = value;
  return {};
}

std::expected<void, std::string> set_own(EngineChoice& choice, const std::string& name,
                                         const std::string& value, const Engine& engine) {
  const Knob* const knob = find_knob(engine, name);
  if (knob == nullptr) {
    std::vector<std::string> names{"threads", "wait", "nodelay", "transport"};
    for (const Knob& each : engine.knobs) names.emplace_back(each.name);
    return std::unexpected(
        not_allowed(fmt::format("engine '{}' has no knob '{}'", engine.name, name), name, names));
  }
  const std::vector<std::string> choices(knob->choices.begin(), knob->choices.end());
  if (!knob->any_text && std::ranges::count(choices, value) == 0)
    return std::unexpected(
        not_allowed(fmt::format("'{}' is no value of knob '{}'", value, name), value, choices));
  choice.knobs[name] = value;
  return {};
}

}  // namespace

std::optional<std::string> thread_number_objection(const Engine& engine, std::uint64_t threads) {
  if (threads >= engine.least_threads && threads <= kMostThreads) return std::nullopt;
  return fmt::format("engine '{}' cannot have {} threads; allowed: {} to {}", engine.name, threads,
                     engine.least_threads, kMostThreads);
}

std::expected<void, std::string> set_knob(EngineChoice& choice, const std::string& knob,
                                          const std::string& value, const Engine& engine,
                                          const std::function<bool(const std::string&)>& is_option) {
  if (engine.run == nullptr) {  // not in this build
    choice.knobs[knob] = value;
    return {};
  }
  if (knob == "threads") return set_threads(choice, value, engine);
  if (knob == "transport") return set_transport(choice, value, engine);
  if (knob == "wait") {
    if (std::ranges::count(kWaits, value) == 0)
      return std::unexpected(not_allowed(fmt::format("'{}' is no way to wait", value), value, kWaits));
    choice.wait = value;
  } else if (knob == "nodelay") {
    if (std::ranges::count(kSwitch, value) == 0)
      return std::unexpected(fmt::format("'{}' is no value of nodelay; allowed: {}", value, join(kSwitch)));
    choice.nodelay = value == "on" || value == "true";
  } else if (find_knob(engine, knob) == nullptr && is_option(knob)) {
    choice.options[knob] = value;
  } else {
    return set_own(choice, knob, value, engine);
  }
  return {};
}

std::expected<Settings, std::string> settings_of_text(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  Settings settings;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos)
      return std::unexpected(
          fmt::format("'{}' is not KNOB=VALUE (write it like epoll:trigger=level)", parts[i]));
    const auto [knob, is_new] = settings.emplace(parts[i].substr(0, equals), parts[i].substr(equals + 1));
    if (!is_new) return std::unexpected(fmt::format("knob '{}' is given twice in '{}'", knob->first, text));
  }
  return settings;
}

}  // namespace joust
