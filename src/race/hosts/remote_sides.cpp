// SPDX-License-Identifier: MIT
#include "race/hosts/remote_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/document.hpp"
#include "base/units.hpp"
#include "hosts/link.hpp"
#include "load/result.hpp"
#include "load/result_json.hpp"
#include "load/schedule.hpp"
#include "race/hosts/side_json.hpp"

namespace joust::race {

std::expected<std::string, std::string> merged_document(std::span<const HostDocument> hosts) {
  if (hosts.size() == 1) return hosts.front().text;
  std::vector<LoadPart> parts;
  for (const HostDocument& host : hosts) {
    auto result = load_from(documents::parsed(host.text));
    if (!result) return std::unexpected("host " + host.host + ": " + result.error());
    parts.push_back({.name = host.host, .result = std::move(*result)});
    if (std::string why = why_no_parts(parts.front(), parts.back()); !why.empty())
      return std::unexpected(std::move(why));
  }
  auto document = nlohmann::ordered_json::parse(hosts.front().text);
  add_load(document, merged(parts));
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

using nlohmann::json;

json RemoteServer::request(const char* step) const {
  return {{"do", "side"}, {"role", "server"}, {"step", step}, {"contestant", number_}};
}

template <typename Result>
Step<Result> RemoteServer::ask(const char* step, Duration patience) {
  json asked = request(step);
  if (std::string_view(step) == "start") asked["order"] = order_;
  return step_of<Result>(link_.name(), link_.call(asked, patience + kForAnswer));
}

// A link that has failed has been reported by an earlier step.
RemoteServer::~RemoteServer() {
  (void)ask<void>("forget", order_.time_to_stop);
}

Step<ServerStart> RemoteServer::start() {
  return ask<ServerStart>("start", order_.time_to_start);
}

Step<> RemoteServer::settle() {
  return ask<void>("settle", kForAnswer);  // a server may take as long to fork
}

Step<double> RemoteServer::wake(TurnSize) {
  return ask<double>("wake", {});
}

Step<SideTurn> RemoteServer::rest() {
  return ask<SideTurn>("rest", {});
}

Step<> RemoteServer::sum_up() {
  return ask<void>("sum_up", {});
}

Step<ServerEnd> RemoteServer::finish() {
  return ask<ServerEnd>("finish", 2 * order_.time_to_stop);  // until it has drained, and until it has ended
}

void RemoteServer::end() {
  (void)ask<void>("end", order_.time_to_stop);
}

namespace {

using nlohmann::json;

void add_to(Surroundings& sum, const Surroundings& more) {
  Trial both;
  note_surroundings(sum, both);
  note_surroundings(more, both);
  sum = {.machine = both.machine,
         .pinned = both.pinned,
         .server_cpus = both.server_cpus,
         .client_cpus = both.client_cpus,
         .throttled = both.throttled,
         .clock = both.clock};
}

// A host may report any number. One that is no time of its clock is very early or very late.
Time time_in(const LoadTurn& turn) {
  return Time(Duration(std::clamp(turn.began_ns, -kLongestUptime_ns, kLongestUptime_ns)));
}

}  // namespace

LoadTurn together(const std::vector<LoadTurn>& turns) {
  LoadTurn sum;
  double rate_per_s = 0;
  for (const LoadTurn& turn : turns) {
    if (turn.window_s > 0) rate_per_s += static_cast<double>(turn.verified) / turn.window_s;
    sum.window_s = std::max(sum.window_s, turn.window_s);
    sum.turn_s = std::max(sum.turn_s, turn.turn_s);
    sum.verified += turn.verified;
    sum.messages += turn.messages;
    sum.failed += turn.failed;
    sum.latency_sum_ns += turn.latency_sum_ns;
  }
  if (rate_per_s > 0) sum.window_s = static_cast<double>(sum.verified) / rate_per_s;
  return sum;
}

// Returns the results of all hosts, or the first failure. The replies of all are awaited in any case: a late
// one would be taken for that of the next step.
template <typename Result>
Step<std::vector<Result>> RemoteLoads::ask(const char* step, Duration patience, const json& arguments) {
  std::vector<std::expected<void, std::string>> posted;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const LoadHost& host = hosts_[i];
    json request{{"do", "side"}, {"role", "load"}, {"step", step}, {"contestant", number_}};
    request.update(arguments);
    if (std::string_view(step) == "start") request["order"] = host.order;
    if (request.contains("at_ns"))
      request["at_ns"] = arguments.at("at_ns").get<Duration::rep>() + host.clock_offset.count();
    posted.push_back(host.link->post(request));
  }
  Step<std::vector<Result>> results;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    TrialLink& link = *hosts_[i].link;
    auto reply = posted[i] ? link.await(patience + kForAnswer) : std::unexpected(posted[i].error());
    auto result = step_of<Result>(link.name(), reply);
    if (!result && results) results = std::unexpected(std::move(result.error()));
    if (result && results) results->push_back(std::move(*result));
  }
  return results;
}

