// SPDX-License-Identifier: MIT
#include "hosts/agent.hpp"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "hosts/frame_socket.hpp"
#include "hosts/message.hpp"

namespace joust::hosts {
namespace {

using Json = nlohmann::json;

}  // namespace

Json answer(const Json& request, const Handlers& handlers) {
  Json reply = Json::object();
  const bool names_it = request.is_object() && request.contains("do") && request["do"].is_string();
  const std::string what = names_it ? request["do"].get<std::string>() : std::string();
  const auto handler = handlers.find(what);
  if (handler == handlers.end()) {
    reply["failed"] = fmt::format("this joust knows no request '{}': is it another version?", what);
  } else {
    try {
      reply = handler->second(request);
    } catch (const std::exception& error) {
      reply["failed"] = error.what();
    }
  }
  if (request.is_object() && request.contains(kNumber)) reply[kNumber] = request[kNumber];
  return reply;
}

std::optional<std::string> failure_in(const std::expected<Json, std::string>& reply) {
  if (!reply) return reply.error();
  if (!reply->contains("failed")) return std::nullopt;
  return reply->at("failed").get<std::string>();
}

int serve_requests(const Rank& own, const Handlers& handlers, const std::function<void(int socket)>& idle) {
  FrameSocket socket{Fd(own.relay)};
  for (;;) {
    const auto frame = socket.receive(Time{});
    if (!frame) return 0;  // the work is over
    if (!*frame) idle(socket.get());
    if (!*frame || (*frame)->kind != Frame::Kind::message) continue;
    const Json reply = answer(message_in((*frame)->body), handlers);
    const Frame out{.rank = (*frame)->rank,
                    .body = reply.dump(-1, ' ', false, Json::error_handler_t::replace)};
    if (!socket.send(out, Clock::now() + kToRelay)) return 1;
  }
}

}  // namespace joust::hosts
