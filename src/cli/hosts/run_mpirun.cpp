// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/process.hpp"
#include "cli/common/output.hpp"
#include "cli/hosts/mpirun.hpp"
#include "hosts/rank.hpp"

namespace joust {
namespace {

constexpr int kNotExecuted = 127, kBySignal = 128;
constexpr std::array kPassedOn{SIGINT, SIGTERM, SIGHUP};
constexpr std::size_t kLongestLine = 65536;

volatile std::sig_atomic_t signal_to_pass_on = 0;

// Signals are handled only while this process waits, in pselect().
class BlockedSignals {
 public:
  BlockedSignals() {
    struct sigaction action {};
    action.sa_handler = [](int number) {
      if (number != SIGCHLD) signal_to_pass_on = number;
    };
    sigset_t blocked;
    ::sigemptyset(&blocked);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
      checked(::sigaction(number, &action, nullptr), "sigaction({})", number);
      ::sigaddset(&blocked, number);
    }
    ::sigprocmask(SIG_BLOCK, &blocked, &before_);
  }

  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

// A process group of its own, so that Ctrl-C reaches it once: by this process.
[[noreturn]] void become_mpirun(const std::vector<std::string>& words, int errors, const sigset_t& signals) {
  ::setpgid(0, 0);
  end_with_parent(SIGTERM);
  if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(errors, STDERR_FILENO);
  for (const int number : kPassedOn) ::signal(number, SIG_DFL);
  ::signal(SIGCHLD, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
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

// Reads until mpirun has ended: what it has started may keep the pipe open. Returns its status.
int follow(pid_t mpirun, Fd pipe, Errors& errors, const sigset_t& signals) {
  for (int status = 0;;) {
    if (const int number = signal_to_pass_on; number != 0) {
      signal_to_pass_on = 0;
      ::kill(mpirun, number);
    }
    const bool has_ended = ::waitpid(mpirun, &status, WNOHANG) == mpirun;
    fd_set ready;
    FD_ZERO(&ready);
    if (pipe.is_open()) FD_SET(pipe.get(), &ready);
    const timespec at_once{};
    const int any =
        ::pselect(pipe.get() + 1, &ready, nullptr, nullptr, has_ended ? &at_once : nullptr, &signals);
    if (any > 0 && !read_into(errors, pipe.get())) pipe.close();
    if (!has_ended) continue;
    while (pipe.is_open() && any > 0) {  // the rest
      timespec none{};
      FD_ZERO(&ready);
      FD_SET(pipe.get(), &ready);
      if (::pselect(pipe.get() + 1, &ready, nullptr, nullptr, &none, nullptr) <= 0) break;
      if (!read_into(errors, pipe.get())) pipe.close();
    }
    errors.flush();
    return status;
  }
}

}  // namespace

int run_mpirun(std::vector<std::string> words, const Program& program) {
  std::vector<std::string> options{"-x", fmt::format("{}=1", hosts::kStarterVariable)};  // of rank 0
  if (::isatty(STDOUT_FILENO) == 0) options.insert(options.end(), {"-x", "NO_COLOR=1"});
  words.insert(words.begin() + 1, options.begin(), options.end());
  std::array<int, 2> ends{};
  checked(::pipe(ends.data()), "pipe()");
  Fd own(ends[0]), others(ends[1]);
  checked(::fcntl(own.get(), F_SETFD, FD_CLOEXEC), "fcntl(FD_CLOEXEC)");
  const BlockedSignals signals;
  const pid_t mpirun = checked(::fork(), "fork()");
  if (mpirun == 0) become_mpirun(words, others.get(), signals.before());
  others.close();
  Errors errors;
  const int status = follow(mpirun, std::move(own), errors, signals.before());
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
