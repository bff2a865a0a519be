// SPDX-License-Identifier: MIT
#include "cli/hosts/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "hosts/frame.hpp"
#include "load/run.hpp"
#include "measure/environment.hpp"

namespace joust {
namespace {

using Message = nlohmann::json;
using std::chrono::milliseconds;

constexpr std::size_t kMostProcessesOfHost = 64;
constexpr Duration kLongest = std::chrono::hours(25);  // a window may last for a day

constexpr Duration kForOrderlyEnd = std::chrono::seconds(3);

Duration time_of(const Message& request, const char* key) {
  return std::min<Duration>(milliseconds(request.at(key).get<std::uint32_t>()), kLongest);
}

// Describes a process that has ended too early: "exit code 2: joust: no engine 'x'".
std::string early_end(const race::Child& child) {
  const std::string words = join(child.last_words(), "; ");
  return child.how_it_ended() + (words.empty() ? "" : ": " + words);
}

std::string event_of(const std::string& line) {
  const Message event = Message::parse(line, nullptr, false);
  return event.is_object() ? event.value("event", std::string()) : std::string();
}

// Returns the text of a result; null if the file is none: no regular file of this user, or longer than a
// message. The file is removed unless it was asked for.
Message taken_text(const std::string& path, bool keep) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_uid != ::geteuid() || static_cast<std::uint64_t>(facts.st_size) > hosts::kMostMessageBytes)
    return nullptr;
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  for (std::size_t have = 0; have < text.size();) {
    const ssize_t got =
        retry_interrupted([&] { return ::read(file.get(), &text[have], text.size() - have); });
    if (got <= 0) return nullptr;
    have += static_cast<std::size_t>(got);
  }
  std::error_code unknown;
  if (!keep) std::filesystem::remove(path, unknown);
  return text;
}

}  // namespace

Stop& stop_of_hosts() {
  static Stop& stop = *new Stop;  // never destroyed: a signal may come until the process is gone
  return stop;
}

// Without SA_RESTART, so that a wait ends and looks. Two requests, so that the sides of a race end at once:
// those on several hosts would wait for one another, and nothing of an interrupted trial counts.
void stop_at_signals() {
  static_cast<void>(stop_of_hosts());  // it exists before the first signal
  struct sigaction action {};
  action.sa_handler = [](int) {
    stop_of_hosts().request();
    stop_of_hosts().request();
  };
  for (const int number : {SIGTERM, SIGINT, SIGHUP})
    checked(::sigaction(number, &action, nullptr), "sigaction({})", number);
}

hosts::Handlers HostedProcesses::handlers() {
  hosts::Handlers all{
      {"hello",
       [this](const Message&) {
         return Message{{"version", version_}, {"host", host_name()}};
       }},
      {"clock",
       [](const Message&) {
         return Message{{"now_ns", Clock::now().time_since_epoch().count()}};
       }},
      {"start", [this](const Message& request) { return start(request); }},
      {"run", [this](const Message& request) { return run(request); }},
      {"stop", [this](const Message& request) { return stop(request); }},
  };
  all.merge(sides_.handlers());
  return all;
}

void HostedProcesses::collect_until_readable(int socket) {
  std::vector<race::Child*> all = sides_.children();
  for (const auto& [name, child] : children_) all.push_back(child.get());
  race::Child::wait_any(all, socket, Clock::now() + kLongest);
}

race::Child& HostedProcesses::named(const Message& request) {
  const auto found = children_.find(request.at("id").get<std::string>());
  if (found == children_.end()) throw std::runtime_error("no such process was started");
  return *found->second;
}

// Returns the line of an event. Throws std::runtime_error if it does not come.
std::string HostedProcesses::await_event(race::Child& child, const std::string& event, Time deadline,
                                         const Stop* stop) {
  for (race::Child* const waited = &child;;) {
    while (auto line = child.take_line())
      if (event_of(*line) == event) return *line;
    if (child.ended()) throw std::runtime_error(early_end(child));
    if (stop != nullptr && stop->requested()) throw std::runtime_error("interrupted");
    if (Clock::now() >= deadline)
      throw std::runtime_error(fmt::format("not '{}' in time{}{}", event,
                                           child.last_words().empty() ? "" : ": ",
                                           join(child.last_words(), "; ")));
    race::Child::wait_any({&waited, 1}, stop == nullptr ? -1 : stop->fd(), deadline);
  }
}

