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
  json asked = request(step);
  if (std::string_view(step) == "start") asked["order"] = order_;
  return step_of<Result>(link_.name(), link_.call(asked, patience + kForAnswer));
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

Step<double> RemoteServer::wake(TurnSize) {
  return ask<double>("wake", {});
}

Step<SideTurn> RemoteServer::rest() {
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
