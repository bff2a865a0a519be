// SPDX-License-Identifier: MIT
#include "cli/hosts/mpirun.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/events.hpp"
#include "base/system/process.hpp"
#include "base/text.hpp"
#include "cli/common/output.hpp"
#include "cli/hosts/networks.hpp"
#include "hosts/rank.hpp"
#include "joust/time.hpp"
#include "measure/environment.hpp"
#include "race/trial/child.hpp"
#include "secure/token.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;

// Ranks write to terminals of mpirun's own, so they do not see whether their output goes to a file in the
// end.
constexpr const char* kNoColor = "NO_COLOR";

bool is_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

// Throws UsageError where there is none.
std::string relay() {
  auto path = hosts::relay_program();
  if (!path) throw UsageError(path.error());
  return *path;
}

}  // namespace

// Each host is an application of its own, because only so the ranks are in the order of the hosts: mpirun
// would begin with the host that it runs on. No process is bound to a core: the ranks would measure on one
// core only. The end of one rank does not end the others: the conductor names it and goes on.
std::vector<std::string> mpirun_words(const Program& program, const std::vector<std::string>& hosts) {
  const std::string own_relay = relay();
  if (!is_in_path("mpirun"))
    throw UsageError("several hosts need mpirun: install openmpi-bin (script/setup hosts)");
  std::error_code unknown;
  const fs::path own = fs::read_symlink("/proc/self/exe", unknown);
  std::vector<std::string> words{"mpirun", "--enable-recovery", "--bind-to", "none"};
  for (const std::string& host : hosts) {
    if (&host != &hosts.front()) words.emplace_back(":");
    words.insert(words.end(),
                 {"-n", "1", "--host", host, own_relay, own.empty() ? program.name : own.string()});
    words.insert(words.end(), program.words.begin() + 1, program.words.end());
  }
  return words;
}

namespace {

// Puts the command in this process's place.
[[noreturn]] void become(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  throw std::system_error(errno, std::generic_category(), fmt::format("exec({})", words.front()));
}

}  // namespace

void become_relay(const Program& program) {
  std::vector<std::string> words{relay(), "/proc/self/exe"};
  std::error_code unknown;
  if (const fs::path own = fs::read_symlink("/proc/self/exe", unknown); !own.empty())
    words.back() = own.string();
  words.insert(words.end(), program.words.begin() + 1, program.words.end());
  ::setenv(kNoColor, "1", 0);
  become(words);
}

