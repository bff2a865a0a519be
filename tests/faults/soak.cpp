// SPDX-License-Identifier: MIT
//
// Attacks engines for as long as asked: with hostile peers, one seed after the other, or with one failing
// call after the other. Stops at the first fault. script/soak builds and runs it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "faults/one_fault.hpp"
#include "hostile/attack.hpp"

namespace joust::hostile {
namespace {

constexpr int kUsage = 2;  // exit code: wrong arguments

struct Soak {
  std::uint64_t seed = 1;
  double seconds = 0;  // 0: this seed only
  std::string role, engine, protocol;
  bool verbose = false;
  bool faults = false;
  bool go_on = false;
  std::string exchange, variant, call;
  std::optional<int> error;
  std::optional<std::uint64_t> nth;
  std::uint64_t at_once = 0;
};

// Prints what a run has shown, and says whether that is something.
bool report(const std::vector<std::string>& faults) {
  for (const std::string& fault : faults) fmt::print("  FAULT: {}\n", fault);
  std::fflush(stdout);
  return !faults.empty();
}

void announce(const std::string& replay) {
  fmt::print("{}\n", replay);
  std::fflush(stdout);
}

const Engine* engine_of(const std::string& name, Role role) {
  for (const Engine* engine : engines_over_sockets(role))
    if (engine->name == name) return engine;
  return nullptr;
}

// One seed in three is for the client side.
Role role_of(const Soak& soak, std::uint64_t seed) {
  return soak.role == "dial" || (soak.role.empty() && seed % 3 == 0) ? Role::dial : Role::serve;
}

Time until_of(const Soak& soak) {
  return Clock::now() + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(soak.seconds));
}

int attack_by_seed(const Soak& soak) {
  const Time until = until_of(soak);
  int failed = 0;
  std::uint64_t seed = soak.seed;
  do {
    const Role role = role_of(soak, seed);
    const Setting setting =
        setting_of(seed++, role, engine_of(soak.engine, role),
                   soak.protocol.empty() ? std::nullopt : std::optional<std::string>(soak.protocol));
    announce(setting.replay());
    if (soak.verbose) fmt::print("  {}\n", setting.text());
    if (report(attack(setting))) failed = 1;
  } while (Clock::now() < until && (failed == 0 || soak.go_on));
  return failed;
}

bool is(const std::string& wanted, std::string_view one) {
  return wanted.empty() || wanted == one;
}

struct Exchanging {
  const faults::Exchange* exchange;
  conformance::Variant variant;
};

std::vector<Exchanging> exchanges_of(const Soak& soak) {
  std::vector<Exchanging> all;
  for (const faults::Exchange* exchange : faults::exchanges())
    for (conformance::Variant& variant : faults::variants_for(*exchange))
      if (is(soak.exchange, exchange->name) && is(soak.variant, variant.name) &&
          is(soak.engine, variant.engine->name))
        all.push_back({exchange, std::move(variant)});
  return all;
}

int try_each_fault(const Soak& soak) {
  int failed = 0, tried = 0;
  for (const auto& [exchange, variant] : exchanges_of(soak))
    for (const faults::Fault& fault : faults::faults_of(variant, *exchange, faults::kAllPlaces, soak.seed)) {
      if (!is(soak.call, fault.call->name()) || soak.error.value_or(fault.error) != fault.error) continue;
      if (soak.nth.value_or(fault.nth) != fault.nth) continue;
      ++tried;
      announce(faults::replay(variant, *exchange, faults::arguments(fault)));
      if (!report(faults::try_faults(variant, *exchange, {&fault, 1}))) continue;
      failed = 1;
      if (!soak.go_on) return failed;
    }
  if (tried > 0) return failed;
  fmt::print(stderr, "no engine makes that call so often, or it has no such error\n");
  return kUsage;
}

// As many faults as asked for, anywhere in one exchange. All of it is chosen by the seed.
int try_faults_at_once(const Soak& soak) {
  const Time until = until_of(soak);
  const std::vector<Exchanging> all = exchanges_of(soak);
  int failed = 0;
  std::uint64_t seed = soak.seed;
  do {
    Chance chance(seed, 0);
    const auto& [exchange, variant] = chance.any_of(all);
    const auto possible = faults::faults_of(variant, *exchange, 8, seed);
    std::vector<faults::Fault> chosen;
    while (chosen.size() < soak.at_once) chosen.push_back(chance.any_of(possible));
    announce(faults::replay(variant, *exchange, fmt::format("--at-once {} --seed {}", soak.at_once, seed++)));
    for (const faults::Fault& fault : chosen)
      if (soak.verbose) fmt::print("  {}\n", faults::text(fault));
    if (report(faults::try_faults(variant, *exchange, chosen))) failed = 1;
  } while (Clock::now() < until && (failed == 0 || soak.go_on));
  return failed;
}

// CLI11 would read -1 as the largest number there is.
std::string whole_number(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : fmt::format("'{}' is not a whole number", text);
}

void describe(CLI::App& options, Soak& soak) {
  options.add_option("--seed", soak.seed, "the first seed")->check(whole_number);
  options.add_option("--seconds", soak.seconds, "go on with further seeds for so long")
      ->check(CLI::NonNegativeNumber);
  options.add_option("--role", soak.role, "serve or dial: this one only")
      ->check(CLI::IsMember({"serve", "dial"}));
  options.add_option("--engine", soak.engine, "this one only");
  options.add_option("--protocol", soak.protocol, "this one only");
  options.add_flag("--verbose", soak.verbose, "say what each run consists of");
  options.add_flag("--go-on", soak.go_on, "do not stop at the first fault");
  auto* const faults =
      options.add_flag("--faults", soak.faults, "no hostile peers: every call fails once, at every place");
  options.add_option("--exchange", soak.exchange, "with --faults: this one only")->needs(faults);
  options.add_option("--variant", soak.variant, "with --faults: this one only")->needs(faults);
  options.add_option("--call", soak.call, "with --faults: this one only")->needs(faults);
  options.add_option("--error", soak.error, "with --faults: this errno only, -1 to fall short")
      ->needs(faults);
  options.add_option("--nth", soak.nth, "with --faults: which of the calls fails")
      ->check(whole_number)
      ->needs(faults);
  options.add_option("--at-once", soak.at_once, "with --faults: so many in one exchange, chosen by the seed")
      ->check(whole_number)
      ->needs(faults);
}

// CLI11 has an exit code of its own for each kind of mistake; the scripts of this project have 2 for all.

int main(int count, char** arguments) {
  Soak soak;
  CLI::App options{"Attacks engines with hostile peers, or with calls that fail", "script/soak"};
  describe(options, soak);
  try {
    options.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return options.exit(error) == 0 ? 0 : kUsage;
  }
  if (!soak.engine.empty() && engine_of(soak.engine, Role::serve) == nullptr) {
    fmt::print(stderr, "no engine '{}' here that serves over sockets\n", soak.engine);
    return kUsage;
  }
  const Engine* engine = soak.engine.empty() ? find_engine("threads") : engine_of(soak.engine, Role::serve);
  const std::vector<std::string> known = protocols(*engine, soak.role == "dial" ? Role::dial : Role::serve);
  if (!soak.protocol.empty() && std::ranges::find(known, soak.protocol) == known.end()) {
    fmt::print(stderr, "no protocol '{}'; there are: {}\n", soak.protocol, join(known));
    return kUsage;
  }
  if (!soak.faults) return attack_by_seed(soak);
  if (exchanges_of(soak).empty()) {
    fmt::print(stderr, "no such exchange, variant or engine\n");
    return kUsage;
  }
  return soak.at_once > 0 ? try_faults_at_once(soak) : try_each_fault(soak);
}

}  // namespace
}  // namespace joust::hostile

int main(int count, char** arguments) {
  return joust::hostile::main(count, arguments);
}
