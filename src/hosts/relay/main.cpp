// SPDX-License-Identifier: MIT
//
// joust-relay PROGRAM ARGUMENT...: a rank of a load or a race over several hosts. It starts PROGRAM, which
// does all of the work, and passes its messages to the other ranks by MPI. It is a program of its own for two
// reasons. MPI's library and its threads are then in no process that measures or is measured. And joust
// itself needs no MPI: with it, every command would start later and take more memory.
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>

#include "hosts/relay/messages.hpp"
#include "hosts/relay/worker.hpp"

namespace joust::hosts {
namespace {

constexpr Duration kToWorker = std::chrono::seconds(60);  // a worker that reads nothing has failed
constexpr Duration kOften = std::chrono::milliseconds(1), kSeldom = std::chrono::milliseconds(50);
// A reply that is due is looked for often so long. An agent at work looks for the end of all after so long.
constexpr Duration kAwaited = std::chrono::seconds(1), kLongestWork = std::chrono::minutes(1);

// Passes messages on until the work is over. While it is quiet, no call of MPI is made.
class Relay {
 public:
  explicit Relay(char** words) : worker_(words) {}

  int run() {
    while (!over_) {
      await_worker();
      if (worker_runs_) take_from_worker();
      if (!over_ && !is_silent()) take_from_others();
    }
    worker_.socket().close();
    worker_.await_end();
    if (conducts())
      for (int rank = 1; rank < messages_.size(); ++rank) messages_.send_end(rank);
    const int code = conducts() ? worker_.exit_code() : 0;
    messages_.leave(code);
    return code;
  }

 private:
  bool conducts() const { return messages_.rank() == 0; }

  // Returns whether nobody but the worker can have a message. On rank 0: as long as no reply can come; on the
  // others: while the worker works at a request.
  bool is_silent() const { return worker_runs_ && Clock::now() < silent_until(); }

  Time silent_until() const {
    if (!conducts()) return quiet_.empty() ? Time{} : quiet_.begin()->second + kLongestWork;
    Time first = Time::max();
    for (const auto& [rank, until] : quiet_) first = std::min(first, until);
    return first;
  }

  // Returns how long to sleep between two looks at the messages of others.
  Duration pause() const {
    if (is_silent())
      return std::clamp<Duration>(silent_until() - Clock::now(), kOften, std::chrono::seconds(1));
    const bool works = !conducts() && !quiet_.empty();
    const bool is_late = conducts() && !quiet_.empty() && Clock::now() > silent_until() + kAwaited;
    return works || is_late || !worker_runs_ ? kSeldom : kOften;
  }

  void await_worker() {
    pollfd event{worker_runs_ ? worker_.socket().get() : -1, POLLIN, 0};
    ::poll(&event, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(pause()).count()));
  }

  void take_from_worker() {
    for (;;) {
      const auto frame = worker_.socket().receive(Time{});
      if (!frame) return worker_ended();
      if (!*frame) return;
      pass_on(std::move(**frame));
    }
  }

  void pass_on(Frame frame) {
    if (conducts())
      quiet_[frame.rank] = Clock::now() + frame.quiet;
    else
      quiet_.clear();  // the reply
    const auto sent = messages_.send(frame);
    if (!sent) to_worker({.kind = Frame::Kind::ended, .rank = frame.rank, .body = sent.error()});
  }

  void worker_ended() {
    worker_runs_ = false;
    if (conducts()) {
      over_ = true;
      return;
    }
    quiet_.clear();
    worker_.socket().close();
    static_cast<void>(messages_.send(
        {.kind = Frame::Kind::ended, .rank = 0, .body = "its process has ended: " + worker_.await_end()}));
  }

  void take_from_others() {
    while (auto frame = messages_.receive()) {
      if (conducts())
        quiet_.erase(frame->rank);
      else
        quiet_[frame->rank] = Clock::now() + frame->quiet;
      to_worker(*frame);
      if (is_silent()) return;
    }
    if (!conducts() && messages_.end_has_come()) over_ = true;
  }

  void to_worker(const Frame& frame) {
    if (worker_runs_ && !worker_.socket().send(frame, Clock::now() + kToWorker)) worker_ended();
  }

  Worker worker_;  // exists before MPI is initialized
  Messages messages_;
  bool worker_runs_ = true, over_ = false;
  // By rank, from when on a reply may come: on rank 0 those of the others, else that of the own worker.
  std::map<int, Time> quiet_{};
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
    return joust::hosts::Relay(argv + 1).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "joust-relay: %s\n", error.what());
    return 1;
  }
}
