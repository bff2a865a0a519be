// SPDX-License-Identifier: MIT
#include "hosts/agent.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/document.hpp"
#include "base/text.hpp"
#include "hosts/frame.hpp"
#include "hosts/link.hpp"

namespace joust::hosts {
namespace {

using Json = nlohmann::json;

constexpr int kConductor = 0;  // a rank
constexpr Duration kBetweenRequests = std::chrono::minutes(1);

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
      reply["failed"] = words_of(error);
    }
  }
  if (request.is_object() && request.contains(kNumber)) reply[kNumber] = request[kNumber];
  return reply;
}

std::optional<std::string> failure_in(const std::expected<Json, std::string>& reply) {
  if (!reply) return reply.error();
  const auto failed = reply->find("failed");
  if (failed == reply->end()) return std::nullopt;
  return failed->is_string() ? failed->get<std::string>() : kNotUnderstood;
}

namespace {

// Waits for a request, because rank 0 may have no key either: then it has said so, and ends the run. Returns
// the exit code.
int refuse_all(FrameSocket& socket, int rank) {
  for (;;) {
    const auto frame = socket.receive(Clock::now() + kBetweenRequests);
    if (!frame) return 0;
    if (!*frame) continue;
    std::fprintf(stderr, "joust: rank %d has no key of the run: say mpirun -x %s\n", rank, kKeyVariable);
    return 1;
  }
}

}  // namespace

Agent::Agent(int rank, std::string_view key, const Handlers& handlers)
    : rank_(rank), seal_(key), handlers_(handlers) {}

std::optional<std::string> Agent::reply_to(int from, std::string_view text) {
  if (from != kConductor) return std::nullopt;
  const auto request = seal_.opened(kConductor, rank_, text);
  if (!request) return std::nullopt;
  Json reply;
  if (request->session != session_) {
    reply = {{kAnew, true}, {kNumber, request->number}};
  } else {
    if (request->number <= last_) return std::nullopt;
    last_ = request->number;
    reply = answer(documents::parsed<nlohmann::json>(request->body), handlers_);
  }
  return seal_.sealed(rank_, kConductor,
                      {.session = session_,
                       .number = request->number,
                       .body = reply.dump(-1, ' ', false, Json::error_handler_t::replace)});
}

int serve_requests(const Rank& own, const Handlers& handlers, const std::function<void(int socket)>& idle) {
  FrameSocket socket{Fd(own.relay)};
  if (!Seal::is_key(own.key)) return refuse_all(socket, own.rank);
  Agent agent(own.rank, own.key, handlers);
  bool has_refused = false;
  for (;;) {
    const auto frame = socket.receive(Time{});
    if (!frame) return 0;  // the work is over
    if (!*frame) idle(socket.get());
    if (!*frame || (*frame)->kind != Frame::Kind::message) continue;
    auto reply = agent.reply_to((*frame)->rank, (*frame)->body);
    if (!reply && !std::exchange(has_refused, true))
      std::fprintf(
          stderr, "joust: rank %d has refused a message in the name of rank %d without the key of this run\n",
          own.rank, (*frame)->rank);
    if (!reply) continue;
    const Frame out{.rank = kConductor, .body = std::move(*reply)};
    if (!socket.send(out, Clock::now() + kToRelay)) return 1;
  }
}

}  // namespace joust::hosts
