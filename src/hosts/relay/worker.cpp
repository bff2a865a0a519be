// SPDX-License-Identifier: MIT
#include "hosts/relay/worker.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "base/system/process.hpp"
#include "hosts/rank.hpp"

namespace joust::hosts {
namespace {

constexpr Duration kForItself = std::chrono::seconds(5), kAfterSignal = std::chrono::seconds(2);
constexpr int kMostOfRelay = 1024;  // descriptors
constexpr int kNotExecuted = 127, kKilled = 128;

std::array<int, 2> socket_pair() {
  std::array<int, 2> pair{};
  checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), "socketpair()");
  return pair;
}

// It gets no descriptor of MPI: a connection would outlive the relay. A process group of its own: mpirun
// kills that of the relay, and the work shall end in order.
[[noreturn]] void become(char** words, int socket, pid_t relay) {
  ::setpgid(0, 0);
  end_with_parent(SIGTERM);
  if (::getppid() != relay) ::_exit(kNotExecuted);
  for (int number = STDERR_FILENO + 1; number < kMostOfRelay; ++number)
    ::fcntl(number, F_SETFD, number == socket ? 0 : FD_CLOEXEC);
  if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::setenv(kRelayVariable, fmt::format("{}", socket).c_str(), 1);
  ::execvp(words[0], words);
  std::fprintf(stderr, "joust-relay: cannot start %s: %s\n", words[0], std::strerror(errno));
  ::_exit(kNotExecuted);
}

}  // namespace

Worker::Worker(char** words)
    : socket_([&] {
        std::array<int, 2> pair = socket_pair();
        Fd own(pair[0]);
        const Fd others(pair[1]);
        const pid_t relay = ::getpid();
        process_ = checked(::fork(), "fork()");
        if (process_ == 0) become(words, others.get(), relay);
        ::setpgid(process_, process_);
        return own;
      }()) {}

Worker::~Worker() {
  socket_.close();
  await_end();
}

void Worker::interrupt() const {
  if (!status_) ::kill(process_, SIGINT);
}

bool Worker::has_ended(Duration patience) {
  constexpr Duration kPause = std::chrono::milliseconds(5);
  const Time deadline = Clock::now() + patience;
  for (int status = 0; !status_; std::this_thread::sleep_for(kPause)) {
    if (::waitpid(process_, &status, WNOHANG) == process_) status_ = status;
    if (Clock::now() >= deadline) break;
  }
  return status_.has_value();
}

std::string Worker::await_end() {
  if (!has_ended(kForItself)) {
    ::kill(process_, SIGTERM);
    if (!has_ended(kAfterSignal)) ::kill(-process_, SIGKILL);
    has_ended(kAfterSignal);
  }
  ::kill(-process_, SIGKILL);  // what it has started and left
  if (!status_) return "it cannot be ended";
  if (WIFEXITED(*status_)) return fmt::format("exit code {}", WEXITSTATUS(*status_));
  return fmt::format("signal {} ({})", WTERMSIG(*status_), ::strsignal(WTERMSIG(*status_)));
}

int Worker::exit_code() const {
  if (!status_) return 1;
  return WIFEXITED(*status_) ? WEXITSTATUS(*status_) : kKilled + WTERMSIG(*status_);
}

}  // namespace joust::hosts
