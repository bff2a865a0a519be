// SPDX-License-Identifier: MIT
//
// joust-relay PROGRAM ARGUMENT...: a rank of a load or a race over several hosts. It starts PROGRAM, which
// does all of the work, and passes its messages to the other ranks by MPI. It is a program of its own for two
// reasons. MPI's library and its threads are then in no process that measures or is measured. And joust
// itself needs no MPI: with it, every command would start later and take more memory.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/events.hpp"
#include "base/system/process.hpp"
#include "hosts/frame.hpp"
#include "hosts/rank.hpp"
#include "hosts/relay/connections.hpp"
#include "hosts/relay/messages.hpp"

namespace joust::hosts {
namespace {

// The process that does the work of a rank. The kernel ends it when the relay dies. One thread.
class Worker {
 public:
  // Starts the program; `words` ends with a null pointer. It reads nothing from standard input, which is the
  // relay's own. Throws std::system_error.
  explicit Worker(char** words);
  ~Worker();  // ends it, by force after a while
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  FrameSocket& socket() { return socket_; }
  // Asks it to end in order, by SIGINT.
  void interrupt() const;
  // Returns how it ended: "exit code 1", "signal 9 (Killed)". Call when its socket is closed. It is ended if
  // it still runs after some seconds.
  std::string await_end();
  int exit_code() const;  // after await_end()

 private:
  bool has_ended(Duration patience);

  pid_t process_ = -1;
  FrameSocket socket_;
  std::optional<int> status_{};
};

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

constexpr int kMostStarts = 4;                         // of a worker
constexpr Duration kSeldom = std::chrono::minutes(1);  // all that comes wakes the relay
constexpr Duration kShortestPause = std::chrono::microseconds(20),
                   kLongestPause = std::chrono::milliseconds(1);
constexpr Duration kLongestEnd = std::chrono::seconds(5);  // until all ranks know that the work is over

constexpr int kMostDescriptors = 1024, kLongestDaemon_ms = 10'000;
constexpr std::size_t kMostOrders = 64;  // read at once

// Removes the folder of the run on this host when the daemon, this process's parent, has ended: it removes
// what is in it. A process of its own waits for that, and has no descriptor of this one.
void remove_folder_after(pid_t daemon) {
  const char* const folder = std::getenv(kFolderVariable);
  const std::string_view pattern = kFolderPattern;
  if (folder == nullptr || !std::string_view(folder).starts_with(pattern.substr(0, pattern.find('X'))))
    return;
  if (::fork() != 0) return;
  ::setsid();
  for (int number = 0; number < kMostDescriptors; ++number) ::close(number);
  const Fd ended = open_process(daemon);
  pollfd one{ended.get(), POLLIN, 0};
  if (ended.is_open()) ::poll(&one, 1, kLongestDaemon_ms);
  ::_exit(::rmdir(folder) == 0 ? 0 : 1);
}

// mpirun's exit code is 0 where it goes on after the end of a rank. Its starter reads this line.
void report_exit_code(int code) {
  std::fprintf(stderr, "%s%d\n", kExitLine, code);
  std::fflush(stderr);
}

int signals_to = -1;  // the end of a pipe

// mpirun sends a signal to all ranks when it is to end, and kills them some time later. It is no reason for a
// rank to end at once: the conductor's process ends the work in order, and needs the other ranks for that.
// Returns a descriptor from which a byte is read for each signal.
Fd kept_signals() {
  OpenPipe pipe = open_pipe(O_CLOEXEC | O_NONBLOCK);
  checked(pipe.into.get(), "pipe2()");
  signals_to = pipe.into.release();
  struct sigaction action {};
  action.sa_handler = [](int) { static_cast<void>(::write(signals_to, "", 1) < 0); };
  for (const int number : {SIGTERM, SIGINT, SIGHUP})
    checked(::sigaction(number, &action, nullptr), "sigaction({})", number);
  return std::move(pipe.from);
}

// Passes messages on until the work is over. It sleeps until its worker has a message or bytes come from
// another rank. So while all workers work, as in a turn that is measured, no rank makes a call of MPI.
class Relay {
 public:
  explicit Relay(char** words) : words_(words), worker_(std::make_unique<Worker>(words)) {}

  int run() {
    if (has_starter()) std::fprintf(stderr, "%s\n", kBeginLine);
    for (; !over_; rest()) {
      take_from_others();
      if (messages_.has_heard_all()) connections_.stop_listening();
      take_orders();
      if (messages_.is_at_rest() && connections_.refresh()) look_for_lost();
      deliver();
      if (!over_ && worker_runs_) take_from_worker();
    }
    worker_->socket().close();
    worker_->await_end();
    if (conducts()) report_end();
    const int code = conducts() ? std::max(worker_->exit_code(), has_failed_ ? 1 : 0) : 0;
    if (has_starter()) report_exit_code(code);
    messages_.leave(code);
    return has_starter() ? 0
                         : code;  // mpirun would say much of another one, and kill the ranks that still end
  }

 private:
  bool conducts() const { return messages_.rank() == 0; }
  bool has_starter() const { return conducts() && std::getenv(kStarterVariable) != nullptr; }

  // Passes interruptions on to the worker: of the starter or of mpirun on rank 0, and those of the conductor
  // on the other ranks. The conductor's process is the first one that knows, so it never takes the end of
  // another one for a loss.
  void take_orders() {
    const bool by_signal = has_come(signals_) && conducts(), by_starter = has_come(orders_);
    if (by_signal || by_starter || messages_.take_interrupt()) worker_->interrupt();
  }

