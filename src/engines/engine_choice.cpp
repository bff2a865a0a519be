// SPDX-License-Identifier: MIT
#include "engines/engine_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "engines/engine.hpp"

namespace joust {
namespace {

const std::vector<std::string> kWaits{"block", "spin", "adaptive"};
const std::vector<std::string> kSwitch{"on", "off", "true", "false"};  // flags have words, TOML has truth

KnobRow row_of(const Knob& knob) {
  using Choices = std::vector<std::string>;
  const Settings unavailable = unavailable_choices(knob);
  return {.name = std::string(knob.name),
          .choices = knob.any_text ? Choices{} : Choices{knob.choices.begin(), knob.choices.end()},
          .default_value = std::string(knob.choices.front()),
          .kernel_thread = std::string(knob.kernel_thread),
          .unavailable = {unavailable.begin(), unavailable.end()}};
}

std::string words_for(const Engine& engine) {
  if (!engine.delivery.by_message()) return {};
  if (!engine.group.empty()) return "lossy messages, some to a group";
  return engine.delivery.lossy ? "lossy messages" : "messages";
}

const KnobRow* find_knob(const EngineRow& engine, const std::string& name) {
  const auto found = std::ranges::find(engine.knobs, name, &KnobRow::name);
  return found == engine.knobs.end() ? nullptr : &*found;
}

std::expected<void, std::string> set_threads(EngineChoice& choice, const std::string& value,
                                             const EngineRow& engine) {
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
                                               const EngineRow& engine) {
  static const std::vector<std::string> kTransports{"tcp", "unix"};
  if (std::ranges::count(kTransports, value) == 0)
    return std::unexpected(not_allowed(fmt::format("'{}' is no transport", value), value, kTransports));
  if (!engine.tcp)
    return std::unexpected(
        fmt::format("engine '{}' has a transport of its own; leave transport={} out", engine.name, value));
  choice.transport = value;
  return {};
}

std::expected<void, std::string> set_own(EngineChoice& choice, const std::string& name,
                                         const std::string& value, const EngineRow& engine) {
  const KnobRow* const knob = find_knob(engine, name);
  if (knob == nullptr) {
    std::vector<std::string> names{"threads", "wait", "nodelay", "transport"};
    for (const KnobRow& each : engine.knobs) names.push_back(each.name);
    return std::unexpected(
        not_allowed(fmt::format("engine '{}' has no knob '{}'", engine.name, name), name, names));
  }
  if (!knob->choices.empty() && std::ranges::count(knob->choices, value) == 0)
    return std::unexpected(
        not_allowed(fmt::format("'{}' is no value of knob '{}'", value, name), value, knob->choices));
  choice.knobs[name] = value;
  return {};
}

}  // namespace

EngineRow row_of(const Engine& engine) {
  EngineRow row{.name = std::string(engine.name),
                .serves = engine.serves,
                .dials = engine.dials,
                .tcp = engine.transport == Transport::stream,
                .listen = std::string(engine.listens_at()),
                .delivery = words_for(engine),
                .several_loops = engine.several_loops,
                .least_threads = engine.least_threads,
                .separate_processes = engine.separate_processes,
                .in_build = engine.run != nullptr,
                .in_process = engine.in_process,
                .unavailable = engine.unavailable ? engine.unavailable() : "",
                .not_public = std::string(engine.not_public)};
  for (const Knob& knob : engine.knobs) row.knobs.push_back(row_of(knob));
  return row;
}

std::optional<std::string> thread_number_objection(const EngineRow& engine, std::uint64_t threads) {
  if (threads >= engine.least_threads && threads <= kMostThreads) return std::nullopt;
  return fmt::format("engine '{}' cannot have {} threads; allowed: {} to {}", engine.name, threads,
                     engine.least_threads, kMostThreads);
}

std::expected<void, std::string> set_knob(EngineChoice& choice, const std::string& knob,
                                          const std::string& value, const EngineRow& engine,
                                          const std::function<bool(const std::string&)>& is_option) {
  if (!engine.in_build) {
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
