// SPDX-License-Identifier: MIT
#include "race/trial/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "base/document.hpp"
#include "base/signals.hpp"
#include "base/system/events.hpp"
#include "base/system/process.hpp"
#include "load/result_json.hpp"
#include "measure/affinity.hpp"
#include "measure/processes.hpp"

namespace joust::race {
namespace {

// The most bytes of text kept of a child: enough to explain a failure. The limit protects our memory from a
// child that writes without end.
constexpr std::size_t kMostWords = 4096;
constexpr std::size_t kMostLastLines = 8;
// The longest line. Lines of the child protocol are far shorter. The limit protects our memory from an
// external server.
constexpr std::size_t kLongestLine = 64 << 10;
constexpr std::size_t kMostLines = 256;  // not taken yet

OpenPipe checked_pipe() {
  OpenPipe pipe = open_pipe(O_CLOEXEC);
  checked(pipe.into.get(), "pipe2()");
  return pipe;
}

// The child's data between fork and exec, prepared before, because the child must not allocate.
struct Prepared {
  std::vector<char*> argv;
  CpuSet cpus;
  bool pinned = false;
  OpenPipe output = checked_pipe(), errors = checked_pipe(), gate = checked_pipe();
  Fd nothing{checked(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open(/dev/null)")};

  explicit Prepared(const ChildCommand& command) : cpus(command.cpus), pinned(!command.cpus.empty()) {
    for (const std::string& word : command.words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
  }
};

[[noreturn]] void give_up(const char* what) {
  const char* const reason = std::strerror(errno);
  for (const char* part : {"cannot start: ", what, ": ", reason, "\n"})
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  ::_exit(127);
}

// Runs in the child. Resets the signal mask and SIGPIPE, which exec would pass on to the program.
[[noreturn]] void become(const char* program, Prepared& prepared, pid_t parent) {
  ::setpgid(0, 0);
  end_with_parent();
  if (::getppid() != parent) ::_exit(127);  // the parent died before that
  ::dup2(prepared.nothing.get(), STDIN_FILENO);
  ::dup2(prepared.output.into.get(), STDOUT_FILENO);
  ::dup2(prepared.errors.into.get(), STDERR_FILENO);
  // The handlers would report a stop to this program that is meant for the child.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE}) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN || number == SIGPIPE) ::sigaction(number, &standard, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (prepared.pinned && prepared.cpus.bind() < 0) give_up("sched_setaffinity");
  char go = 0;
  if (::read(prepared.gate.from.get(), &go, 1) != 1) ::_exit(127);
  ::execv(program, prepared.argv.data());
  give_up(program);
}

void collect(pid_t child) {
  retry_interrupted([&] { return ::waitpid(child, nullptr, 0); });
}

}  // namespace

Child::Child(const ChildCommand& command, const std::function<void(pid_t)>& before_exec)
    : foreign_(command.foreign), ready_(command.ready) {
  Prepared prepared(command);
  const pid_t parent = ::getpid();
  {
    const SignalsBlocked blocked;
    pid_ = checked(::fork(), "fork()");
    if (pid_ == 0) become(command.program.c_str(), prepared, parent);
  }
  try {
    ::setpgid(pid_, pid_);  // in the parent too, so that the group exists before it is signalled
    family_ = ProcessFamily(pid_);
    awaited_ = open_process(pid_);
    output_ = std::move(prepared.output.from);
    errors_ = std::move(prepared.errors.from);
    for (const Fd* pipe : {&output_, &errors_})
      checked(::fcntl(pipe->get(), F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
    if (before_exec) before_exec(pid_);
    checked(::write(prepared.gate.into.get(), "g", 1), "write(gate)");
  } catch (...) {
    // It still waits at the gate, and the destructor, which would wait for it, does not run.
    ::kill(pid_, SIGKILL);
    family_ = ProcessFamily();  // as in the destructor: before its process id may be another's
    collect(pid_);
    throw;
  }
}

// Waits for the program last, so that its process id cannot be reused while the family is killed.
Child::~Child() {
  family_ = ProcessFamily();
  collect(pid_);
}

std::vector<pid_t> Child::processes() {
  return foreign_ ? family_.members() : process_tree(pid_);
}

double Child::ended_cpu_s() {
  if (foreign_) return family_.ended_cpu_s();
  const auto facts = process_facts(pid_);
  return facts ? facts->ended_user_s + facts->ended_system_s : 0;
}

void Child::send(int number, int value) const {
  if (ended()) return;
  // Fails where too many signals are queued.
  if (signal_with_value(pid_, number, value) < 0) ::kill(pid_, number);
}

// The processes of joust stay in their group. A search for processes outside it would take long with a
// thousand threads.
void Child::send_all(int number) {
  if (foreign_) return family_.send(number);
  ::kill(-pid_, number);
}

void Child::stop_all(Time deadline) {
  if (foreign_) return family_.stop(deadline);
  ::kill(-pid_, SIGSTOP);
  wait_until_stopped(deadline);
}

void Child::wait_until_stopped(Time deadline) const {
  constexpr Duration kPause = std::chrono::microseconds(50);
  siginfo_t info{};
  while (!ended() && Clock::now() < deadline) {
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) < 0 || info.si_pid == pid_)
      return;
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
        info.si_pid == pid_)
      return;
    std::this_thread::sleep_for(kPause);
  }
}

int Child::exit_code() const {
  return program_end_ && program_end_->exited ? program_end_->number : -1;
}

std::string Child::how_it_ended() const {
  if (!program_end_) return "still running";
  if (program_end_->exited) return fmt::format("exit code {}", program_end_->number);
  return fmt::format("signal {} ({})", program_end_->number, ::strsignal(program_end_->number));
}

std::optional<std::string> Child::take_line() {
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

std::vector<std::string> Child::last_words() const {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < complained_.size();) {
    const std::size_t end = std::min(complained_.find('\n', at), complained_.size());
    if (end > at) lines.push_back(complained_.substr(at, end - at));
    at = end + 1;
  }
  if (lines.empty() && foreign_) lines.assign(lines_.begin(), lines_.end());
  if (lines.size() > kMostLastLines) lines.erase(lines.begin(), lines.end() - kMostLastLines);
  return lines;
}

// Moves the complete lines of the standard output to `lines_`.
void Child::split_lines() {
  std::size_t begin = 0;
  for (std::size_t end; (end = said_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (lines_.size() == kMostLines) lines_.pop_front();  // the oldest line that was not taken
    lines_.push_back(said_.substr(begin, end - begin));
    is_ready_ |= !ready_.empty() && lines_.back().contains(ready_);
  }
  said_.erase(0, begin);
  if (said_.size() > kLongestLine) said_.clear();
}

// Reads as much as a full pipe has, at most: a program that writes faster than this one reads would keep it
// here for ever.
void Child::drain(Fd& pipe, std::string& into) {
  constexpr int kMostReads = 8;
  std::array<char, 16384> buffer;
  for (int reads = 0; pipe.is_open() && reads < kMostReads; ++reads) {
    const ssize_t got = retry_interrupted([&] { return ::read(pipe.get(), buffer.data(), buffer.size()); });
    if (got < 0) return;  // EAGAIN: no more data for now
    if (got == 0) pipe.close();
    into.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (&pipe == &errors_ && into.size() > 2 * kMostWords) into.erase(0, into.size() - kMostWords);
    if (&pipe == &output_) split_lines();
  }
}

void Child::look_for_end() {
  siginfo_t info{};
  if (ended() || ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
      info.si_pid != pid_)
    return;
  if (!program_end_) program_end_ = End{.exited = info.si_code == CLD_EXITED, .number = info.si_status};
  if (foreign_)
    if (const std::vector<pid_t> left = family_.running(); !left.empty()) {
      awaited_ = open_process(left.front());
      return;
    }
  drain(output_, said_);
  drain(errors_, complained_);
  usage_ = usage_of_ended(pid_);
  if (usage_) usage_ = *usage_ + family_.ended_orphans();
  end_ = program_end_;
}

void Child::wait_any(std::span<Child* const> children, int stop, Time deadline) {
  std::vector<pollfd> events{{stop, POLLIN, 0}};
  for (const Child* child : children) {
    events.push_back({child->output_.get(), POLLIN, 0});
    events.push_back({child->errors_.get(), POLLIN, 0});
    events.push_back({child->ended() ? -1 : child->awaited_.get(), POLLIN, 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  ::poll(events.data(), static_cast<nfds_t>(events.size()),
         static_cast<int>(std::clamp<long long>(left, 0, 1000)));
  for (Child* child : children) {
    child->drain(child->output_, child->said_);
    child->drain(child->errors_, child->complained_);
    child->look_for_end();
  }
}

namespace {

using nlohmann::json;

Settings settings_from(const json& object) {
  Settings settings;
  for (const auto& [key, value] : object.items())
    settings[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return settings;
}

BuildInfo build_from(const json& object) {
  return {.type = object.value("type", ""),
          .sanitizers = object.value("sanitizers", ""),
          .version = object.value("version", "")};
}

}  // namespace

ChildFacts facts_from(const json& document) {
  return {.engine = document.at("engine"),
          .wait = document.value("wait", ""),
          .threads = document.value("threads", std::uint64_t{0}),
          .knobs = settings_from(document.value("knobs", json::object())),
          .socket = socket_from(document),
          .build = build_from(document.value("build", json::object()))};
}

Settings socket_from(const json& document) {
  return settings_from(document.value("socket", json::object()));
}

std::map<std::string, std::uint64_t> counts_from(const json& object) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [key, value] : object.items()) counts[key] = value.get<std::uint64_t>();
  return counts;
}

std::optional<std::string> read_load(const std::string& text, Trial& trial) {
  const auto document = documents::parsed(text);
  auto result = load_from(document);
  if (!result) return result.error();
  try {
    trial.program = program_from(document);
    trial.choices = choices_from(document);
    trial.client = facts_from(document);
  } catch (const std::runtime_error& error) {
    return fmt::format("the load's result cannot be read: {}", error.what());
  }
  trial.load = std::move(*result);
  return std::nullopt;
}

}  // namespace joust::race