namespace {

constexpr Duration kPatience = std::chrono::seconds(15);
constexpr const char* kAgent = "OMPI_MCA_plm_rsh_agent";

// Returns the words of the program that starts others on a host: those of the first choice.
std::vector<std::string> agent_words() {
  const char* const given = std::getenv(kAgent);
  std::istringstream text(given == nullptr ? "ssh -o BatchMode=yes -o ConnectTimeout=10" : given);
  std::vector<std::string> words;
  for (std::string word; text >> word && word != ":";) words.push_back(word);
  return words;
}

std::string reason_of(const race::Child& child) {
  if (!child.ended()) return fmt::format("no answer within {} s", kPatience / std::chrono::seconds(1));
  const std::vector<std::string> words = child.last_words();
  return words.empty() ? child.how_it_ended() : words.back();
}

// Tries to reach each host as mpirun does, by ssh or the program that is set in its place. Returns a sentence
// about those where nothing can be started; empty if there is none. Takes 15 s at most.
std::string unreachable_of(const std::vector<std::string>& hosts) {
  const std::vector<std::string> agent = agent_words();
  std::map<std::string, std::unique_ptr<race::Child>> tries;
  for (const std::string& host : hosts) {
    if (host == host_name() || agent.empty()) continue;
    std::vector<std::string> words = agent;
    words.insert(words.end(), {host, "true"});
    auto made = std::make_unique<race::Child>(race::ChildCommand{.program = agent.front(), .words = words});
    tries.emplace(host, std::move(made));
  }
  const Time deadline = Clock::now() + kPatience;
  std::vector<std::string> sentences;
  for (const auto& [host, child] : tries) {
    for (race::Child* const waited = child.get(); !child->ended() && Clock::now() < deadline;)
      race::Child::wait_any({&waited, 1}, -1, deadline);
    if (child->exit_code() != 0)
      sentences.push_back(fmt::format("host {} cannot be reached ({} {} true: {})", host, join(agent, " "),
                                      host, reason_of(*child)));
  }
  return join(sentences, "; ");
}

constexpr int kNotExecuted = 127, kBySignal = 128;
constexpr std::size_t kLongestLine = 65536;

// mpirun that is ended from outside kills its ranks so many seconds after it has asked them to end, and asks
// them as long after the event: enough for the conductor to write its result.
constexpr const char* kLongestEndOfRanks = "OMPI_MCA_odls_base_sigkill_timeout";
constexpr const char* kEndOfRanks_s = "2";
constexpr int kUnlessSet = 0, kEvenIfSet = 1;

int signals_to = -1;  // the end of a pipe

OpenPipe made_pipe(int flags = 0) {
  OpenPipe pipe = open_pipe(O_CLOEXEC | flags);
  checked(pipe.into.get(), "pipe2()");
  return pipe;
}

// Signals become bytes of a pipe, which wakes the process that waits.
class SignalPipe {
 public:
  SignalPipe() {
    signals_to = pipe_.into.get();
    struct sigaction action {};
    action.sa_handler = [](int number) {
      const auto byte = static_cast<char>(number);
      (void)!::write(signals_to, &byte, 1);
    };
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
      checked(::sigaction(number, &action, nullptr), "sigaction({})", number);
  }

  int get() const { return pipe_.from.get(); }
  // Returns how many signals have come since the last call; the end of a child is none.
  int taken() const {
    int signals = 0;
    for (char number = 0; ::read(pipe_.from.get(), &number, 1) == 1;) signals += number == SIGCHLD ? 0 : 1;
    return signals;
  }

 private:
  const OpenPipe pipe_ = made_pipe(O_NONBLOCK);
};

// A process group of its own, so that Ctrl-C does not reach it.
[[noreturn]] void become_mpirun(const std::vector<std::string>& words, int orders, int errors) {
  ::setpgid(0, 0);
  end_with_parent(SIGTERM);
  ::dup2(orders, STDIN_FILENO);  // of rank 0
  ::dup2(errors, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  std::fprintf(stderr, "cannot start %s: %s\n", argv.front(), std::strerror(errno));
  ::_exit(kNotExecuted);
}

// The folder in which mpirun and its daemons keep their files, for this run and this user alone. Open MPI's
// own name in /tmp is known beforehand, so another user could make a link of it to files that would be
// deleted. It is made on other hosts by the daemons, with a name that the users of those hosts may read in
// the daemons' arguments (docs/security.md); the relays remove it there.
class FolderOfRun {
 public:
  FolderOfRun() {
    if (std::getenv(hosts::kFolderVariable) != nullptr) return;  // the user has chosen
    std::string name = hosts::kFolderPattern;
    checked(::mkdtemp(name.data()) == nullptr ? -1 : 0, "mkdtemp({})", name);
    path_ = name;
    ::setenv(hosts::kFolderVariable, path_.c_str(), kUnlessSet);
  }
  ~FolderOfRun() {
    std::error_code unknown;
    if (!path_.empty()) std::filesystem::remove_all(path_, unknown);
  }
  FolderOfRun(const FolderOfRun&) = delete;
  FolderOfRun& operator=(const FolderOfRun&) = delete;

 private:
  std::string path_{};
};

// The standard error of mpirun and of all ranks: passes its lines on, but for those between joust and MPI.
// The lines before all ranks have met are held until then, because joust may have a better word for them.
class Errors {
 public:
  void take(const char* bytes, std::size_t count) {
    text_.append(bytes, count);
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1))
      pass_on(text_.substr(0, end + 1));
    if (text_.size() > kLongestLine) flush();
  }
  void flush() {
    if (!text_.empty()) pass_on(std::exchange(text_, {}));
  }
  std::optional<int> exit_code() const { return exit_code_; }
  bool has_begun() const { return has_begun_; }  // all ranks have met
  void show_held() {
    std::fputs(std::exchange(held_, {}).c_str(), stderr);
    is_shown_ = true;
  }

