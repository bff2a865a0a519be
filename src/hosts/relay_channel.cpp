// SPDX-License-Identifier: MIT
#include "hosts/relay_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/bytes.hpp"
#include "base/document.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "hosts/agent.hpp"
#include "hosts/link.hpp"
#include "joust/limits.hpp"

namespace joust::hosts {
namespace {

using Json = nlohmann::json;

constexpr int kMostSent = 8;  // the same request, to a process that is another one each time
constexpr Duration kBetweenLooks = std::chrono::seconds(1);  // for an interruption; a signal ends a wait

// How long replies are awaited in all once the work is interrupted: a load may wait for its last replies as
// long as its server may for its own (Limits::drain).
constexpr Duration kAfterInterruption = Limits{}.drain + std::chrono::milliseconds(600);

// Returns a text without a seal, of the end of another rank, in a form that can only be shown.
std::string in_one_line(const std::string& text) {
  constexpr std::size_t kMostShown = 500;
  return printable(text.substr(0, kMostShown));
}

std::expected<Json, std::string> parsed(const std::string& text) {
  Json message = documents::parsed<Json>(text);
  if (message.is_object()) return message;
  return std::unexpected("its message is no JSON object");
}

}  // namespace

RelayChannel::RelayChannel(const Rank& own, std::function<bool()> is_interrupted)
    : size_(own.size), is_interrupted_(std::move(is_interrupted)), socket_(Fd(own.relay)), seal_(own.key) {}

std::expected<void, std::string> RelayChannel::send(int rank, const Json& request) {
  ended_.erase(rank);  // its relay starts it anew
  came_.erase(rank);
  awaited_[rank] = request.at(kNumber).get<std::uint64_t>();
  const Seal::Message message{
      .session = sessions_[rank], .number = request.at(kNumber).get<std::uint64_t>(), .body = request.dump()};
  const auto sent =
      socket_.send({.rank = rank, .body = seal_.sealed(0, rank, message)}, Clock::now() + kToRelay);
  if (!sent) return std::unexpected("joust-relay: " + sent.error());
  return {};
}

void RelayChannel::take(const Frame& frame) {
  if (frame.kind == Frame::Kind::ended) {
    ended_.insert_or_assign(frame.rank, in_one_line(frame.body));
    return;
  }
  auto message = seal_.opened(frame.rank, 0, frame.body);
  if (message && is_awaited(frame.rank, *message)) {
    awaited_.erase(frame.rank);
    came_.insert_or_assign(frame.rank, std::move(*message));
  } else if (++refused_[frame.rank] == 1) {
    std::fprintf(stderr, "joust: rank 0 has refused a message in the name of rank %d: it is no reply of it\n",
                 frame.rank);
  }
}

// A reply has the number of the request. It comes once: whoever repeats it has nothing to say.
bool RelayChannel::is_awaited(int rank, const Seal::Message& message) {
  const auto awaited = awaited_.find(rank);
  return awaited != awaited_.end() && awaited->second == message.number;
}

// Runs with one key have numbers of their own, so that no reply of an earlier run is one of this.
std::uint64_t RelayChannel::first_number() {
  constexpr int kBits = 52;  // a JSON number keeps it, and there is room for all requests of a run
  return random_number() >> (64 - kBits);
}

std::string RelayChannel::no_answer(int rank, Duration patience) const {
  const std::string why = fmt::format("no answer within {}", format_duration(patience));
  const auto refused = refused_.find(rank);
  if (refused == refused_.end()) return why;
  return fmt::format("{}; {} in its name had not the key of this run, or came again", why,
                     counted(refused->second, "message"));
}

// This process knows first, and then asks the others: so it takes the end of none for a loss.
void RelayChannel::look_for_interruption() {
  if (ends_ || !is_interrupted_()) return;
  ends_ = Clock::now() + kAfterInterruption;
  for (int rank = 1; rank < size_; ++rank)
    static_cast<void>(socket_.send({.kind = Frame::Kind::interrupt, .rank = rank}, *ends_));
}

std::expected<Json, std::string> RelayChannel::receive(int rank, Duration patience) {
  const Time begin = Clock::now();
  for (;;) {
    look_for_interruption();
    const Time deadline = std::min(begin + patience, ends_.value_or(Time::max()));
    if (const auto came = came_.extract(rank)) {
      sessions_[rank] = came.mapped().session;
      return parsed(came.mapped().body);
    }
    if (const auto ended = ended_.extract(rank)) return std::unexpected(ended.mapped());
    const auto frame = socket_.receive(std::min(deadline, Clock::now() + kBetweenLooks));
    if (!frame) return std::unexpected("joust-relay: " + frame.error());
    if (*frame) take(**frame);
    if (came_.contains(rank) || ended_.contains(rank)) continue;
    if (ends_ && Clock::now() >= *ends_) return std::unexpected("interrupted");
    if (Clock::now() >= begin + patience) return std::unexpected(no_answer(rank, patience));
  }
}

std::expected<Json, std::string> RelayLink::call(const Json& request, Duration patience) {
  if (const auto posted = post(request); !posted) return std::unexpected(posted.error());
  return await(patience);
}

std::expected<void, std::string> RelayLink::post(const Json& request) {
  posted_ = request;
  posted_[kNumber] = channel_->next_number();
  return channel_->send(rank_, posted_);
}

std::expected<Json, std::string> RelayLink::await(Duration patience) {
  const Time deadline = Clock::now() + patience;
  for (int sent = 1;; ++sent) {
    auto reply = channel_->receive(rank_, std::max(Duration{}, deadline - Clock::now()));
    if (!reply) return reply;
    if (!reply->contains(kAnew)) return reply;
    if (sent == kMostSent) return std::unexpected("its process begins anew again and again");
    if (const auto again = channel_->send(rank_, posted_); !again) return std::unexpected(again.error());
  }
}

}  // namespace joust::hosts
