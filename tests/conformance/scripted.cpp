// SPDX-License-Identifier: MIT
#include "conformance/scripted.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace joust::conformance {
namespace {

using What = Told::What;

const std::string kPublished(ScriptedService::kPublications, 'p');

class ScriptedSession : public Session {
 public:
  ScriptedSession(ScriptedService& service, unsigned number) : service_(service), number_(number) {}

  void on_open(Time /*now*/) override {
    service_.tell(What::opened, number_);
    if (service_.holds_this()) service_.gate().hold();
  }
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    const std::string_view letters = wanted_of(as_text(chunk));
    service_.tell(What::bytes, number_, letters.size());
    for (const char letter : letters) obey(letter);
    return letters.size();
  }
  void on_peer_finished(Time /*now*/) override {
    service_.tell(What::finished, number_);
    finished_ = !idles_on_;
  }
  void on_drain(Time /*now*/) override {
    service_.tell(What::drain, number_);
    if (!keeps_on_) finished_ = true;
  }
  void on_failure(const Failure& /*failure*/, Time /*now*/) override {
    service_.tell(What::failure, number_);
  }
  std::size_t output(std::span<Segment> into) const override {
    const std::string_view next = unsent_.empty() ? unheard() : unsent_.front();
    into[0] = {as_bytes(next)};
    return next.empty() ? 0 : 1;
  }
  Want want() const override { return wants_nothing_ && !service_.all_want() ? Want::nothing : Want::bytes; }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override {
    service_.tell(What::sent, number_, n);
    if (unsent_.empty()) {
      heard_ += n;
      return;
    }
    unsent_.front().remove_prefix(n);
    if (unsent_.front().empty()) unsent_.pop_front();
  }
  void released(std::size_t /*n*/) override {}  // output points to constants

 private:
  // Input after an 'n' is not wanted.
  std::string_view wanted_of(std::string_view letters) const {
    if (want() == Want::nothing) return {};
    const std::size_t last = service_.all_want() ? std::string_view::npos : letters.find('n');
    return last == std::string_view::npos ? letters : letters.substr(0, last + 1);
  }
  std::string_view unheard() const {
    return std::string_view(kPublished).substr(heard_, service_.published() - heard_);
  }
  // Publications come first, because a part of them may already be consumed.
  void say(std::string_view text, std::size_t times = 1) {
    if (!unheard().empty()) heard_ += unsent_.emplace_back(unheard()).size();
    unsent_.insert(unsent_.end(), times, text);
  }

  void obey(char letter) {
    switch (letter) {
      case 'e':
        say("e");
        break;
      case 'h':
        service_.gate().hold();
        break;
      case 'n':
        wants_nothing_ = true;
        break;
      case 's':
        say("sixteen letters.", ScriptedService::kSegments);
        break;
      case 'i':
        idles_on_ = true;
        break;
      case 'k':
        keeps_on_ = true;
        break;
      case 'p':
        service_.publish();
        break;
      default:
        break;
    }
  }

  ScriptedService& service_;
  const unsigned number_;
  std::deque<std::string_view> unsent_;
  std::size_t heard_ = 0;  // published letters that have been sent, or are in unsent_
  bool wants_nothing_ = false;
  bool idles_on_ = false;
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

std::unique_ptr<Session> ScriptedService::open(const ConnectionInfo& /*info*/) {
  return std::make_unique<ScriptedSession>(*this, state_->sessions++);
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
  state_->all_want = true;
  publications_.announce();
}

void ScriptedService::publish() {
  ++state_->published;
  publications_.announce();
}

void ScriptedService::tell(What what, unsigned session, std::size_t size) {
  const std::size_t place = state_->begun++;
  if (place >= kLongestLog) std::abort();
  state_->log[place] = {what, session, size, ::gettid()};
  std::size_t before = place;
  while (!state_->told.compare_exchange_weak(before, place + 1)) before = place;
}

std::vector<Told> ScriptedService::log() const {
  return {state_->log.begin(), state_->log.begin() + static_cast<std::ptrdiff_t>(state_->told.load())};
}

std::vector<Told> ScriptedService::told_since() const {
  const std::vector<Told> all = log();
  return {std::ranges::find(all, What::mark, &Told::what), all.end()};
}

std::vector<Told> ScriptedService::told_before(unsigned session) const {
  std::vector<Told> told = told_since();
  const auto next = std::ranges::find_if(
      told, [&](const Told& one) { return one.what == What::bytes && one.session == session; });
  told.erase(next, told.end());
  return told;
}

void ScriptedService::await(What what, unsigned session) const {
  await([&] {
    const std::vector<Told> all = log();
    return std::ranges::any_of(
        all, [&](const Told& told) { return told.what == what && told.session == session; });
  });
}

void ScriptedService::await(const std::function<bool()>& told) {
  const Time give_up = Clock::now() + kPatience;
  while (!told()) {
    if (Clock::now() > give_up) throw std::runtime_error("the session is not told");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void ScriptedService::await_bytes(std::size_t bytes, unsigned session) const {
  await([&] { return bytes_of(session) >= bytes; });
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
