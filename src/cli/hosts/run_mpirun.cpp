// SPDX-License-Identifier: MIT
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
#include <optional>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/process.hpp"
#include "cli/common/output.hpp"
#include "cli/hosts/mpirun.hpp"
#include "hosts/rank.hpp"
#include "joust/time.hpp"

namespace joust {
namespace {

constexpr int kNotExecuted = 127, kBySignal = 128;
constexpr std::size_t kLongestLine = 65536;

int signals_to = -1;  // the end of a pipe

// Signals become bytes of a pipe, which wakes the process that waits.
class SignalPipe {
 public:
  SignalPipe() {
    std::array<int, 2> ends{};
    checked(::pipe(ends.data()), "pipe()");
    from_ = Fd(ends[0]);
    into_ = Fd(ends[1]);
    for (const int end : ends) {
      checked(::fcntl(end, F_SETFD, FD_CLOEXEC), "fcntl(FD_CLOEXEC)");
      checked(::fcntl(end, F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
    }
    signals_to = into_.get();
    struct sigaction action {};
    action.sa_handler = [](int number) {
      const auto byte = static_cast<char>(number);
      (void)!::write(signals_to, &byte, 1);
    };
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
      checked(::sigaction(number, &action, nullptr), "sigaction({})", number);
  }

  int get() const { return from_.get(); }
  // Passes on the signals that have come; the end of a child is none.
  void pass_on(pid_t to) const {
    for (char number = 0; ::read(from_.get(), &number, 1) == 1;)
      if (number != SIGCHLD) ::kill(to, number);
  }

 private:
  Fd from_{}, into_{};
};

// A process group of its own, so that Ctrl-C reaches it once: by this process.
[[noreturn]] void become_mpirun(const std::vector<std::string>& words, int errors) {
  ::setpgid(0, 0);
  end_with_parent(SIGTERM);
  if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(errors, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  std::fprintf(stderr, "cannot start %s: %s\n", argv.front(), std::strerror(errno));
  ::_exit(kNotExecuted);
}

// The standard error of mpirun and of all ranks: passes its lines on, but for those between joust and MPI.
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

 private:
  void pass_on(const std::string& line) {
    const std::string_view exit_line = hosts::kExitLine;
    if (line.starts_with(exit_line)) {
      int code = 0;
      std::from_chars(line.data() + exit_line.size(), line.data() + line.size(), code);
      exit_code_ = code;
    } else if (!is_of_recovery(line)) {
      std::fputs(line.c_str(), stderr);
    }
  }
  // Open MPI 4.1 complains of its own event where a rank ends and the others go on.
  static bool is_of_recovery(const std::string& line) {
    return line.starts_with('[') && line.contains("PMIX ERROR: BAD-PARAM") &&
           line.contains("pmix_event_notification");
  }

  std::string text_{};
  std::optional<int> exit_code_{};
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

// Reads until mpirun has ended: what it has started may keep the pipe open. Once rank 0 has reported the exit
// code the work is over, and mpirun is not awaited for ever: a rank that is stopped does not end. Returns its
// status.
int follow(pid_t mpirun, Fd pipe, Errors& errors, const SignalPipe& signals) {
  Patience patience(mpirun);
  for (int status = 0;;) {
    signals.pass_on(mpirun);
    const bool has_ended = ::waitpid(mpirun, &status, WNOHANG) == mpirun;
    for (;;) {  // after the end: what is left
      std::array<pollfd, 2> events{{{pipe.get(), POLLIN, 0}, {has_ended ? -1 : signals.get(), POLLIN, 0}}};
      const int longest_ms = has_ended ? 0 : errors.exit_code() ? patience.wait_ms() : -1;
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

int run_mpirun(std::vector<std::string> words, const Program& program) {
  refuse_root();
  std::vector<std::string> options{"-x", fmt::format("{}=1", hosts::kStarterVariable)};  // of rank 0
  if (::isatty(STDOUT_FILENO) == 0) options.insert(options.end(), {"-x", "NO_COLOR=1"});
  words.insert(words.begin() + 1, options.begin(), options.end());
  std::array<int, 2> ends{};
  checked(::pipe(ends.data()), "pipe()");
  Fd own(ends[0]), others(ends[1]);
  checked(::fcntl(own.get(), F_SETFD, FD_CLOEXEC), "fcntl(FD_CLOEXEC)");
  const SignalPipe signals;
  const pid_t mpirun = checked(::fork(), "fork()");
  if (mpirun == 0) become_mpirun(words, others.get());
  others.close();
  Errors errors;
  const int status = follow(mpirun, std::move(own), errors, signals);
  if (errors.exit_code()) return *errors.exit_code();
  if (WIFSIGNALED(status)) {
    complain(program, fmt::format("mpirun was ended by signal {}", WTERMSIG(status)));
    return kBySignal + WTERMSIG(status);
  }
  if (WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
  complain(program, "rank 0, which conducts, has ended without an exit code; the others were ended");
  return kRunError;
}

}  // namespace joust
