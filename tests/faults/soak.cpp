// SPDX-License-Identifier: MIT
//
// Attacks engines for as long as asked: with hostile peers, one seed after the other, or with one failing
// call after the other. Stops at the first fault. script/soak builds and runs it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>

#include "faults/one_fault.hpp"
#include "hostile/attack.hpp"

namespace joust::hostile {
namespace {

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

int attack_by_seed(const Soak& soak) {
  const Time until =
      Clock::now() + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(soak.seconds));
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

int try_faults(const Soak& soak) {
  const auto is = [](const auto& wanted, const auto& one) { return wanted.empty() || wanted == one; };
  int failed = 0;
  for (const faults::Exchange* exchange : faults::exchanges())
    for (const conformance::Variant& variant : faults::variants_for(*exchange)) {
      if (!is(soak.exchange, exchange->name) || !is(soak.variant, variant.name)) continue;
      if (!is(soak.engine, variant.engine->name)) continue;
      for (const faults::Fault& fault :
           faults::faults_of(variant, *exchange, ~std::uint64_t{0} - 2, soak.seed)) {
        if (!is(soak.call, fault.call->name()) || soak.error.value_or(fault.error) != fault.error) continue;
        if (soak.nth.value_or(fault.nth) != fault.nth) continue;
        announce(faults::replay(variant, *exchange, fault));
        if (!report(faults::try_fault(variant, *exchange, fault))) continue;
        failed = 1;
        if (!soak.go_on) return failed;
      }
    }
  return failed;
}

int main(int count, char** arguments) {
  Soak soak;
  CLI::App options{"Attacks engines with hostile peers, or with calls that fail"};
  options.add_option("--seed", soak.seed, "the first seed");
  options.add_option("--seconds", soak.seconds, "go on with further seeds for so long");
  options.add_option("--role", soak.role, "serve or dial: this one only");
  options.add_option("--engine", soak.engine, "this one only");
  options.add_option("--protocol", soak.protocol, "this one only");
  options.add_flag("--verbose", soak.verbose, "say what each run consists of");
  options.add_flag("--go-on", soak.go_on, "do not stop at the first fault");
  options.add_flag("--faults", soak.faults, "no hostile peers: every call fails once, at every place");
  options.add_option("--exchange", soak.exchange, "with --faults: this one only");
  options.add_option("--variant", soak.variant, "likewise");
  options.add_option("--call", soak.call, "likewise");
  options.add_option("--error", soak.error, "likewise: the errno, -1 to fall short");
  options.add_option("--nth", soak.nth, "likewise: which of the calls");
  CLI11_PARSE(options, count, arguments);
  if (!soak.engine.empty() && engine_of(soak.engine, Role::serve) == nullptr) {
    fmt::print(stderr, "no engine '{}' here that serves over sockets\n", soak.engine);
    return 2;
  }
  return soak.faults ? try_faults(soak) : attack_by_seed(soak);
}

}  // namespace
}  // namespace joust::hostile

int main(int count, char** arguments) {
  return joust::hostile::main(count, arguments);
}
