// SPDX-License-Identifier: MIT
#include "hosts/agent.hpp"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "hosts/frame_socket.hpp"

namespace joust::hosts {
namespace {

using Json = nlohmann::json;

constexpr Duration kLook = std::chrono::hours(1);

}  // namespace

Json answer(const Json& request, const Handlers& handlers) {
  Json reply = Json::object();
  const std::string what = request.is_object() ? request.value("do", std::string()) : std::string();
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

int serve_requests(const Rank& own, const Handlers& handlers) {
  FrameSocket socket{Fd(own.relay)};
  for (;;) {
    const auto frame = socket.receive(Clock::now() + kLook);
    if (!frame) return 0;  // the work is over
    if (!*frame || (*frame)->kind != Frame::Kind::message) continue;
    const Json reply = answer(Json::parse((*frame)->body, nullptr, false), handlers);
    const Frame out{.rank = (*frame)->rank,
                    .body = reply.dump(-1, ' ', false, Json::error_handler_t::replace)};
    if (!socket.send(out, Clock::now() + kToRelay)) return 1;
  }
}

}  // namespace joust::hosts
