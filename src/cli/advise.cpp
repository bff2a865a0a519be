// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/arguments.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "engines/engine.hpp"
#include "hosting/mismatch.hpp"
#include "joust/time.hpp"
#include "measure/affinity.hpp"
#include "race/judgement/advice.hpp"
#include "race/scenario/shell_command.hpp"

namespace joust::advise {
namespace {

// A user's description of the traffic.
struct Question {
  std::uint64_t connections = 64;
  double idle = 0;  // the share of connections that send nothing in a second: 0.95 is 95 %; 0: a closed loop
  Duration work{};  // of the server, for each request
  std::optional<std::uint64_t> payload{};  // bytes of a message; empty: those of every race
  bool datagrams = false;                  // messages may be lost
  Duration time = std::chrono::seconds(60);

  // Returns messages per second of all connections together; 0 where each sends as soon as it has its reply.
  double rate_per_s() const { return idle == 0 ? 0 : static_cast<double>(connections) * (1 - idle); }
  // Returns the seconds that a server works in a second. 0 in a closed loop.
  double work_per_s() const { return rate_per_s() * std::chrono::duration<double>(work).count(); }
};

// A part of the question: an option, and what is asked on a terminal.
struct Part {
  const char* flag;
  const char* type;  // the word for its value; empty: a flag, and yes or no on a terminal
  const char* help;  // without the default
  const char* asked;
  const char* standard;
  // Takes a value. Returns the error message, or an empty string.
  std::string (*take)(Question& question, const std::string& text);
};

constexpr std::uint64_t kMostConnections = 1'000'000, kMostPayload = 1U << 20;
constexpr Duration kMostWork = std::chrono::milliseconds(100);  // of the protocol work, for one request

std::string take_connections(Question& question, const std::string& text) {
  const auto number = parse_count(text);
  if (!number) return number.error();
  if (*number < 1 || *number > kMostConnections)
    return fmt::format("'{}' is not between 1 and {}", text, grouped(kMostConnections));
  question.connections = *number;
  return {};
}

std::string take_idle(Question& question, const std::string& text) {
  if (text == "0" || text == "0%") {
    question.idle = 0;
    return {};
  }
  const auto share = parse_percent(text);
  if (!share) return share.error();
  question.idle = *share;
  return {};
}

std::string take_work(Question& question, const std::string& text) {
  const auto time = parse_duration(text);
  if (!time) return time.error();
  if (*time > kMostWork) return fmt::format("'{}' is not between 0 and {}", text, format_duration(kMostWork));
  question.work = *time;
  return {};
}

std::string take_payload(Question& question, const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes) return bytes.error();
  if (*bytes < 1 || *bytes > kMostPayload)
    return fmt::format("'{}' is not between 1 byte and {}", text, format_size(kMostPayload));
  question.payload = *bytes;
  return {};
}

std::string take_datagrams(Question& question, const std::string& text) {
  if (text != "yes" && text != "no") return fmt::format("'{}' is neither yes nor no", text);
  question.datagrams = text == "yes";
  return {};
}

constexpr std::array<Part, 5> kParts{{
    {"--connections", "N", "connections, open at the same time", "How many connections are open at a time?",
     "64", take_connections},
    {"--idle", "SHARE",
     "connections that send nothing in a second: 95%. The others send one message each, at random times "
     "(-R); 0: each connection sends its next message when it has its reply",
     "Which share of them sends nothing in a second (0: each sends when it has its reply)?", "0%", take_idle},
    {"--work", "TIME", "how long the server computes for a request, up to 100ms",
     "How long does the server compute for a request?", "0", take_work},
    {"--payload", "BYTES", "bytes of a message and of its reply, up to 1MiB; not with --work",
     "How many bytes has a message?", "32", take_payload},
    {"--datagrams", "", "messages may be lost: engines over UDP race too",
     "May messages be lost (yes or no)?", "no", take_datagrams},
}};

// Reads an answer; an empty one is the default.
std::string answer_to(const Part& part) {
  print_to_stderr(fmt::format("{} [{}] ", part.asked, part.standard));
  std::string line;
  if (!std::getline(std::cin, line))
    throw UsageError("the terminal was closed before all was answered; nothing was run");
  const std::size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t");
  return begin == std::string::npos ? part.standard : line.substr(begin, end - begin + 1);
}

void ask(const Part& part, Question& question) {
  constexpr int kTries = 3;
  std::string problem;
  for (int i = 0; i < kTries; ++i) {
    const std::string answer = answer_to(part);
    problem = part.take(question, answer);
    if (problem.empty()) return;
    print_to_stderr(fmt::format("  {}\n", problem));
  }
  throw UsageError(fmt::format("{}: {}", part.flag, problem));
}

// Asks for all parts on the terminal of standard input. Throws UsageError at its end, and after three answers
// that do not fit.
Question ask() {
  Question question;
  for (const Part& part : kParts)
    if (part.take != take_payload || question.work == Duration{}) ask(part, question);  // work has no payload
  return question;
}

// A race that answers a question.
struct ChosenRace {
  std::vector<std::string> words{};    // behind `joust race`
  std::string safe{};                  // what to take, and why, if the race does not tell
  std::vector<std::string> remarks{};  // what the race leaves out, and why
};

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

// Returns what to take where the machine does not tell. The shipped findings (docs/howto/choose-an-engine.md)
// say it of machines that do.
std::string safe_choice(const Question& question, const EngineNames& engines) {
  const bool is_for_pool = wants_cores(question);
  const auto found = std::ranges::find_if(engines, [&](const std::string& engine) {
    return engine.starts_with(is_for_pool ? "epoll-pool" : "epoll");
  });
  if (found == engines.end()) return {};
  return fmt::format("The safe choice is {}: {} (docs/howto/choose-an-engine.md)", *found,
                     is_for_pool ? "a request of this length is worth its way to another thread"
                                 : "one thread has time for all messages, and epoll runs on every Linux");
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

// Chooses engines and load. `cores`: those that this process may use. Throws UsageError for a question that
// no race answers, with what to ask in its place.
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
  race.safe = safe_choice(question, engines);
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

// Options that are passed on to the race.
struct PassedOn {
  const char* flag;
  const char* type;
  const char* help;
  bool is_report = false;
};
constexpr PassedOn kPassedOn[] = {
    {"--json", "FILE", "write the result of the race to this file; - prints it instead of the table", true},
    {"--html", "FILE", "write the result as a page: pictures, tables, checks", true},
    {"--progress", "WORD", "how the race reports while it runs: live, lines, json or none [live]"},
};

struct Advise {
  const Program& program;
  Question question{};
  std::vector<Option> given{};  // of the parts of the question
  std::vector<std::string> passed_on{};
  std::string files{};  // where the report is
  std::string safe{};   // ChosenRace::safe
  bool dry_run = false;

  void add_to(Command command);
  int run();
  std::string answer(const race::RaceResult& result) const;
};

void Advise::add_to(Command command) {
  const auto group = "The traffic";
  for (const Part& part : kParts) {
    const bool is_flag = *part.type == '\0';
    const auto take = [this, &part](const std::string& text) { return part.take(question, text); };
    Option option =
        is_flag ? command.add_flag(
                      part.flag, [this, &part] { part.take(question, "yes"); }, part.help)
                : command.add_option(part.flag, take, fmt::format("{} [{}]", part.help, part.standard))
                      .type_name(part.type);
    given.push_back(option.group(group));
  }
  const auto race = "The race";
  add_duration(command, "--time", question.time, "how long is raced [60s]", std::chrono::seconds(1))
      .group(race);
  for (const PassedOn& one : kPassedOn) {
    const auto take = [this, &one](const std::string& text) -> std::string {
      passed_on.insert(passed_on.end(), {one.flag, text});
      if (one.is_report && text != "-") files += fmt::format("{}{}", files.empty() ? "" : " and ", text);
      return {};
    };
    command.add_option(one.flag, take, one.help).type_name(one.type).group(race);
  }
  command.add_flag("--dry-run", dry_run, "show the command of the race, run nothing").group(race);
}

std::string Advise::answer(const race::RaceResult& result) const {
  const std::string where = files.empty() ? "--html FILE and --json FILE keep the report"
                                          : fmt::format("The report is in {}", files);
  const race::Advice advice = race::advice_of(result, result.cases.front());
  const std::string fallback = advice.names_one || safe.empty() ? "" : safe + ". ";
  return fmt::format("Advice: {}. {}{}.", advice.text, fallback, where);
}

int Advise::run() {
  if (std::ranges::none_of(given, &Option::given)) {
    if (::isatty(STDIN_FILENO) == 0) {
      std::vector<std::string> flags;
      for (const Part& part : kParts) flags.emplace_back(part.flag);
      throw UsageError(fmt::format(
          "there is no terminal to ask on; say what the traffic is like: {}; see '{} advise --help'",
          join(flags), program.name));
    }
    const Duration time = question.time;
    question = ask();
    question.time = time;
  }
  const std::size_t cores = std::max<std::size_t>(1, allowed_cpus().size());
  ChosenRace chosen = race_for(question, program, cores);
  safe = chosen.safe;
  for (const std::string& remark : chosen.remarks) complain(program, remark);
  chosen.words.insert(chosen.words.end(), passed_on.begin(), passed_on.end());
  const std::string command = fmt::format("{} race {}", program.name, race::shell_text(chosen.words));
  if (dry_run) {
    print_list(for_people(command + "\n"));
    return kOk;
  }
  print_to_stderr(fmt::format("This answers, and can be repeated:\n  {}\n\n", command));
  return run_race(program, std::move(chosen.words),
                  [this](const race::RaceResult& result) { return answer(result); });
}

}  // namespace
}  // namespace joust::advise

namespace joust {

void add_advise(Command root, const Program& program, int& exit_code) {
  auto advise = std::make_shared<advise::Advise>(program);
  Command command = root.add_command("advise", "Say which engine suits your traffic, by a race of a minute");
  advise->add_to(command);
  command.footer(fmt::format(R"(Examples:
  {0} advise
  {0} advise --connections 2000 --payload 200
  {0} advise --connections 10k --idle 95% --html idle.html
  {0} advise --connections 64 --work 1ms --time 2m
  {0} advise --connections 64 --datagrams --dry-run

Without an option it asks, on a terminal. It chooses engines and a load, shows the command of the race, runs
it, and answers in a sentence with intervals: by throughput, or with --idle by latency, or else by the CPU
time of the server for a message. Where the race does not tell, it says so, and names the safe choice. Exit
codes are those of '{0} race'.)",
                             program.name));
  command.callback([advise, &exit_code] { exit_code = advise->run(); });
}

}  // namespace joust
