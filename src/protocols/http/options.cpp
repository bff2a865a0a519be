// SPDX-License-Identifier: MIT
#include "protocols/http/options.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/printable.hpp"
#include "base/units.hpp"
#include "protocols/http/head_cutter.hpp"
#include "protocols/http/target.hpp"

namespace joust::http {
namespace {

constexpr auto kStandardText = "Hello, World!";
constexpr std::size_t kLongestText = 64 << 10;  // bytes

// False for text with a character that would end a line or a word of the request.
bool is_one_word(std::string_view text) {
  return !text.empty() && text.find(' ') == text.npos && !has_control(text);
}

}  // namespace

std::vector<ProtocolOption> options() {
  return {
      {.name = "root",
       .summary =
           "the directory whose files are served, read-only; it is opened once, at the start; without it "
           "/ is the text of --text",
       .standard = "",
       .loads = false},
      {.name = "list",
       .summary = "with --root, show what is in directories that have no index.html",
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
      {.name = "path", .summary = "what a load asks for", .standard = "/", .serves = false},
      {.name = "host",
       .summary = "the field Host of a load's requests",
       .standard = "localhost",
       .serves = false},
  };
}

AnsweredHosts answered_hosts(const Parameters& parameters) {
  const AnsweredHosts hosts = AnsweredHosts::of_loopback(parameters.option("allowed-hosts"));
  return parameters.on_loopback ? hosts : AnsweredHosts();
}

bool lists(const Parameters& parameters) {
  const bool lists = parameters.option("list") == "yes";
  if (lists && parameters.option("root").empty())
    throw std::invalid_argument("--list: there is no directory; say --root DIRECTORY too");
  return lists;
}

RateRules rates(const Parameters& parameters) {
  const auto least = parse_bytes(parameters.option("min-rate"));
  if (!least) throw std::invalid_argument("--min-rate: " + least.error());
  return RateRules::of(*least);
}

std::uint64_t requests_per_connection(const Parameters& parameters) {
  const auto count = parse_count(parameters.option("requests-per-connection"));
  if (!count) throw std::invalid_argument("--requests-per-connection: " + count.error());
  return *count;
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

GetRequest get_request(const Parameters& parameters) {
  const std::string &path = parameters.option("path"), &host = parameters.option("host");
  if (!path.starts_with('/') || !is_one_word(path) || path.size() > kLongestTarget)
    throw std::invalid_argument(
        fmt::format("--path '{}': say a path such as /index.html, without blanks and of at most {} bytes",
                    printable(path), kLongestTarget));
  if (!is_one_word(host))
    throw std::invalid_argument(fmt::format("--host '{}': say a name or an address", printable(host)));
  return {path, fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", path, host)};
}

Settings repeatable(Settings server, const Parameters& client) {
  const std::string& host = client.option("host");
  std::string& allowed = server["allowed-hosts"];
  if (is_authority(host) && !AnsweredHosts::of_loopback(allowed).contain(host))
    allowed += (allowed.empty() ? "" : ",") + host;
  if (allowed.empty()) server.erase("allowed-hosts");
  if (server.contains("root")) server.erase("text");  // then it is only what the client expects
  return server;
}

}  // namespace joust::http
