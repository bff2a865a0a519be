// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "hosts/rank.hpp"

namespace joust::hosts {

// The key of the number that a reply has in common with its request.
inline constexpr const char* kNumber = "number";

// The work of a host that does not conduct: what a request asks for, by its "do". A handler returns the
// reply. An exception becomes a reply with "failed", its text.
using Handlers = std::map<std::string, std::function<nlohmann::json(const nlohmann::json& request)>>;

// Answers a request: the reply of its handler, with the number of the request.
nlohmann::json answer(const nlohmann::json& request, const Handlers& handlers);

// Returns why a call has brought no result: no reply has come, or the host could not answer.
std::optional<std::string> failure_in(const std::expected<nlohmann::json, std::string>& reply);

// Serves the conductor's requests, one after the other, until the relay ends. Returns the exit code. `idle`
// is called while there is none: it returns when the socket to the relay is readable, or earlier.
int serve_requests(const Rank& own, const Handlers& handlers, const std::function<void(int socket)>& idle);

}  // namespace joust::hosts