 private:
  void pass_on(const std::string& line) {
    const std::string_view exit_line = hosts::kExitLine;
    if (line.starts_with(exit_line)) {
      std::uint8_t code = kRunError;
      std::from_chars(line.data() + exit_line.size(), line.data() + line.size(), code);
      exit_code_ = code;
    } else if (line.starts_with(hosts::kBeginLine)) {
      has_begun_ = true;
      show_held();
    } else if (!is_of_mpirun_alone(line)) {
      held_ += line;
      if (is_shown_ || held_.size() > kLongestLine) show_held();
    }
  }
  // Open MPI 4.1 complains of its own event where a rank ends and the others go on, and of a child that has
  // a process group already.
  static bool is_of_mpirun_alone(const std::string& line) {
    return line.starts_with('[') &&
           ((line.contains("PMIX ERROR: BAD-PARAM") && line.contains("pmix_event_notification")) ||
            line.contains("plm:rsh: Warning: setpgid("));
  }

  std::string text_{}, held_{};
  std::optional<int> exit_code_{};
  bool has_begun_ = false, is_shown_ = false;
};

// Returns false at the end of the stream.
bool read_into(Errors& errors, int pipe) {
  std::array<char, 4096> buffer;
  const ssize_t got = retry_interrupted([&] { return ::read(pipe, buffer.data(), buffer.size()); });
  if (got > 0) errors.take(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

// Ends a process group that should have ended: in order, then by force.
class Patience {
 public:
  explicit Patience(pid_t group) : group_(group) {}

  // Called again and again from the time on at which it should end. Returns how long to wait for that.
  int wait_ms() {
    const Time now = Clock::now();
    if (next_ == Time{}) next_ = now + kForItself;
    if (now >= next_) {
      if (number_ < kSignals.size()) ::kill(-group_, kSignals[number_++]);
      next_ = now + kAfterSignal;
    }
    constexpr Duration kMillisecond = std::chrono::milliseconds(1);
    return static_cast<int>(std::max(next_ - now, kMillisecond) / kMillisecond);
  }

 private:
  static constexpr Duration kForItself = std::chrono::seconds(15), kAfterSignal = std::chrono::seconds(5);
  static constexpr std::array<int, 2> kSignals{SIGTERM, SIGKILL};
  const pid_t group_;
  Time next_{};
  std::size_t number_ = 0;
};

// The time until all ranks have met: where it is long, the person is told what may be wrong.
class HostsMeeting {
 public:
  explicit HostsMeeting(const Program& program) : program_(program) {}

  // Returns how long to wait for it.
  int wait_ms(Errors& errors) {
    if (errors.has_begun() || is_told_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(begun_ + kUsual - Clock::now()).count();
    if (left > 0) return static_cast<int>(left);
    is_told_ = true;
    errors.show_held();
    complain(program_, hint_at_networks());
    return -1;
  }

 private:
  static constexpr Duration kUsual = std::chrono::seconds(5);
  const Program& program_;
  const Time begun_ = Clock::now();
  bool is_told_ = false;
};

// The signals to this process. While the ranks work they are orders to rank 0, which ends all of them and has
// a result: mpirun would kill its ranks some time after a signal, whatever they do.
class Interruptions {
 public:
  Interruptions(const SignalPipe& signals, Fd orders) : signals_(signals), orders_(std::move(orders)) {
    checked(::fcntl(orders_.get(), F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
  }

  bool have_come() const { return have_come_; }
  void pass_on(pid_t mpirun, bool has_begun) {
    for (int left = signals_.taken(); left > 0; --left) {
      have_come_ = true;
      if (!has_begun || ::write(orders_.get(), "\n", 1) < 0) ::kill(mpirun, SIGTERM);
    }
  }

 private:
  const SignalPipe& signals_;
  const Fd orders_;
  bool have_come_ = false;
};

// Reads until mpirun has ended: what it has started may keep the pipe open. Once rank 0 has reported the exit
// code, or shall end, mpirun is not awaited for ever: a rank that is stopped does not end. Returns its
// status.
int follow(pid_t mpirun, Fd pipe, Errors& errors, const SignalPipe& signals, Interruptions& interruptions,
           const Program& program) {
  Patience patience(mpirun);
  HostsMeeting meeting(program);
  for (int status = 0;;) {
    interruptions.pass_on(mpirun, errors.has_begun());
    const bool has_ended = ::waitpid(mpirun, &status, WNOHANG) == mpirun;
    for (;;) {  // after the end: what is left
      std::array<pollfd, 2> events{{{pipe.get(), POLLIN, 0}, {has_ended ? -1 : signals.get(), POLLIN, 0}}};
      const bool shall_end = errors.exit_code() || interruptions.have_come();
      const int longest_ms = has_ended ? 0 : shall_end ? patience.wait_ms() : meeting.wait_ms(errors);
      const bool is_any = ::poll(events.data(), events.size(), longest_ms) > 0;
      if (is_any && events[0].revents != 0 && !read_into(errors, pipe.get())) pipe.close();
      if (!has_ended || !is_any) break;
    }
    if (!has_ended) continue;
    errors.flush();
    return status;
  }
}

// mpirun says so at length, and of an option that joust has not.
void refuse_root() {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && value == std::string_view("1");
  };
  if (::geteuid() != 0 || (is_set("OMPI_ALLOW_RUN_AS_ROOT") && is_set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")))
    return;
  throw UsageError(
      "mpirun does not run for root unless the environment allows it: run as another user, or after "
      "'export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1'");
}

}  // namespace

int run_mpirun(std::vector<std::string> words, const std::vector<std::string>& hosts,
               const Program& program) {
  refuse_root();
  choose_network_of(hosts);
  std::vector<std::string> options{"-x", fmt::format("{}=1", hosts::kStarterVariable)};  // of rank 0
  options.insert(options.end(), {"-x", hosts::kKeyVariable});  // its value is in no argument list
  if (::isatty(STDOUT_FILENO) == 0) options.insert(options.end(), {"-x", "NO_COLOR=1"});
  words.insert(words.begin() + 1, options.begin(), options.end());
  ::setenv(kLongestEndOfRanks, kEndOfRanks_s, kUnlessSet);
  OpenPipe texts = made_pipe(), orders = made_pipe();
  const SignalPipe signals;
  const FolderOfRun folder;
  const pid_t mpirun = checked(::fork(), "fork()");
  if (mpirun == 0) {
    ::setenv(hosts::kKeyVariable, Token::make().text().c_str(), kEvenIfSet);
    become_mpirun(words, orders.from.get(), texts.into.get());
  }
  texts.into.close();
  orders.from.close();
  Errors errors;
  Interruptions interruptions(signals, std::move(orders.into));
  const int status = follow(mpirun, std::move(texts.from), errors, signals, interruptions, program);
  if (errors.exit_code()) return *errors.exit_code();
  if (WIFSIGNALED(status)) {
    errors.show_held();
    complain(program, fmt::format("mpirun was ended by signal {}{}", WTERMSIG(status),
                                  errors.has_begun() ? ": what was measured until then is in the result's "
                                                       "files (--json), on the host of rank 0"
                                                     : ""));
    return kBySignal + WTERMSIG(status);
  }
  if (!errors.has_begun() && !interruptions.have_come())
    if (const std::string why = unreachable_of(hosts); !why.empty()) {
      complain(program, why);
      return kRunError;
    }
  errors.show_held();
  if (WEXITSTATUS(status) != 0) {
    complain(program, interruptions.have_come() ? "interrupted before all hosts had met"
                                                : "mpirun has failed, and the reason is above");
    return kRunError;
  }
  complain(program, "rank 0, which conducts, has ended without an exit code; the others were ended");
  return kRunError;
}

}  // namespace joust