std::string HostedProcesses::with_folder(std::string text) {
  const std::string_view name = kFolderOfAgent;
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return text;
  if (!folder_) folder_.emplace();
  return text.replace(at, name.size(), folder_->path());
}

Message HostedProcesses::start(const Message& request) {
  if (children_.size() >= kMostProcessesOfHost) throw std::runtime_error("too many processes were started");
  const Time deadline = Clock::now() + time_of(request, "patience_ms");
  auto words = request.at("words").get<std::vector<std::string>>();
  if (!words.empty()) words.back() = with_folder(std::move(words.back()));  // --load-part
  words.insert(words.begin(), "joust");
  auto made = std::make_unique<race::Child>(
      race::ChildCommand{.program = "/proc/self/exe", .words = std::move(words)});
  auto& child = children_[request.at("id").get<std::string>()];
  child = std::move(made);
  const std::string line = await_event(*child, request.at("until").get<std::string>(), deadline, &stop_);
  return {{"event", Message::parse(line)}};
}

// Waits until all have ended, but not beyond the deadline, and not for long after a signal.
void HostedProcesses::await_ends(const std::vector<race::Child*>& running, Time deadline) const {
  const auto has_ended = [](race::Child* child) { return child->ended(); };
  bool was_told = false;
  while (!std::ranges::all_of(running, has_ended) && Clock::now() < deadline) {
    if (stop_.requested() && !std::exchange(was_told, true)) {
      if (at_interruption_) at_interruption_();
      for (race::Child* child : running) child->send(SIGTERM);
      deadline = std::min(deadline, Clock::now() + kForOrderlyEnd);
    }
    race::Child::wait_any(running, was_told ? -1 : stop_.fd(), deadline);
    for (race::Child* child : running)
      while (child->take_line()) continue;
  }
}

// Begins all loads of the request, and waits until all have ended.
Message HostedProcesses::run(const Message& request) {
  const Time begins(Duration(request.at("at_ns").get<std::int64_t>()));
  const Duration patience = time_of(request, "patience_ms");
  const Time deadline = begins + patience;
  std::vector<race::Child*> running;
  for (const Message& one : request.at("loads")) running.push_back(&named(one));
  for (race::Child* child : running) child->send(SIGUSR1, signalled_time(begins));
  await_ends(running, deadline);
  Message results = Message::array();
  for (const Message& one : request.at("loads")) results.push_back(taken_result(one, patience));
  return {{"results", std::move(results)}};
}

// Takes the result of a load that has ended, or shall have.
Message HostedProcesses::taken_result(const Message& load, Duration patience) {
  const race::Child& child = named(load);
  Message result{{"exit_code", child.exit_code()}, {"document", nullptr}};
  if (!child.ended())
    result["trouble"] = fmt::format("no result {} after the start: it is stopped, or far too slow",
                                    format_duration(patience));
  else if (child.exit_code() < 0)
    result["trouble"] = "its load has ended: " + early_end(child);
  else
    result["document"] =
        taken_text(with_folder(load.at("file").get<std::string>()), load.value("keep", false));
  if (result["document"].is_null() && !result.contains("trouble"))
    result["trouble"] = "its load has no result: " + early_end(child);
  children_.erase(load.at("id").get<std::string>());
  return result;
}

Message HostedProcesses::stop(const Message& request) {
  race::Child& child = named(request);
  child.send(SIGTERM);
  const Time deadline = Clock::now() + time_of(request, "patience_ms");
  const std::string line = await_event(child, "stopped", deadline, nullptr);
  children_.erase(request.at("id").get<std::string>());
  return {{"event", Message::parse(line)}};
}

}  // namespace joust
