// SPDX-License-Identifier: MIT
#include "race/trial/server_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/trial/child_json.hpp"
#include "race/trial/external.hpp"

namespace joust::race {
namespace {

using nlohmann::json;

// The end of a message about a server that did not start in time.
constexpr const char* kAllowsMore = " (--ready-timeout allows more)";

// Returns where a foreign server listens in place of the address that the load connects to, and where it
// would have found its port.
std::string listens_elsewhere(Child& server, const CommandValues& values) {
  const std::vector<std::string> addresses = listening_addresses(server.processes()).addresses;
  if (addresses.empty()) return "";
  return fmt::format("; it listens on {}, and its port is given by {{port}}, or else by the variable PORT{}",
                     join(addresses),
                     values.address == CommandValues().address ? "" : ", and its address by {address}");
}

// Returns a hint at why a foreign server has not printed its line.
std::string why_silent(const Child& server) {
  if (!server.last_words().empty()) return "";
  return "; it has printed nothing, and many programs print into a pipe only when they flush (stdbuf -oL, "
         "python3 -u)";
}

}  // namespace

Step<> ServerProcess::start() {
  if (order_.command.program.empty()) return {};
  return foreign() ? start_foreign() : start_engine();
}

Step<> ServerProcess::start_engine() {
  ChildCommand command = order_.command;
  if (const auto place = std::ranges::find(command.words, kUnixSocket); place != command.words.end()) {
    part().folder.emplace();
    *place = "unix:" + part().folder->path() + "/socket";
  }
  if (auto started = processes_.start(part(), command); !started) return started;
  const auto listening = processes_.next_event(part(), "listening", order_.time_to_start);
  if (!listening) return std::unexpected(late_failure(part(), "listen", order_.time_to_start, kAllowsMore));
  address_ = listening->at("address");
  static_cast<ChildFacts&>(result_) = facts_from(*listening);
  result_.missing = listening->value("missing", std::vector<std::string>{});
  return {};
}

Step<> ServerProcess::start_foreign() {
  const std::uint16_t port = free_port(values_.address);
  values_.port = fmt::format("{}", port);
  ChildCommand command = order_.command;
  command.words.back() = server_command(command.words.back(), values_);
  if (auto started = processes_.start(part(), command); !started) return started;
  address_ = host_and_port(values_.address, values_.port);
  if (auto awaited = await_foreign(port); !awaited) return awaited;
  const ListeningAddresses listening = listening_addresses(part().child->processes());
  if (!listening.complete || listening.reached_at(address_)) return {};
  return std::unexpected(failure_of(
      part(),
      fmt::format("no process that the command has started listens on {}: another program answers there",
                  address_)));
}

// Waits for the line of a foreign server that says that it is ready, if it has one. Then dials until it
// accepts a connection: nothing else shows that it listens.
Step<> ServerProcess::await_foreign(std::uint16_t port) {
  constexpr auto kPause = std::chrono::milliseconds(5);
  Child& child = *part().child;
  const std::string& ready = order_.command.ready;
  const Time deadline = Clock::now() + order_.time_to_start;
  const auto is_over = [&] { return child.ended() || processes_.interrupted() || Clock::now() >= deadline; };
  const auto give_up = [&](const std::string& what, const std::string& hint) {
    return std::unexpected(late_failure(part(), what, order_.time_to_start, kAllowsMore + hint));
  };
  if (!ready.empty()) {
    processes_.wait_until(deadline, [&] { return child.is_ready() || child.ended(); });
    if (!child.is_ready()) return give_up(fmt::format("print a line with '{}'", ready), why_silent(child));
  }
  while (!accepts(values_.address, port)) {
    if (is_over()) return give_up("accept a connection on " + address_, listens_elsewhere(child, values_));
    const Time next = Clock::now() + kPause;
    processes_.wait_until(std::min(next, deadline), [&] { return child.ended(); });
  }
  return {};
}

SideFailure ServerProcess::early_end() const {
  return failure_of(
      part(), fmt::format("the server ended in the middle of the trial: {}", part().child->how_it_ended()));
}

// Waits for the end of a foreign server that has been asked to end. It is killed later if it does not. A
// server that has ignored the request once is not waited for again.
void ServerProcess::stop_foreign() {
  const Duration patience = order_.ignores_stop ? Duration{} : order_.time_to_stop;
  result_.ignores_stop = !processes_.wait_until(Clock::now() + patience, [&] {
    return part().child->ended();
  }) && !processes_.interrupted();
  if (result_.ignores_stop)
    result_.notes.push_back(fmt::format("it did not end within {} of SIGTERM, and was killed",
                                        format_duration(order_.time_to_stop)));
}

Step<> ServerProcess::stop() {
  if (!part().child) return {};
  part().child->send_all(SIGTERM);
  if (foreign()) {
    stop_foreign();
    return {};  // the exit status of a foreign program does not matter
  }
  const auto stopped = processes_.next_event(part(), "stopped", order_.time_to_stop);
  if (!stopped) return std::unexpected(late_failure(part(), "stop", order_.time_to_stop));
  const json bytes = stopped->value("bytes", json::object());
  result_.connections_failed = stopped->at("connections").at("failed");
  result_.bytes_received = bytes.value("received", std::uint64_t{0});
  result_.bytes_sent = bytes.value("sent", std::uint64_t{0});
  result_.errors = counts_from(stopped->value("errors", json::object()));
  result_.socket = socket_from(*stopped);
  result_.missing = stopped->value("missing", result_.missing);
  result_.notes = stopped->value("notes", std::vector<std::string>{});
  const bool gone =
      processes_.wait_until(Clock::now() + order_.time_to_stop, [&] { return part().child->ended(); });
  if (!gone) return std::unexpected(late_failure(part(), "end", order_.time_to_stop));
  if (part().child->exit_code() == 0) return {};
  return std::unexpected(
      failure_of(part(), fmt::format("the server ended badly: {}", part().child->how_it_ended())));
}

}  // namespace joust::race
