// SPDX-License-Identifier: MIT
//
// joust-relay PROGRAM ARGUMENT...: a rank of a load or a race over several hosts. It starts PROGRAM, which
// does all of the work, and passes its messages to the other ranks by MPI. It is a program of its own for two
// reasons. MPI's library and its threads are then in no process that measures or is measured. And joust
// itself needs no MPI: with it, every command would start later and take more memory.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "hosts/rank.hpp"
#include "hosts/relay/connections.hpp"
#include "hosts/relay/messages.hpp"
#include "hosts/relay/worker.hpp"

namespace joust::hosts {
namespace {

constexpr Duration kToWorker = std::chrono::seconds(60);  // a worker that reads nothing has failed
constexpr int kMostStarts = 4;                            // of a worker
constexpr Duration kSeldom = std::chrono::minutes(1);     // all that comes wakes the relay

// mpirun's exit code is 0 where it goes on after the end of a rank. Whoever has started it reads this line.
void report_exit_code(int code) {
  std::fprintf(stderr, "%s%d\n", kExitLine, code);
  std::fflush(stderr);
}

// Passes messages on until the work is over. It sleeps until its worker has a message or bytes come from
// another rank. So while all workers work, as in a turn that is measured, no rank makes a call of MPI.
class Relay {
 public:
  explicit Relay(char** words) : words_(words), worker_(std::make_unique<Worker>(words)) {}

  int run() {
    while (!over_) {
      take_from_others();
      if (connections_.refresh()) note_an_end();
      deliver();
      if (!over_ && worker_runs_) take_from_worker();
      // A send may have read what has come meanwhile: nothing would wake this process for it.
      if (!over_ && !std::exchange(has_sent_, false)) wait();
    }
    worker_->socket().close();
    worker_->await_end();
    if (conducts())
      for (int rank = 1; rank < messages_.size(); ++rank)
        if (!lost_.contains(rank)) messages_.send_end(rank);
    const int code = conducts() ? worker_->exit_code() : 0;
    if (conducts() && std::getenv(kStarterVariable) != nullptr) report_exit_code(code);
    messages_.leave(code);
    return code;
  }

 private:
  bool conducts() const { return messages_.rank() == 0; }

  void wait() {
    const auto event = connections_.wait(worker_runs_ ? worker_->socket().get() : -1, kSeldom);
    if (event == Connections::Event::end) note_an_end();
  }

  void note_an_end() {
    has_sent_ = true;
    if (conducts())
      look_for_lost();
    else if (!messages_.reaches(0))
      over_ = true;
  }

  // Finds out which rank has ended, so that no reply of it is awaited.
  void look_for_lost() {
    for (int rank = 1; rank < messages_.size(); ++rank) {
      if (lost_.contains(rank) || messages_.reaches(rank)) continue;
      const std::string why = "its relay has ended, or cannot be reached";
      lost_.emplace(rank, why);
      came_.push_back({.kind = Frame::Kind::ended, .rank = rank, .body = why});
    }
  }

  void take_from_worker() {
    for (;;) {
      auto frame = worker_->socket().receive(Time{});
      if (!frame) return worker_ended();
      if (!*frame) return;
      pass_on(**frame);
    }
  }

  void pass_on(const Frame& frame) {
    const auto sent = send(frame);
    if (sent) return;
    if (!conducts()) over_ = true;
    came_.push_back({.kind = Frame::Kind::ended, .rank = frame.rank, .body = sent.error()});
  }

  // A rank that has not taken a message is not tried again, because each try takes some seconds.
  std::expected<void, std::string> send(const Frame& frame) {
    if (const auto lost = lost_.find(frame.rank); lost != lost_.end()) return std::unexpected(lost->second);
    has_sent_ = true;
    auto sent = messages_.send(frame);
    if (!sent) lost_.emplace(frame.rank, sent.error());
    return sent;
  }

  void worker_ended() {
    worker_runs_ = false;
    if (conducts()) {
      over_ = true;
      return;
    }
    worker_->socket().close();
    static_cast<void>(send(
        {.kind = Frame::Kind::ended, .rank = 0, .body = "its process has ended: " + worker_->await_end()}));
  }

  void take_from_others() {
    while (auto frame = messages_.receive()) came_.push_back(std::move(*frame));
    if (!conducts() && messages_.end_has_come()) over_ = true;
  }

  // All calls of MPI are made before: the worker may begin to measure as soon as it has its message.
  void deliver() {
    for (; !came_.empty() && !over_; came_.pop_front()) {
      const Frame& frame = came_.front();
      if (!worker_runs_ && frame.kind == Frame::Kind::message && starts_ < kMostStarts) start_anew();
      if (worker_runs_ && !worker_->socket().send(frame, Clock::now() + kToWorker)) worker_runs_ = false;
      if (!worker_runs_) worker_ended();
    }
  }

  // A worker that has died does not end its rank: the next request may go better.
  void start_anew() {
    worker_ = std::make_unique<Worker>(words_);
    worker_runs_ = true;
    ++starts_;
  }

  char** const words_;
  std::unique_ptr<Worker> worker_;  // exists before MPI is initialized
  Messages messages_;
  Connections connections_{};  // of MPI
  bool worker_runs_ = true, over_ = false, has_sent_ = false;
  int starts_ = 1;
  std::deque<Frame> came_{};           // for the worker
  std::map<int, std::string> lost_{};  // ranks that take no messages, and why
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