// The processes of a side that is left are killed. A link that has failed has been reported by an earlier
// step.
RemoteLoads::~RemoteLoads() {
  (void)ask<json>("forget", hosts_.front().order.time_to_stop, json::object());
}

Step<> RemoteLoads::start(const std::string& address) {
  const auto all = ask<json>("start", hosts_.front().order.time_to_connect, {{"address", address}});
  return all ? Step<>{} : std::unexpected(all.error());
}

Step<> RemoteLoads::wake() {
  const auto all = ask<json>("wake", {}, json::object());
  return all ? Step<>{} : std::unexpected(all.error());
}

// Notes how late each part began, by the clock of its own host. Returns whether all began in time, which is
// before the timed window of the turn: otherwise a part had the server to itself for some of it.
Step<bool> RemoteLoads::began_together(const std::vector<LoadTurn>& turns, Time begin, Duration length) {
  if (hosts_.size() < 2) return true;
  missed_.resize(hosts_.size());
  bool is_together = true;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const LoadHost& host = hosts_[i];
    const Duration late = time_in(turns[i]) - (begin + host.clock_offset);
    if (host.begins != nullptr) host.begins->add(late);
    const bool has_missed = late > std::max(kLatestBegin, length / kLatestShare);
    if (has_missed && (missed_[i] || !start_.forgives_once))
      return std::unexpected(SideFailure{
          .what = fmt::format("host {}: it began {} {} late", host.link->name(),
                              missed_[i] ? "two turns in succession" : "a turn", format_duration(late)),
          .of_host = true});
    missed_[i] = has_missed;
    is_together = is_together && !has_missed && (length == Duration{} || late <= length / kRampShare);
  }
  return is_together;
}

// No message travels while the turn is measured: the request has arrived before.
Step<LoadTurn> RemoteLoads::take_turn(TurnSize size, bool recorded) {
  json arguments{{"size", size}, {"recorded", recorded}};
  const Time begin = Clock::now() + start_.lead;
  if (hosts_.size() > 1) arguments["at_ns"] = begin.time_since_epoch().count();
  const LoadOrder& order = hosts_.front().order;
  const Duration longest =
      size.messages > 0 ? order.time_of_counted_turn : size.time + order.time_beyond_turn;
  const auto all = ask<LoadTurn>("take_turn", start_.lead + longest, arguments);
  if (!all) return std::unexpected(all.error());
  auto is_together = began_together(*all, begin, size.time);
  if (!is_together) return std::unexpected(std::move(is_together.error()));
  LoadTurn turn = together(*all);
  if (!*is_together) turn.window_s = 0;
  return turn;
}

Step<SideTurn> RemoteLoads::rest() {
  const auto all = ask<SideTurn>("rest", {}, json::object());
  if (!all) return std::unexpected(all.error());
  SideTurn sum;
  for (const SideTurn& turn : *all) {
    sum.cpu_s += turn.cpu_s;
    add_to(sum.around, turn.around);
  }
  return sum;
}

// The busiest thread is that with the most CPU time of all hosts.
Step<LoadEnd> RemoteLoads::finish() {
  const auto all = ask<LoadEnd>("finish", hosts_.front().order.time_to_stop, json::object());
  if (!all) return std::unexpected(all.error());
  LoadEnd sum;
  std::vector<HostDocument> documents;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const LoadEnd& part = (*all)[i];
    sum.cpu_s += part.cpu_s;
    sum.scheduling.insert(sum.scheduling.end(), part.scheduling.begin(), part.scheduling.end());
    documents.push_back({.host = hosts_[i].link->name(), .text = part.document});
  }
  for (const LoadEnd& part : *all)
    if (part.busiest_thread && sum.cpu_s > 0)
      sum.busiest_thread =
          std::max(sum.busiest_thread.value_or(0), *part.busiest_thread * part.cpu_s / sum.cpu_s);
  auto document = merged_document(documents);
  if (!document) return std::unexpected(SideFailure{.what = std::move(document.error())});
  sum.document = std::move(*document);
  return sum;
}

void RemoteLoads::end() {
  (void)ask<json>("end", hosts_.front().order.time_to_stop, json::object());
}

}  // namespace joust::race