  // Returns whether bytes have come, or their end, which comes once.
  static bool has_come(Fd& from) {
    pollfd one{from.get(), POLLIN, 0};
    if (::poll(&one, 1, 0) <= 0) return false;
    std::array<char, kMostOrders> bytes;
    if (::read(from.get(), bytes.data(), bytes.size()) <= 0) from.close();
    return true;
  }

  // Sleeps for a moment while messages are under way, longer the longer it takes, or while connections are
  // made; otherwise until something comes.
  void rest() {
    if (over_ || (!came_.empty() && unsent_.empty())) return;
    if (!messages_.is_at_rest()) return pause();
    busy_since_.reset();
    wait();
  }

  void pause() {
    const Time now = Clock::now();
    if (!busy_since_) busy_since_ = now;
    std::this_thread::sleep_for(std::clamp((now - *busy_since_) / 4, kShortestPause, kLongestPause));
  }

  void wait() {
    const int worker = worker_runs_ ? worker_->socket().get() : -1;
    const Duration patience = connections_.are_settled() ? kSeldom : kLongestPause;
    if (connections_.wait({{.number = worker, .is_full = !unsent_.empty()},
                           {.number = orders_.get()},
                           {.number = signals_.get()}},
                          patience))
      look_for_lost();
  }

  // Called when a connection has ended. It may be that of a relay that has died: those from which something
  // may be awaited are asked.
  void look_for_lost() {
    for (int rank = 0; rank < (conducts() ? messages_.size() : 1); ++rank)
      if (rank != messages_.rank()) messages_.probe(rank);
  }

  // Keeps what the worker does not read yet, because it is at work. More than some stays with the other
  // ranks.
  void take_from_others() {
    while (held_ <= kMostMessageBytes) {
      auto frame = messages_.receive();
      if (!frame) break;
      held_ += frame->body.size();
      came_.push_back(std::move(*frame));
    }
    if (!conducts() && (messages_.end_has_come() || messages_.is_lost(0))) over_ = true;
  }

  void take_from_worker() {
    while (messages_.has_room()) {
      auto frame = worker_->socket().receive(Time{});
      if (!frame) return worker_ended(frame.error());
      if (!*frame) return;
      messages_.send(std::move(**frame));
    }
  }

  // `why`: of the socket, which a worker that ends in order closes.
  void worker_ended(const std::string& why = kClosed) {
    const bool sends_garbage = worker_runs_ && why != kClosed;
    if (sends_garbage) std::fprintf(stderr, "joust-relay: from its process: %s\n", why.c_str());
    has_failed_ |= sends_garbage;
    worker_runs_ = false;
    unsent_ = {};
    if (conducts()) {
      over_ = true;
      return;
    }
    worker_->socket().close();
    const std::string end = "its process has ended: " + worker_->await_end();
    messages_.send({.kind = Frame::Kind::ended, .rank = 0, .body = sends_garbage ? why : end});
  }

  // All calls of MPI are made before: the worker may begin to measure as soon as it has its message.
  void deliver() {
    while (!over_) {
      send_some();
      if (!unsent_.empty() || came_.empty()) return;
      const Frame frame = std::move(came_.front());
      came_.pop_front();
      held_ -= frame.body.size();
      if (!worker_runs_ && frame.kind == Frame::Kind::message && starts_ < kMostStarts) start_anew();
      if (!worker_runs_) {
        worker_ended();
        continue;
      }
      to_worker_ = bytes_of(frame);
      unsent_ = to_worker_;
    }
  }

  void send_some() {
    if (unsent_.empty()) return;
    const auto sent = worker_->socket().send_some(unsent_);
    if (!sent) return worker_ended();
    unsent_.remove_prefix(*sent);
  }

  // A worker that has died does not end its rank: the next request may go better.
  void start_anew() {
    worker_ = std::make_unique<Worker>(words_);
    worker_runs_ = true;
    ++starts_;
  }

  void report_end() {
    for (int rank = 1; rank < messages_.size(); ++rank) messages_.send_end(rank);
    const Time deadline = Clock::now() + kLongestEnd;
    do {
      static_cast<void>(messages_.receive());
      pause();
    } while (!messages_.is_at_rest() && Clock::now() < deadline);
  }

  char** const words_;
  std::unique_ptr<Worker> worker_;  // exists before MPI is initialized
  Messages messages_;
  Connections connections_{};  // of MPI
  Fd signals_ = kept_signals();
  Fd orders_ = has_starter() ? Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) : Fd();
  bool worker_runs_ = true, has_failed_ = false, over_ = false;
  int starts_ = 1;
  std::deque<Frame> came_{};   // for the worker
  std::size_t held_ = 0;       // bytes of their bodies
  std::string to_worker_{};    // the frame that it reads
  std::string_view unsent_{};  // of that one
  std::optional<Time> busy_since_{};
};

}  // namespace
}  // namespace joust::hosts

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("joust-relay: it is started by joust, as a rank of mpirun: joust load --hosts A,B ...\n",
               stderr);
    return 2;
  }
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  try {
    const pid_t daemon = ::getppid();
    const int code = joust::hosts::Relay(argv + 1).run();
    joust::hosts::remove_folder_after(daemon);
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "joust-relay: %s\n", error.what());
    return 1;
  }
}

// Open MPI leaves memory of its modules to the end of the process, and has unloaded the modules by then, so
// that no suppression can name them. In a build with sanitizers the relay therefore looks for no leaks; the
// parts that it shares with joust are looked at in joust's own tests.
#if defined(__SANITIZE_ADDRESS__)
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() {
  return 1;
}  // read by the sanitizer at the end of the process
#endif
