// SPDX-License-Identifier: MIT
#include "cli/advise/chosen_race.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "engines/engine.hpp"
#include "hosting/mismatch.hpp"

namespace joust::advise {
namespace {

using EngineNames = std::vector<std::string>;

// A thread for each connection is a choice up to here. Beyond, its stacks and switches are what is measured.
constexpr std::uint64_t kMostThreads = 1000;
// From this work on a request is worth its way to another thread, and the load needs little of a core.
constexpr Duration kLongWork = std::chrono::microseconds(20);
// The share of a core that a loop can work without a queue that grows.
constexpr double kMostWorkOfCore = 0.8;
// The fewest messages from which a median and a cost of a contestant are known.
constexpr double kFewestMessages = 100;
// Requests with work have no payload; one up to this size is small beside any work.
constexpr std::uint64_t kSmallPayload = 1024;

// Returns whether more than one core is to work: for a long request, or because one has no time for all.
bool wants_cores(const Question& question) {
  return question.work >= kLongWork || question.work_per_s() > kMostWorkOfCore;
}

EngineNames wanted_engines(const Question& question, std::size_t cores) {
  EngineNames engines;
  if (question.work_per_s() <= kMostWorkOfCore) engines = {"epoll", "io-uring"};
  if (wants_cores(question) && cores > 1)
    for (const char* pool : {"epoll-pool", "io-uring-pool"})
      engines.push_back(fmt::format("{}:threads={}", pool, cores));
  if (question.connections <= kMostThreads) engines.emplace_back("threads");
  if (question.datagrams)
    for (const char* engine : {"udp-reuseport", "udp-batched"}) engines.emplace_back(engine);
  return engines;
}

// Returns the engines that can run here, and adds a remark for each of the others.
EngineNames available_engines(const Question& question, std::size_t cores, EngineNames& remarks) {
  EngineNames here;
  for (const std::string& name : wanted_engines(question, cores)) {
    const Engine* const engine = find_engine(name.substr(0, name.find(':')));
    const std::string reason = engine == nullptr                ? "this program is without it"
                               : engine->unavailable == nullptr ? ""
                                                                : engine->unavailable();
    if (reason.empty())
      here.push_back(name);
    else
      remarks.push_back(fmt::format("{} does not race: {}", name, reason));
  }
  return here;
}

void check_work(const Question& question, std::size_t cores) {
  if (question.work == Duration{}) return;
  if (question.payload.value_or(0) > kSmallPayload)
    throw UsageError(
        fmt::format("--payload {} with --work: requests with work have no payload, and so large a one is "
                    "work of its own; ask twice, once for each",
                    format_size(*question.payload)));
  const double most = kMostWorkOfCore * static_cast<double>(cores);
  if (question.work_per_s() > most)
    throw UsageError(fmt::format(
        "{} requests a second (--connections, --idle) of {} are {:.2g} s of work in each second, more than "
        "{} can do without a queue that grows; ask for fewer connections, more of them idle, or less work",
        format_rate(question.rate_per_s()), format_duration(question.work), question.work_per_s(),
        counted(cores, "core")));
}

void check_datagrams(const Question& question, const Protocol& protocol) {
  if (!question.datagrams || !question.payload) return;
  const Engine* const engine = find_engine("udp-batched");
  const std::string reason =
      engine == nullptr ? std::string() : payload_mismatch(*engine, protocol, *question.payload);
  if (!reason.empty())
    throw UsageError(fmt::format("--datagrams with --payload {}: {}; ask without --datagrams",
                                 format_size(*question.payload), reason));
}

// Refuses a race in which a contestant would have too few messages to tell anything. The reference races
// twice.
void check_messages(const Question& question, std::size_t contestants) {
  if (question.rate_per_s() == 0) return;
  const double share =
      std::chrono::duration<double>(question.time).count() / static_cast<double>(contestants + 1);
  if (question.rate_per_s() * share >= kFewestMessages) return;
  const double needed = kFewestMessages * static_cast<double>(contestants + 1) / question.rate_per_s();
  throw UsageError(fmt::format(
      "{} connections of which {:.3g} % send in a second (--idle) make {:.3g} messages a second, and in {} "
      "too few for each of {} contestants; ask for more connections, fewer of them idle, or --time {:.0f}s",
      question.connections, 100 * (1 - question.idle), question.rate_per_s(), format_duration(question.time),
      contestants, needed + 1));
}

}  // namespace

ChosenRace race_for(const Question& question, const Program& program, std::size_t cores) {
  const bool works = question.work > Duration{};
  const char* const name = works ? "work" : "echo";
  const Protocol* const protocol = program.find_protocol(name);
  check_work(question, cores);
  check_datagrams(question, *protocol);
  ChosenRace race;
  const EngineNames engines = available_engines(question, cores, race.remarks);
  if (engines.size() < 2)
    throw UsageError(fmt::format("there is nothing to choose here: {}",
                                 engines.empty() ? "no engine fits" : engines.front() + " alone fits"));
  check_messages(question, engines.size());
  const auto add = [&](const char* flag, std::string value) {
    race.words.insert(race.words.end(), {flag, std::move(value)});
  };
  add("--server", join(engines, ","));
  add("-p", name);
  add("-c", fmt::format("{}", question.connections));
  if (question.rate_per_s() > 0) add("-R", fmt::format("{:.6g}", question.rate_per_s()));
  if (works) {
    add("--work", duration_word(question.work));
    if (question.payload)
      race.remarks.push_back(fmt::format("requests with work have no payload, so --payload {} is left out",
                                         format_size(*question.payload)));
  } else if (question.payload) {
    add("--payload", fmt::format("{}", *question.payload));
  }
  if (wants_cores(question) && cores > 1) {
    add("--server-cpus", "any");  // how many cores an engine uses is a part of the question
    add("--client-cpus", "any");
  }
  add("--time", duration_word(question.time));
  return race;
}

}  // namespace joust::advise
