// SPDX-License-Identifier: MIT
//
// http: files of one directory over HTTP/1.1 (docs/http-protocol.md), so that browsers, curl and wrk are
// clients of every engine.
//
//     GET or HEAD, maybe with a range or conditions --> the file, a part of it, or a status
//
// Files are read-only. Without --root, the path `/` is a text, which a load asks for and compares.
#include "protocols/http/protocol.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/text.hpp"
#include "base/units.hpp"
#include "protocols/http/client.hpp"
#include "protocols/http/heads.hpp"
#include "protocols/http/target.hpp"
#include "session/option_values.hpp"

namespace joust::http {
namespace {

constexpr auto kStandardText = "Hello, World!";
constexpr std::size_t kLongestText = 64 << 10;  // bytes

}  // namespace

std::vector<ProtocolOption> options() {
  return {
      {.name = "root",
       .summary =
           "the directory whose files are served, read-only; it is opened once, at the start; replies have "
           "files as they were at most a second before; without it / is the text of --text",
       .standard = "",
       .loads = false},
      {.name = "list",
       .summary = "with --root, show what is in directories that have no index.html",
       .standard = "no",
       .choices = {"no", "yes"},
       .loads = false},
      {.name = "dot-files",
       .summary = "with --root, serve files and directories whose names begin with a dot too",
       .standard = "no",
       .choices = {"no", "yes"},
       .loads = false},
      {.name = "min-rate",
       .summary = "bytes per second: a client that sends a request or reads a reply slower is "
                  "disconnected; 0: none is",
       .standard = "1KiB",
       .loads = false},
      {.name = "requests-per-connection",
       .summary = "requests before a connection ends; 0: no limit",
       .standard = "0",
       .loads = false},
      {.name = "allowed-hosts",
       .summary =
           "hosts, such as dev.example,other.example, that a server on loopback answers beside loopback "
           "addresses and localhost; one on other addresses answers all",
       .standard = "",
       .loads = false},
      {.name = "text",
       .summary = "the text that / is where no directory is served, and what a load expects",
       .standard = kStandardText},
      {.name = "body",
       .summary = "the right body of a reply: that of --text, or any",
       .standard = "text",
       .choices = {"text", "any"},
       .serves = false},
      {.name = "method",
       .summary = "the method of a load's requests: GET, HEAD, POST, PUT, DELETE",
       .standard = "GET",
       .serves = false},
      {.name = "path",
       .summary = "what a load asks for; @FILE has a path in each line, after its weight if it has one: 3 /a",
       .standard = "/",
       .from_file = ProtocolOption::FromFile::after_at,
       .serves = false},
      {.name = "header",
       .summary = "a field of a load's requests, 'Name: value'; may be given several times",
       .standard = "",
       .is_list = true,
       .serves = false},
      {.name = "data",
       .summary = "the body of a load's requests; @FILE is the content of a file",
       .standard = "",
       .from_file = ProtocolOption::FromFile::after_at,
       .serves = false},
      {.name = "status",
       .summary = "the right status of a reply: 200, several as 200,304, 2xx, or any",
       .standard = "200",
       .serves = false},
      {.name = "host",
       .summary = "the field Host of a load's requests",
       .standard = "localhost",
       .serves = false},
  };
}

AllowedHosts allowed_hosts(const Parameters& parameters) {
  const AllowedHosts hosts = AllowedHosts::of_loopback(parameters.option("allowed-hosts"));
  return parameters.on_loopback ? hosts : AllowedHosts();
}

namespace {

// Returns whether an option that needs a directory is given.
bool of_directory(const Parameters& parameters, const std::string& option) {
  const bool given = is_yes(parameters, option);
  if (given && parameters.option("root").empty())
    throw std::invalid_argument(fmt::format("--{}: there is no directory; say --root DIRECTORY too", option));
  return given;
}

}  // namespace

bool lists(const Parameters& parameters) {
  return of_directory(parameters, "list");
}

bool serves_dot_files(const Parameters& parameters) {
  return of_directory(parameters, "dot-files");
}

RateRules rates(const Parameters& parameters) {
  return RateRules::of(bytes_of(parameters, "min-rate"));
}

std::uint64_t requests_per_connection(const Parameters& parameters) {
  return count_of(parameters, "requests-per-connection");
}

void check_server(const Parameters& parameters) {
  if (!parameters.option("root").empty() && parameters.option("text") != kStandardText)
    throw std::invalid_argument("--text: with --root, / is the directory; leave one of them out");
}

const std::string& text(const Parameters& parameters) {
  const std::string& text = parameters.option("text");
  if (text.size() > kLongestText)
    throw std::invalid_argument(
        fmt::format("--text: at most {} bytes; larger ones are files (--root)", kLongestText));
  return text;
}

std::string no_effect(const std::string& option, Role side, const Parameters& client) {
  const bool is_of_body = (option == "text" && side == Role::dial) || option == "body";
  if (is_of_body && client.option("method") == "HEAD") return "the reply to HEAD has no body";
  if (option == "text" && is_of_body && client.option("body") == "any")
    return "with --body any the body of a reply is not compared";
  return {};
}

std::string why_no_answers(const Parameters& server, const Parameters& client) {
  const std::string &method = client.option("method"), &path = client.option("path");
  if (method != "GET" && method != "HEAD") return "joust's servers answer GET and HEAD, and not " + method;
  const bool has_path = path == "/" || path.starts_with("/?") || !server.option("root").empty();
  if (!has_path) return "joust's servers have no other path than / without --root";
  return client.option("status") == "200" ? "" : "joust's servers are asked for what they answer by 200";
}

Settings repeatable(Settings server, const Parameters& client) {
  const std::string& host = client.option("host");
  std::string& allowed = server["allowed-hosts"];
  if (is_authority(host) && !AllowedHosts::of_loopback(allowed).contain(host))
    allowed += (allowed.empty() ? "" : ",") + host;
  if (allowed.empty()) server.erase("allowed-hosts");
  if (server.contains("root")) server.erase("text");  // then it is only what the client expects
  return server;
}

}  // namespace joust::http

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
