// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "base/build_facts.hpp"
#include "base/check.hpp"
#include "base/fields.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/merged_load.hpp"
#include "cli/common/output.hpp"
#include "cli/common/result_file.hpp"
#include "cli/common/signals.hpp"
#include "cli/load/command.hpp"
#include "joust/bytes.hpp"
#include "load/result_json.hpp"
#include "measure/processes.hpp"
#include "measure/usage.hpp"
#include "report/facts_json.hpp"
#include "report/load_text.hpp"
#include "report/search_report.hpp"
#include "report/text.hpp"

namespace joust {
namespace {

// Shows bytes as hexadecimal digits and as text, 16 in a line, each line with the number of its first byte.
// Long messages are cut, with the number of the bytes that are left out.
std::string byte_dump(Bytes bytes) {
  constexpr std::size_t kColumns = 16, kMostShown = 1024;
  std::string dump;
  for (std::size_t at = 0; at < std::min(bytes.size(), kMostShown); at += kColumns) {
    std::string digits, text;
    for (const std::byte byte : bytes.subspan(at, std::min(kColumns, bytes.size() - at))) {
      const auto value = std::to_integer<unsigned char>(byte);
      digits += fmt::format("{:02x} ", value);
      text += value >= ' ' && value <= '~' ? static_cast<char>(value) : '.';
    }
    dump += fmt::format("  {:06x}  {:<48} |{}|\n", at, digits, text);
  }
  if (bytes.size() > kMostShown) dump += fmt::format("  ... and {} more\n", bytes.size() - kMostShown);
  return dump;
}

using Json = nlohmann::ordered_json;

volatile std::sig_atomic_t was_continued = 0;
const Stop* watched = nullptr;  // by the handler

// Notices, as long as it lives, that somebody stops this process and continues it. A signal, and not a thread
// that looks at the clock: an engine of one thread would pay for another (cli/common/signals.hpp). Programs
// that end others, such as timeout, send this signal too, so that one which is stopped ends as well: that is
// no continuation. The stop outlives the object.
class StopsNoticed {
 public:
  explicit StopsNoticed(const Stop& stop) {
    watched = &stop;
    was_continued = 0;
    struct sigaction action {};
    action.sa_handler = [](int) {
      if (!watched->requested()) was_continued = 1;
    };
    action.sa_flags = SA_RESTART;
    checked(::sigaction(SIGCONT, &action, &before_), "sigaction(SIGCONT)");
  }
  ~StopsNoticed() { ::sigaction(SIGCONT, &before_, nullptr); }
  StopsNoticed(const StopsNoticed&) = delete;
  StopsNoticed& operator=(const StopsNoticed&) = delete;

