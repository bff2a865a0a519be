// SPDX-License-Identifier: MIT
//
// http: files of one directory over HTTP/1.1 (docs/http-protocol.md), so that browsers, curl and wrk are
// clients of every engine.
//
//     GET or HEAD, maybe with a range or conditions --> the file, a part of it, or a status
//
// Files are read-only. Without --root, the path `/` is a text, which a load asks for and compares.
#include "protocols/http/protocol.hpp"

#include "protocols/http/client_plan.hpp"
#include "protocols/http/options.hpp"

namespace joust {

Protocol http_protocol() {
  Protocol protocol;
  protocol.name = "http";
  protocol.summary = "files of one directory, or a short text, over HTTP/1.1";
  protocol.url_scheme = "http";
  protocol.no_messages = "HTTP/1.1 is text without boundaries";
  protocol.sessions_stand_alone = true;
  protocol.takes_turns = true;
  protocol.no_reconnect.clear();
  protocol.no_payload = "a request has no payload; what it asks for is its path (--path)";
  protocol.verified_by = [](const Parameters& client) -> std::string {
    if (client.option("method") == "HEAD") return "by status";
    return client.option("body") == "text" ? "by status, length and body" : "by status and length";
  };
  protocol.no_effect = http::no_effect;
  protocol.no_ceiling = http::why_no_answers;
  protocol.options = http::options();
  protocol.repeatable = http::repeatable;
  protocol.make_server = http::make_server;
  protocol.check_server = http::check_server;
  protocol.make_client = http::make_client;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan&) { http::ClientPlan{parameters}; };
  return protocol;
}

}  // namespace joust
