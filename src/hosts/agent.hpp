// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "hosts/rank.hpp"
#include "hosts/seal.hpp"

namespace joust::hosts {

// The key of the number that a reply has in common with its request.
inline constexpr const char* kNumber = "number";

// The work of a host that does not conduct: what a request asks for, by its "do". A handler returns the
// reply. An exception becomes a reply with "failed", its text.
using Handlers = std::map<std::string, std::function<nlohmann::json(const nlohmann::json& request)>>;

// Answers a request: the reply of its handler, with the number of the request.
nlohmann::json answer(const nlohmann::json& request, const Handlers& handlers);

// The reason where a reply is not as expected.
inline constexpr const char* kNotUnderstood =
    "its reply cannot be understood: do all hosts have the same build of joust?";

// Returns why a call has brought no result: no reply has come, or the host could not answer.
std::optional<std::string> failure_in(const std::expected<nlohmann::json, std::string>& reply);

// Answers sealed requests of rank 0, and no others. It has a session of its own, so that no request to an
// earlier process of its rank is served; a request that does not name it is answered with "anew", and the
// conductor repeats it. One thread.
class Agent {
 public:
  // `handlers` outlive it. Throws WeakToken.
  Agent(int rank, std::string_view key, const Handlers& handlers);

  // Returns the sealed reply; nothing if the text is no request of rank 0, or one that has come before.
  std::optional<std::string> reply_to(int from, std::string_view text);

 private:
  const int rank_;
  const Seal seal_;
  const Handlers& handlers_;
  const std::string session_ = Token::make().text();
  std::uint64_t last_ = 0;  // the number of the last request
};

// The key of a reply of an agent that has begun a new session, beside its number.
inline constexpr const char* kAnew = "anew";

// Serves the conductor's requests, one after the other, until the relay ends. Returns the exit code. `idle`
// is called while there is none: it returns when the socket to the relay is readable, or earlier. A message
// that is refused is reported once, on standard error; without a key all are.
int serve_requests(const Rank& own, const Handlers& handlers, const std::function<void(int socket)>& idle);

}  // namespace joust::hosts
