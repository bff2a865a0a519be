// SPDX-License-Identifier: MIT
//
// Attacks engines with one seed after the other, for as long as asked, and stops at the first fault.
// script/soak builds and runs it.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>

#include "hostile/attack.hpp"

namespace joust::hostile {
namespace {

struct Soak {
  std::uint64_t seed = 1;
  double seconds = 0;  // 0: this seed only
  std::string engine, protocol;
  bool verbose = false;
};

const Engine* engine_of(const std::string& name) {
  for (const Engine* engine : engines_over_sockets(Role::serve))
    if (engine->name == name) return engine;
  return nullptr;
}

// The number of faults.
std::size_t run(const Soak& soak, std::uint64_t seed) {
  const Setting setting =
      setting_of(seed, engine_of(soak.engine),
                 soak.protocol.empty() ? std::nullopt : std::optional<std::string>(soak.protocol));
  fmt::print("{}\n", setting.replay());
  if (soak.verbose) fmt::print("  {}\n", setting.text());
  std::fflush(stdout);
  const auto faults = attack_server(setting);
  if (!faults.empty()) fmt::print("FAULTS: {}\n", setting.text());
  for (const std::string& fault : faults) fmt::print("  {}\n", fault);
  return faults.size();
}

int main(int count, char** arguments) {
  Soak soak;
  CLI::App options{"Attacks engines with hostile peers, one seed after the other"};
  options.add_option("--seed", soak.seed, "the first seed");
  options.add_option("--seconds", soak.seconds, "go on with further seeds for so long");
  options.add_option("--engine", soak.engine, "this one only");
  options.add_option("--protocol", soak.protocol, "this one only");
  options.add_flag("--verbose", soak.verbose, "say what each run consists of");
  CLI11_PARSE(options, count, arguments);
  if (!soak.engine.empty() && engine_of(soak.engine) == nullptr) {
    fmt::print(stderr, "no engine '{}' here that serves over sockets\n", soak.engine);
    return 2;
  }
  const Time until = Clock::now() + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(soak.seconds));
  do {
    if (run(soak, soak.seed++) > 0) return 1;
  } while (Clock::now() < until);
  return 0;
}

}  // namespace
}  // namespace joust::hostile

int main(int count, char** arguments) {
  return joust::hostile::main(count, arguments);
}