 private:
  struct sigaction before_ {};
};

// Returns a time of the monotonic clock by the clock of the day, in nanoseconds since 1970.
std::int64_t utc_ns(Time time) {
  const Duration ago = Clock::now() - time;
  return Duration(std::chrono::system_clock::now().time_since_epoch()).count() - ago.count();
}

}  // namespace

void Load::emit(std::string_view event) const {
  if (!events) return;
  // A failure is reported at the end of the program, because this function is called on the engine's own
  // thread.
  try_print_out(fmt::format("{{\"event\":\"{}\"}}\n", event));
}

void Load::look_again(Time now) {
  used = (forks ? times() : own_usage()) - before;
  used_over = now - opened_at;
}

// Reads the usage. Reading /proc takes milliseconds, so it is read only if the load has more than this
// process. Those that have ended count among this one's.
Usage Load::times() const {
  if (!forks) return own_times();
  std::vector<pid_t> others = process_tree(::getpid());
  std::erase(others, ::getpid());
  return together(own_usage(), usage_of_processes(others).value_or(Usage{}));
}

// Reads the usage of this process at both ends of the timed window, on the engine's own thread.
void Load::watch(LoadRun::Milestone milestone) {
  const std::lock_guard lock(watching);  // two milestones may come from different threads
  const Time now = Clock::now();
  switch (milestone) {
    case LoadRun::Milestone::started:
      return emit("connected");
    case LoadRun::Milestone::rested:
      return turns->end();
    case LoadRun::Milestone::opened:
      opened_at = now;
      before = times();
      if (lines != nullptr) lines->begin();
      return emit("measuring");
    case LoadRun::Milestone::closed:
      look_again(now);
      return emit("measured");
  }
}

Loading Load::loading(const Loaded& whom, Tally& tally) const {
  return Loading(whom.engine, whom.protocol, plan, parameters,
                 protocol.parameters(whom.protocol, Role::serve), tally);
}

LoadResult Load::measure(const Loaded& whom) {
  // Making the load may take long, and can be interrupted: signals still end the program at once.
  Loading prepared = loading(whom, whom.tally);
  Stop stop;
  if (plan.turns) turns.emplace(prepared.run(), ramp);
  if (part || !hosts.start_at.empty()) start.emplace(part ? std::nullopt : std::optional(begins));
  const Signals signals(stop, start ? StartTime::pass : TurnTaking::begin);
  return drive(prepared, whom, stop);
}

LoadResult Load::drive(Loading& loading, const Loaded& whom, Stop& stop) {
  opened_at = {};
  used_over = {};
  forks = whom.engine.separate_processes;
  LoadRun::Hold hold;
  if (start) hold = [&] { return start->wait(stop); };
  loading.run().observe([this](LoadRun::Milestone milestone) { watch(milestone); }, std::move(hold));
  {
    std::optional<LoadProgress> shown;
    if (progress_every > Duration{} && !plan.turns) {
      loading.run().recorder().expect_threads(whom.options.threads);
      shown.emplace(loading.run(), progress_every);
    }
    lines = shown ? &*shown : nullptr;
    std::optional<StopsNoticed> noticed;
    if (!plan.turns) noticed.emplace(stop);  // a race stops its loads between their turns
    loading.drive(whom.options, limits, whom.target, stop);
  }
  // An interrupted load, or one that lost all its connections, ends its window too.
  if (opened_at != Time{} && used_over == Duration{}) look_again(Clock::now());
  if (turns) {
    used = turns->used();
    used.peak_memory_bytes = own_usage().peak_memory_bytes;
    used_over = turns->used_over();
  }
  LoadResult result = loading.result(used, stop.requested() && !plan.turns);
  if (whom.protocol.verified_by && whom.protocol.verified_by(parameters).empty())
    result.messages.unverified = true;
  result.cpu.over_s = std::chrono::duration<double>(used_over).count();
  if (was_continued != 0)
    result.notes.emplace_back(
        "this load was stopped and continued: what it lost meanwhile in throughput and latency is its own");
  return result;
}

namespace {

// Returns what to say to a client whose peers may not be joust's; empty where that is no matter.
std::string hint_of_others(const Loaded& whom) {
  if (whom.engine.is_for_others(whom.options)) return {};
  for (const Knob& knob : whom.engine.knobs)
    if (!knob.for_others.empty())
      return fmt::format("; nothing of joust answers there: a server of another program needs --{} {}",
                         knob.name, knob.for_others);
  return {};
}

}  // namespace

// Describes the failure in one line that names the address once; empty without a failure.
std::string Load::trouble(const Loaded* whom, const LoadResult& result) const {
  std::string text = join(result.messages_of_errors, "; ");
  if (text.empty() && result.messages.verified == 0) {
    if (result.interrupted || !result.window_ns)
      text = "nothing was measured: interrupted before a reply was verified";
    else if (result.plan.open_loop() && result.messages.unsent.value_or(0) > 0)
      text =
          "nothing was measured: what was due before the timed window was not answered yet; lower the rate "
          "(-R)";
    else if (result.lossy() && result.connections.answered == 0)
      text = "nothing was measured: nothing answered; does a server of this protocol listen there?";
    else
      text = fmt::format(
          "nothing was measured: no reply came within the timed window of {}; measure longer (-d)",
          format_duration(result.window_ns->to - result.window_ns->from));
  }
  if (text.empty() && result.connections.never_answered > 0 && !result.interrupted)
    text = fmt::format(
        "{} of {} never had a reply in all that time: measure longer (-d), or the server serves fewer at a "
        "time",
        result.connections.never_answered, counted(result.connections.ok, "connection"));
  // A server of another protocol gives only wrong answers, or none. A server that reports why it refuses, or
  // that answers with a status and a body, is no such server.
  const std::uint64_t strange = result.failures(Stage::verify) + result.failures(Stage::timeout);
  const bool understood = text.contains("the server says") || text.contains("of a reply is") ||
                          text.contains("the reply to") || text.contains("the first reply") ||
                          text.contains("TLS: ") || text.contains("no whole reply");
  if (!text.empty() && !connect.empty() && result.messages.verified == 0 && strange > 0 && !understood) {
    const Protocol& spoken = protocol.resolve(program);
    text += spoken.doubt.empty() ? fmt::format("; is it a server of the protocol '{}'?", spoken.name)
                                 : "; " + spoken.doubt;
  }
  if (whom != nullptr && !text.empty() && result.connections.ok == 0 && result.failures(Stage::connect) > 0)
    text += hint_of_others(*whom);
  const bool named = connect.empty() || result.failures(Stage::connect) > 0;
  return text.empty() || named ? text : connect + ": " + text;
}

namespace {

LoadProgram::Socket socket_facts(const SocketFacts& facts) {
  return {.nodelay = facts.nodelay,
          .send_buffer = facts.send_buffer,
          .receive_buffer = facts.receive_buffer,
          .congestion = facts.congestion,
          .backlog = facts.backlog};
}

}  // namespace

// Returns the begin of a document: the program of this load.
Json Load::document(const char* schema, const Loaded& whom) const {
  LoadProgram own{.schema = schema,
                  .protocol = std::string(whom.protocol.name),
                  .address = connect,
                  .engine = std::string(whom.engine.name),
                  .threads = whom.options.threads,
                  .wait = std::string(word_of(whom.options.wait)),
                  .knobs = whom.options.knobs,
                  .build = {.type = std::string(build::kType),
                            .sanitizers = std::string(build::kSanitizers),
                            .version = std::string(build::kVersion)}};
  if (!whom.protocol.plugin.empty()) own.plugin = whom.protocol.plugin;
  if (whom.target) own.socket = socket_facts(whom.target->facts());
  if (socket.options.send_buffer > 0) own.socket.asked_send_buffer = socket.options.send_buffer;
  if (socket.options.receive_buffer > 0) own.socket.asked_receive_buffer = socket.options.receive_buffer;
  Json document;
  add_load(document, own);
  return document;
}

// Returns the options of this side, and in process those of the server too, without options that have neither
// a value nor a default.
Settings Load::stated_options(const Loaded& whom) const {
  Settings options = parameters.options;
  if (whom.engine.in_process) options.merge(protocol.parameters(whom.protocol, Role::serve).options);
  std::erase_if(options, [](const auto& option) { return option.second.empty(); });
  return options;
}

// Writes the document. Returns why the file was not written, in words. A race, which has asked for --events,
// asks for the reason only.
std::string Load::write(const Json& document) const {
  const std::string text = text_of(document, 2);
  if (json == "-")
    print_result(text);
  else if (events)
    write_result(json, text);
  else
    return keep_result(json, text);
  return {};
}

std::string Load::write_result_of(const Loaded& whom, const LoadResult& result) const {
  if (json.empty()) return {};
  Json whole = document("joust-load/1", whom);
  add_load(whole, result);
  LoadChoices choices{.options = stated_options(whom), .window_utc_ns = std::optional<std::int64_t>()};
  if (result.window_ns) choices.window_utc_ns = utc_ns(result.window_ns->from);
  add_load(whole, choices);
  return write(whole);
}

// Writes a result without measurements, so that a file with an earlier result is not taken for this one's.
void Load::write_unresolved(const Loaded& whom, const std::string& why) const {
  LoadResult none = no_result(plan);
  none.connections.failed = plan.connections;
  none.errors[static_cast<std::size_t>(Stage::resolve)] = plan.connections;
  none.messages_of_errors = {why};
  if (const std::string unwritten = write_result_of(whom, none); !unwritten.empty())
    complain(program, unwritten);
}

// Describes the load: "echo on epoll, 127.0.0.1:9000: 32 B payload, 10 connections, 1 message on each".
std::string Load::heading(const Loaded& whom) const {
  std::string text = fmt::format("{} on {}", whom.protocol.name, whom.engine.name);
  if (!connect.empty()) text += ", " + connect;
  text += ": ";
  if (plan.payload) text += format_size(*plan.payload) + " payload, ";
  return text;
}

int Load::measure_once(const Loaded& whom) {
  const LoadResult result = measure(whom);
  // If no server could be reached, only the reason is reported.
  const bool reached = result.connections.ok > 0 || result.messages.sent > 0;
  const std::string unwritten = write_result_of(whom, result);  // first: standard output may be lost
  if (const std::string text = trouble(&whom, result); !text.empty()) complain(program, text);
  if (reached && !events && json != "-")
    print_result(for_people(heading(whom) + plan_text(plan) + "\n" + load_text(result)));
  emit("done");
  if (!unwritten.empty()) complain(program, unwritten);
  return result.clean() && unwritten.empty() ? kOk : kRunError;
}

int Load::show_messages(const Loaded& whom) {
  using What = MessageTrace::What;
  const bool is_checked = !whom.protocol.verified_by || !whom.protocol.verified_by(parameters).empty();
  const auto show = [](std::string head, Bytes bytes, std::string_view verdict) {
    head += ", " + counted(bytes.size(), "byte");
    if (!verdict.empty()) head += fmt::format(": {}", verdict);
    try_print_out(for_people(head + "\n") + byte_dump(bytes));
  };
  std::vector<std::byte> rest;  // bytes that are no whole message yet
  trace.came = [&rest](Bytes chunk) { rest.insert(rest.end(), chunk.begin(), chunk.end()); };
  trace.show = [&](What what, Bytes message, std::string_view verdict) {
    if (what == What::came)
      rest.erase(rest.begin(),
                 rest.begin() + static_cast<std::ptrdiff_t>(std::min(rest.size(), message.size())));
    show(what == What::sent_first  ? "sent first"
         : what == What::sent_last ? "sent last"
         : what == What::came      ? "came"
                                   : "sent",
         message, verdict == "right" && !is_checked ? "unverified" : verdict);
  };
  parameters.trace = &trace;
  const LoadResult result = measure(whom);
  if (!result.clean() && !rest.empty()) show("came", rest, "no whole message");
  if (const std::string text = trouble(&whom, result); !text.empty()) complain(program, text);
  if (result.clean() && !is_checked)
    print_text("Replies came. They are unverified: nothing says what a right one is (--expect).\n");
  else if (result.clean())
    print_text(result.messages.verified == 1
                   ? "The reply is right.\n"
                   : fmt::format("All {} replies are right.\n", result.messages.verified));
  return result.clean() ? kOk : kRunError;
}

int Load::search(const Loaded& whom) {
  Stop stop;
  const Signals signals(stop);
  const bool shown = obeys_escapes(STDERR_FILENO);
  const auto run = [&](const LoadPlan& step) {
    if (shown)
      redraw_line_of_stderr(step.open_loop()
                                ? fmt::format("{} messages/s ...", report::plain_number(step.rate_per_s))
                                : std::string("the capacity ..."));
    Tally own;
    plan = step;
    Loading prepared = loading(whom, own);
    return drive(prepared, whom, stop);
  };
  const SearchResult result = search_rate(*criterion, plan, run, search_time);
  if (shown) redraw_line_of_stderr("");
  std::string unwritten;
  if (!json.empty()) {
    Json whole = document("joust-search/1", whom);
    add_search(whole, result);
    whole["options"] = stated_options(whom);
    unwritten = write(whole);
  }
  if (json != "-")
    print_result(
        for_people(heading(whom) + counted(plan.connections, "connection") + "\n" + search_text(result)));
  if (!unwritten.empty()) complain(program, unwritten);
  if (result.limited_by_load && !result.highest_held && unwritten.empty()) return kInvalid;
  const bool found = result.highest_held && !result.interrupted && result.lost.empty();
  return found && unwritten.empty() ? kOk : kRunError;
}

}  // namespace joust
