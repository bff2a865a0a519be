// SPDX-License-Identifier: MIT
#include "hosts/relay_channel.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/units.hpp"
#include "hosts/agent.hpp"
#include "hosts/message.hpp"

namespace joust::hosts {
namespace {

using Json = nlohmann::json;

std::expected<Json, std::string> parsed(const std::string& text) {
  Json message = message_in(text);
  if (message.is_object()) return message;
  return std::unexpected("its message is no JSON object");
}

}  // namespace

RelayChannel::RelayChannel(const Rank& own) : socket_(Fd(own.relay)) {}

std::expected<void, std::string> RelayChannel::send(int rank, const Json& message) {
  ended_.erase(rank);  // its relay starts it anew
  const auto sent = socket_.send({.rank = rank, .body = message.dump()}, Clock::now() + kToRelay);
  if (!sent) return std::unexpected("joust-relay: " + sent.error());
  return {};
}

void RelayChannel::take(const Frame& frame) {
  if (frame.kind == Frame::Kind::ended)
    ended_.insert_or_assign(frame.rank, frame.body);
  else
    came_[frame.rank].push_back(frame.body);
}

std::expected<Json, std::string> RelayChannel::receive(int rank, Duration patience) {
  const Time deadline = Clock::now() + patience;
  for (;;) {
    if (auto& came = came_[rank]; !came.empty()) {
      const std::string text = std::exchange(came.front(), {});
      came.pop_front();
      return parsed(text);
    }
    if (const auto ended = ended_.extract(rank)) return std::unexpected(ended.mapped());
    const auto frame = socket_.receive(deadline);
    if (!frame) return std::unexpected("joust-relay: " + frame.error());
    if (!*frame) return std::unexpected(fmt::format("no answer within {}", format_duration(patience)));
    take(**frame);
  }
}

std::expected<Json, std::string> RelayLink::call(const Json& request, Duration patience) {
  if (const auto posted = post(request); !posted) return std::unexpected(posted.error());
  return await(patience);
}

std::expected<void, std::string> RelayLink::post(const Json& request) {
  Json numbered = request;
  numbered[kNumber] = ++posted_;
  return channel_->send(rank_, numbered);
}

std::expected<Json, std::string> RelayLink::await(Duration patience) {
  const Time deadline = Clock::now() + patience;
  for (;;) {
    auto reply = channel_->receive(rank_, std::max(Duration{}, deadline - Clock::now()));
    if (!reply || (reply->contains(kNumber) && (*reply)[kNumber] == posted_)) return reply;
  }
}

}  // namespace joust::hosts
