// SPDX-License-Identifier: MIT
#include "race/hosts/remote_server.hpp"

#include <utility>

#include "race/hosts/side_json.hpp"

namespace joust::race {

using nlohmann::json;

json RemoteServer::request(const char* step) const {
  return {{"do", "side"}, {"role", "server"}, {"step", step}, {"contestant", number_}};
}

template <typename Result>
Step<Result> RemoteServer::ask(const char* step, Duration patience) {
  if (auto ended = await_turn(); !ended) return std::unexpected(std::move(ended.error()));
  json asked = request(step);
  if (std::string_view(step) == "start") asked["order"] = order_;
  return step_of<Result>(link_.name(), link_.call(asked, patience + kForAnswer));
}

// Awaits the reply to the request of a turn, if one is under way.
Step<> RemoteServer::await_turn() {
  const auto patience = std::exchange(answered_in_, std::nullopt);
  return patience ? step_of<void>(link_.name(), link_.await(*patience + kForAnswer)) : Step<>();
}

// Returns how long a turn lasts, without the wait for its last reply. Counted turns are about as long as the
// last one.
Duration RemoteServer::expected(TurnSize turn) const {
  return lead_ + turn.time + per_message_ * static_cast<std::int64_t>(turn.messages);
}

// A link that has failed has been reported by an earlier step.
RemoteServer::~RemoteServer() {
  (void)ask<void>("forget", order_.time_to_stop);
}

Step<ServerStart> RemoteServer::start() {
  return ask<ServerStart>("start", order_.time_to_start);
}

Step<> RemoteServer::settle() {
  return ask<void>("settle", kForAnswer);  // a server may take as long to fork
}

Step<double> RemoteServer::wake(TurnSize turn) {
  auto used_s = ask<double>("wake", {});
  if (!used_s) return used_s;
  turn_ = turn;
  begun_ = Clock::now();
  json attend = request("attend");
  attend["time"] = expected(turn);
  attend["quiet_ms"] = std::chrono::floor<std::chrono::milliseconds>(expected(turn)).count();
  if (auto posted = link_.post(attend); !posted)
    return step_of<double>(link_.name(), std::unexpected(std::move(posted.error())));
  answered_in_ = expected(turn);
  return used_s;
}

Step<SideTurn> RemoteServer::rest() {
  if (turn_.messages > 0) per_message_ = (Clock::now() - begun_) / static_cast<std::int64_t>(turn_.messages);
  return ask<SideTurn>("rest", {});
}

Step<> RemoteServer::sum_up() {
  return ask<void>("sum_up", {});
}

Step<ServerEnd> RemoteServer::finish() {
  return ask<ServerEnd>("finish", 2 * order_.time_to_stop);  // until it has drained, and until it has ended
}

void RemoteServer::end() {
  (void)ask<void>("end", order_.time_to_stop);
}

}  // namespace joust::race
