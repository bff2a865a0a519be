// SPDX-License-Identifier: MIT
#include "faults/one_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "conformance/resources.hpp"
#include "hostile/chance.hpp"
#include "hostile/setting.hpp"
#include "hostile/watchdog.hpp"

namespace joust::faults {
namespace {

// Which calls of so many fail in turn.
std::set<std::uint64_t> chosen(std::uint64_t made, std::uint64_t places, hostile::Chance& chance) {
  std::set<std::uint64_t> numbers;
  if (made <= places)
    for (std::uint64_t number = 1; number <= made; ++number) numbers.insert(number);
  while (numbers.size() < std::min(made, places))
    numbers.insert(chance.pick<std::uint64_t>({1, made, 1 + chance.below(made)}));
  return numbers;
}

std::string text(std::span<const Fault> faults) {
  std::string words;
  for (const Fault& fault : faults) words += (words.empty() ? "" : ", ") + text(fault);
  return words;
}

}  // namespace

std::vector<std::string> try_faults(const conformance::Variant& variant, const Exchange& exchange,
                                    std::span<const Fault> faults) {
  hostile::Watchdog watchdog(fmt::format("{}, {}: {}", variant.name, exchange.name, text(faults)));
  const auto before = conformance::Resources::now();
  reset_counts();
  inject(faults);
  const Outcome outcome = exchange.run(variant);
  stop_injecting();
  watchdog.phase("what is left");
  std::vector<std::string> broken = broken_rules(faults, outcome);
  for (std::string& left : before.not_back()) broken.push_back(std::move(left));
  return broken;
}

std::vector<Fault> faults_of(const conformance::Variant& variant, const Exchange& exchange,
                             std::uint64_t places, std::uint64_t seed) {
  exchange.run(variant);  // what is made once in a program's life is made here
  reset_counts();
  const Outcome plain = exchange.run(variant);
  if (plain.lost + plain.refused > 0 || !plain.ended_by.empty() || !plain.faults.empty())
    throw std::runtime_error(fmt::format("{}, {}: fails without a fault", variant.name, exchange.name));
  std::vector<Fault> faults;
  hostile::Chance chance(seed, 0);
  for (const Call* call : all_calls())
    if (const std::uint64_t made = call->made(); made > 0)
      for (const int error : call->faults())
        if (impossible(variant, *call, error).empty())
          for (const std::uint64_t nth : chosen(made, places, chance))
            faults.push_back({.call = call, .error = error, .nth = nth});
  return faults;
}

std::vector<conformance::Variant> variants_for(const Exchange& exchange) {
  std::vector<conformance::Variant> all;
  for (const Engine* engine : hostile::engines_over_sockets(exchange.role)) {
    // Faults are planted in calls of this program: they reach neither its processes nor what is loaded.
    if (engine->separate_processes || engine->in_module) continue;
    if (exchange.by_ring && !engine->no_file_ring.empty()) continue;
    if (exchange.by_mapping && !engine->no_file_mapping.empty()) continue;
    conformance::Variant plain{engine, {}, std::string(engine->name)};
    for (const Knob& knob : engine->knobs) plain.options.knobs.emplace(knob.name, knob.choices.front());
    all.push_back(plain);
    for (const Knob& knob : engine->knobs)
      for (const std::string_view choice : hostile::choices_of(knob)) {
        if (choice == knob.choices.front()) continue;
        conformance::Variant& other = all.emplace_back(plain);
        other.name += fmt::format("-{}-{}", knob.name, choice);
        other.options.knobs[std::string(knob.name)] = choice;
      }
    if (!engine->several_loops) continue;
    for (const unsigned threads : {3U, 0U}) {
      if (threads < engine->least_threads) continue;
      all.push_back(plain);
      all.back().name += fmt::format("-threads-{}", threads);
      all.back().options.threads = threads;
    }
  }
  return all;
}

}  // namespace joust::faults
