// SPDX-License-Identifier: MIT
#include "hostile/setting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engines/template.hpp"
#include "hosting/mismatch.hpp"
#include "protocols/table.hpp"

namespace joust::hostile {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Streams of chance that belong to no peer.
enum Stream : std::uint64_t { kEngine = ~std::uint64_t{0} - 7, kProtocol, kKnobs, kOptions, kLimits, kCrowd };

conformance::Variant knobs_of(const Engine& engine, Chance chance) {
  conformance::Variant variant{&engine, {}, std::string(engine.name)};
  const auto note = [&](std::string_view what, std::string_view choice) {
    variant.name += fmt::format(" --{} {}", what, choice);
  };
  unsigned threads = chance.pick({1U, 1U, 2U, 3U});
  if (!engine.clients_wait.empty()) threads = 256;  // more than the crowd has peers at once
  const auto [wait, wait_name] = chance.pick<std::pair<Wait, std::string_view>>(
      {{Wait::block, "block"}, {Wait::block, "block"}, {Wait::adaptive, "adaptive"}, {Wait::spin, "spin"}});
  const bool alone = engine.least_threads == 0 && threads == 3;  // without a worker
  if (engine.several_loops) note("threads", std::to_string(variant.options.threads = alone ? 0 : threads));
  if (engine.wait_ignored.empty()) {
    variant.options.wait = wait;
    note("wait", wait_name);
  }
  for (const Knob& knob : engine.knobs) {
    if (!knob.for_others.empty()) continue;
    const std::string_view choice = chance.any_of(choices_of(knob));
    variant.options.knobs.emplace(knob.name, choice);
    note(knob.name, choice);
  }
  return variant;
}

Limits limits_of(Chance chance) {
  Limits limits;
  limits.connections = chance.pick<std::size_t>({3, 16, 100, 16'000});
  limits.read_bytes = chance.pick<std::size_t>({64, 1000, 16 << 10, 64 << 10});
  limits.read_bytes_per_turn = chance.pick<std::size_t>({1, 4096, 64 << 10, 256 << 10});
  limits.accepts_per_turn = chance.pick({1U, 3U, 64U});
  limits.dials_at_once = chance.pick({1U, 7U, 256U});
  limits.connect = chance.pick<Duration>({milliseconds(200), seconds(10)});
  limits.idle = chance.pick<Duration>({milliseconds(30), seconds(60), seconds(60), seconds(60)});
  limits.linger = chance.pick<Duration>({milliseconds(1), milliseconds(20), seconds(1)});
  limits.drain = chance.pick<Duration>({milliseconds(1), milliseconds(50), milliseconds(300)});
  limits.accept_pause = chance.pick<Duration>({milliseconds(1), milliseconds(20)});
  limits.file_ring_bytes = chance.pick<std::size_t>({1, 1000, 256 << 10});
  return limits;
}

using Options = std::map<std::string, std::string, std::less<>>;

void choose_options(const std::string& protocol, const Engine& engine, Chance chance, Options& options) {
  if (protocol == "broadcast") {
    options["flush"] = chance.pick({"batch", "each"});
    options["room-bytes"] = chance.pick({"128KiB", "1MiB", "1MiB", "64MiB"});
  }
  if (protocol == "file") {
    options["sample"] = fmt::format("sample={}", kSampleBytes);
    options["overwrite"] = chance.pick({"no", "yes"});
    options["max-file-bytes"] = "1MiB";
    if (engine.separate_processes) options["access"] = "read";  // it takes no uploads
    options["max-uploads"] = chance.pick({"2", "256", "256"});
    options["file-read"] = chance.pick({"read", "mmap", "sendfile"});
    if (!engine.no_file_mapping.empty() && options["file-read"] == "mmap") options["file-read"] = "read";
    options["file-write"] = chance.pick({"write", "splice", "mmap", "writev"});
    options["requests-per-connection"] = chance.pick({"0", "0", "5"});
  }
  if (protocol == "work") {
    options["work"] = chance.pick({"0", "20us"});
    options["work-kind"] = chance.pick({"busy", "sleep"});
    options["writes"] = chance.pick({"one", "two"});
  }
}

void choose_crowd(Chance chance, Setting& setting) {
  setting.at_once = chance.pick<std::size_t>({4, 32, 100});
  // With room for few, the others wait in the accept queue until those have left.
  setting.lives = setting.limits.connections < 10 ? 40 : 150;
  setting.appetite = {.behaviours = some_behaviours(chance),
                      .flood_bytes = chance.pick<std::uint64_t>({64 << 10, 512 << 10, 2 << 20}),
                      .pause = chance.pick<Duration>({milliseconds(3), milliseconds(20)})};
  // A request for work is short and may take milliseconds: longer floods of them would take minutes.
  if (setting.protocol == "work") setting.appetite.flood_bytes = 64 << 10;
  setting.peer_buffers = chance.pick({0, 0, 4096});
  setting.socket.send_buffer = chance.pick({0, 0, 4096});
  setting.socket.receive_buffer = chance.pick({0, 0, 4096});
  setting.unix_socket = chance.one_in(4);
  setting.on_disk = (setting.protocol == "file" || setting.protocol == "http") && chance.one_in(2);
  setting.appetite.answers = setting.role == Role::dial && setting.protocol == "echo" && !chance.one_in(3);
  setting.honest = 1 + chance.below(3);
  setting.stop_after = setting.lives * (1 + chance.below(8)) / 8;
  setting.second_stop = chance.one_in(3);
  if (setting.second_stop) setting.limits.drain = setting.limits.linger = seconds(600);
}

}  // namespace

std::vector<const Engine*> engines_over_sockets(Role role) {
  std::vector<const Engine*> all(engines().begin(), engines().end());
  all.push_back(&template_engine());
  std::erase_if(all, [role](const Engine* engine) {
    const bool plays = role == Role::serve ? engine->serves : engine->dials;
    if (!plays || engine->in_process || engine->delivery.by_message()) return true;
#ifdef __SANITIZE_THREAD__
    if (engine->name.starts_with("io-uring")) return true;  // memory shared with the kernel
    if (engine->name.starts_with("qt")) return true;        // a library compiled without the sanitizer
#endif
    return engine->unavailable != nullptr && !engine->unavailable().empty();
  });
  return all;
}

std::vector<std::string_view> choices_of(const Knob& knob) {
  std::vector<std::string_view> choices(knob.choices.begin(), knob.choices.end());
  std::erase_if(choices, [unavailable = unavailable_choices(knob)](std::string_view choice) {
#ifdef __SANITIZE_THREAD__
    if (choice == "io-uring") return true;  // memory shared with the kernel
#endif
    return unavailable.contains(choice);
  });
  return choices;
}

std::vector<std::string> protocols(const Engine& engine, Role role) {
  std::vector<std::string> names;
  for (const Protocol& protocol : builtin_protocols())
    // The peers know no messages of a script, which has tests of its own (tests/protocols/script_*).
    if (protocol.name != "script" && mismatch(engine, protocol, role).empty())
      names.push_back(protocol.name);
  return names;
}

Setting setting_of(std::uint64_t seed, Role role, const Engine* engine,
                   const std::optional<std::string>& protocol) {
  if (engine == nullptr) engine = Chance(seed, kEngine).any_of(engines_over_sockets(role));
  Setting setting;
  setting.seed = seed;
  setting.role = role;
  setting.variant = knobs_of(*engine, Chance(seed, kKnobs));
  setting.protocol = protocol ? *protocol : Chance(seed, kProtocol).any_of(protocols(*engine, role));
  const std::vector<Protocol> all = builtin_protocols();
  setting.parameters = standard_parameters(*std::ranges::find(all, setting.protocol, &Protocol::name), role);
  if (role == Role::serve)
    choose_options(setting.protocol, *engine, Chance(seed, kOptions), setting.parameters.options);
  setting.limits = limits_of(Chance(seed, kLimits));
  choose_crowd(Chance(seed, kCrowd), setting);
  return setting;
}

bool Setting::balances(std::uint64_t sent, std::uint64_t consumed) const {
  const bool sends_beside_reads = variant.engine->name.starts_with("two-");
  return sent == consumed || (sends_beside_reads && sent > consumed);
}

std::string Setting::text() const {
  std::string text = fmt::format(
      "{} {}, {}{}{}; {} of {} peers at once, behaviours {:x}, floods of {} bytes, stop after {}{}; "
      "connections {}, read {}, turn {}, "
      "accepts {}, idle {} ms, linger {} ms, drain {} ms",
      variant.name, role == Role::serve ? "serves" : "dials", protocol, on_disk ? " on disk" : "",
      unix_socket ? " over a unix socket" : "", at_once, lives, appetite.behaviours & 0xffff,
      appetite.flood_bytes, stop_after, second_stop ? ", twice" : "", limits.connections, limits.read_bytes,
      limits.read_bytes_per_turn, limits.accepts_per_turn, limits.idle / milliseconds(1),
      limits.linger / milliseconds(1), limits.drain / milliseconds(1));
  for (const auto& [name, value] : parameters.options) text += fmt::format(" --{}={}", name, value);
  return text;
}

std::string Setting::replay() const {
  return fmt::format("--seed {} --role {} --engine {} --protocol {}", seed,
                     role == Role::serve ? "serve" : "dial", variant.engine->name, protocol);
}

}  // namespace joust::hostile
