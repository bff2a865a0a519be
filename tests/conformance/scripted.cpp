// SPDX-License-Identifier: MIT
#include "conformance/scripted.hpp"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <new>
#include <ranges>
#include <stdexcept>
#include <thread>

namespace joust::conformance {
namespace {

using What = Told::What;

class ScriptedSession : public Session {
 public:
  ScriptedSession(ScriptedService& service, unsigned number) : service_(service), number_(number) {}

  void on_open(Time /*now*/) override {
    service_.tell(What::opened, number_);
    if (service_.holds_this()) service_.gate().hold();
  }
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    service_.tell(What::bytes, number_, chunk.size());
    std::size_t taken = 0;
    while (taken < chunk.size() && want() == Want::bytes) obey(static_cast<char>(chunk[taken++]));
    return taken;
  }
  void on_peer_finished(Time /*now*/) override {
    service_.tell(What::finished, number_);
    finished_ = true;
  }
  void on_drain(Time /*now*/) override {
    service_.tell(What::drain, number_);
    if (!keeps_on_) finished_ = true;
  }
  void on_failure(const Failure& /*failure*/, Time /*now*/) override {
    service_.tell(What::failure, number_);
  }
  std::size_t output(std::span<Segment> into) const override {
    if (unsent_.empty()) return 0;
    into[0] = {as_bytes(unsent_.front())};
    return 1;
  }
  Want want() const override {
    return wants_nothing_ && !service_.all_want() ? Want::nothing : Want::bytes;
  }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override {
    service_.tell(What::sent, number_, n);
    unsent_.front().remove_prefix(n);
    if (unsent_.front().empty()) unsent_.pop_front();
  }
  void released(std::size_t /*n*/) override {}  // constants are shown

 private:
  void obey(char letter) {
    switch (letter) {
      case 'e': unsent_.emplace_back("e"); break;
      case 'h': service_.gate().hold(); break;
      case 'n': wants_nothing_ = true; break;
      case 's': unsent_.insert(unsent_.end(), ScriptedService::kSegments, "sixteen letters."); break;
      case 'k': keeps_on_ = true; break;
      case 't': throw std::bad_alloc();
      default: break;
    }
  }

  ScriptedService& service_;
  const unsigned number_;
  std::deque<std::string_view> unsent_;
  bool wants_nothing_ = false;
  bool keeps_on_ = false;
  bool finished_ = false;
};

}  // namespace

std::size_t bytes_of(unsigned session, std::span<const Told> told) {
  std::size_t bytes = 0;
  for (const Told& one : told)
    if (one.what == What::bytes && one.session == session) bytes += one.size;
  return bytes;
}

std::unique_ptr<Session> ScriptedService::open(const Opening& /*opening*/) {
  return std::make_unique<ScriptedSession>(*this, sessions_++);
}

Peer ScriptedService::join(const Server& server) {
  Peer peer(server.endpoint());
  peer.send("e");
  peer.receive(1);
  return peer;
}

void ScriptedService::let_go() {
  tell(What::mark, 0);
  gate_.let_go();
}

void ScriptedService::want_again() {
  all_want_ = true;
  publications_.announce();
}

void ScriptedService::tell(What what, unsigned session, std::size_t size) {
  const std::lock_guard lock(mutex_);
  log_.push_back({what, session, size, ::gettid()});
}

std::vector<Told> ScriptedService::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

std::vector<Told> ScriptedService::told_before(unsigned session) const {
  const std::vector<Told> all = log();
  const auto mark = std::ranges::find(all, What::mark, &Told::what);
  return {mark, std::find_if(mark, all.end(), [&](const Told& told) {
            return told.what == What::bytes && told.session == session;
          })};
}

void ScriptedService::await(What what, unsigned session) const {
  const auto is_it = [&](const Told& told) { return told.what == what && told.session == session; };
  const Time give_up = Clock::now() + kPatience;
  while (std::ranges::none_of(log(), is_it)) {
    if (Clock::now() > give_up) throw std::runtime_error("the session is not told");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int ScriptedService::thread_of(unsigned session) const {
  const std::vector<Told> all = log();
  const auto last = std::ranges::find(all | std::views::reverse, session, &Told::session);
  return last->thread;
}

bool ScriptedService::on_one_thread() const {
  const std::vector<Told> all = log();
  return std::ranges::all_of(all, [&](const Told& told) { return told.thread == all.front().thread; });
}

}  // namespace joust::conformance
