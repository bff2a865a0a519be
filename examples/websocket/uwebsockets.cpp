// SPDX-License-Identifier: MIT
//
// Echo, or a room in which every message goes to all, with uWebSockets: uwebsockets echo|room PORT
//
// What waits for a connection that reads slowly has a limit, at which the connection ends.
#include <App.h>

#include <iostream>
#include <string>

namespace {

constexpr unsigned kLargestMessage = 1 << 20, kMostWaiting = 64 << 20;

struct Nothing {};  // is known of a connection

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return std::cerr << "usage: uwebsockets echo|room PORT\n", 2;
  const bool is_room = arguments[1] == std::string("room");
  uWS::App app;
  uWS::App::WebSocketBehavior<Nothing> behavior;
  behavior.maxPayloadLength = kLargestMessage;
  behavior.maxBackpressure = kMostWaiting;
  behavior.closeOnBackpressureLimit = true;
  behavior.open = [is_room](auto* connection) {
    if (is_room) connection->subscribe("room");
  };
  behavior.message = [is_room, &app](auto* connection, std::string_view message, uWS::OpCode kind) {
    if (is_room)
      app.publish("room", message, kind);
    else
      connection->send(message, kind);
  };
  app.ws<Nothing>("/*", std::move(behavior));
  bool listens = false;
  app.listen("127.0.0.1", std::stoi(arguments[2]), [&](auto* listener) { listens = listener != nullptr; });
  if (!listens) return std::cerr << "the port cannot be listened on\n", 1;
  app.run();
}
