// SPDX-License-Identifier: MIT
#include "race/hosts/agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "race/hosts/meeting.hpp"
#include "race/hosts/side_json.hpp"
#include "race/trial/local_sides.hpp"

namespace joust::race {

using nlohmann::json;

namespace {

// The longest wait for the begin of a turn: a later time is an error of the clocks.
constexpr Duration kLongestLead = std::chrono::seconds(10);

// Returns the side with the number of the request. "start" makes it.
template <typename Hosted>
Hosted& hosted(std::map<std::uint64_t, std::unique_ptr<Hosted>>& sides, const json& request,
               const Stop& stop) {
  const auto number = request.at("contestant").get<std::uint64_t>();
  if (request.at("step") == "start") {
    sides.erase(number);  // its processes end before others start
    sides[number] = std::make_unique<Hosted>(request.at("order"), stop);
  }
  const auto found = sides.find(number);
  if (found == sides.end()) throw std::runtime_error(fmt::format("there is no contestant {} here", number));
  return *found->second;
}

[[noreturn]] void refuse_request(const json& request) {
  throw std::runtime_error(
      fmt::format("this joust knows no step '{}': is it another version?", request.at("step").dump()));
}

void wait_for_begin(const json& request) {
  const Time at{Duration(request.value("at_ns", Duration::rep{0}))};
  const Time now = Clock::now();
  if (at > now) std::this_thread::sleep_for(std::min<Duration>(at - now, kLongestLead));
}

}  // namespace

struct SideAgent::HostedServer {
  HostedServer(const json& its_order, const Stop& stop)
      : order(its_order.get<ServerOrder>()), processes(stop, false) {}

  const ServerOrder order;
  TrialProcesses processes;
  LocalServer side{processes, order};
};

struct SideAgent::HostedLoad {
  HostedLoad(const json& its_order, const Stop& stop)
      : order(its_order.get<LoadOrder>()), processes(stop, false) {}

  const LoadOrder order;
  TrialProcesses processes;
  LocalLoad side{processes, order};
};

SideAgent::SideAgent(const Stop& stop) : stop_(stop) {}
SideAgent::~SideAgent() = default;

std::map<std::string, std::function<json(const json&)>> SideAgent::handlers() {
  return {{"clock",
           [](const json&) {
             return json{{"now_ns", Clock::now().time_since_epoch().count()}};
           }},
          {"host",
           [](const json& request) {
             const auto report = report_of_this_host(request.at("place").get<NetworkPlace>());
             return report ? json{{"result", *report}} : json{{"failed", report.error()}};
           }},
          {"clear",
           [this](const json&) {
             loads_.clear();
             servers_.clear();
             transfer_.reset();
             return json::object();
           }},
          {"side", [this](const json& request) { return serve_side(request); }}};
}

std::vector<Child*> SideAgent::children() const {
  std::vector<Child*> all;
  const auto add = [&](const auto& sides) {
    for (const auto& [number, side] : sides)
      for (const Part* part : {&side->processes.server, &side->processes.load})
        if (part->child) all.push_back(part->child.get());
  };
  add(servers_);
  add(loads_);
  return all;
}

json SideAgent::serve_side(const json& request) {
  if (request.at("role") == "transfer") return serve_transfer(request);
  return request.at("role") == "server" ? serve_server(request) : serve_load(request);
}

json SideAgent::serve_server(const json& request) {
  const auto step = request.at("step").get<std::string>();
  if (step == "forget") {
    servers_.erase(request.at("contestant").get<std::uint64_t>());
    return reply_of(Step<>());
  }
  HostedServer& server = hosted(servers_, request, stop_);
  ServerSide& side = server.side;
  if (step == "start") return reply_of(side.start());
  if (step == "settle") return reply_of(side.settle());
  if (step == "wake") return reply_of(side.wake({}));
  if (step == "rest") return reply_of(side.rest());
  if (step == "sum_up") return reply_of(side.sum_up());
  if (step == "finish") return reply_of(side.finish());
  if (step != "end") refuse_request(request);
  side.end();
  return reply_of(Step<>());
}

json SideAgent::serve_load(const json& request) {
  const auto step = request.at("step").get<std::string>();
  if (step == "forget") {
    loads_.erase(request.at("contestant").get<std::uint64_t>());
    return reply_of(Step<>());
  }
  LoadSide& side = hosted(loads_, request, stop_).side;
  if (step == "start") return reply_of(side.start(request.at("address").get<std::string>()));
  if (step == "wake") return reply_of(side.wake());
  if (step == "take_turn") {
    wait_for_begin(request);
    return reply_of(side.take_turn(request.at("size").get<TurnSize>(), request.at("recorded").get<bool>()));
  }
  if (step == "rest") return reply_of(side.rest());
  if (step == "finish") return reply_of(side.finish());
  if (step != "end") refuse_request(request);
  side.end();
  return reply_of(Step<>());
}

// A full disk of this host, or a folder that a command has removed, ends a trial and not the race.
json SideAgent::serve_transfer(const json& request) {
  try {
    return step_of_transfer(request);
  } catch (const std::system_error& error) {
    return reply_of(Step<>(std::unexpected(SideFailure{.what = error.what()})));
  }
}

json SideAgent::step_of_transfer(const json& request) {
  const auto step = request.at("step").get<std::string>();
  if (step == "start") {
    const auto files = request.at("files").get<FilePlan>();
    transfer_.reset();  // its target is removed before there is another one
    transfer_ = std::make_unique<HostedTransfer>(stop_, files, files_.of(files));
    return reply_of(Step<>());
  }
  if (step == "forget") {
    transfer_.reset();
    return reply_of(Step<>());
  }
  if (!transfer_) throw std::runtime_error("there is no transfer here");
  if (step == "serve") return reply_of(transfer_->serve(request.at("order").get<ServerOrder>()));
  if (step == "run") return reply_of(transfer_->run(request.at("order").get<TransferOrder>()));
  if (step == "compare") return reply_of(transfer_->compare(request.at("has_target").get<bool>()));
  if (!transfer_->serves()) throw std::runtime_error("there is no server of a transfer here");
  if (step == "begin") return reply_of(transfer_->begin());
  if (step == "rest") return reply_of(transfer_->rest());
  if (step != "stop") refuse_request(request);
  return reply_of(transfer_->stop());
}

}  // namespace joust::race
