// SPDX-License-Identifier: MIT
#include "cli/hosts/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/common/output.hpp"
#include "cli/hosts/mpirun.hpp"
#include "cli/hosts/processes.hpp"
#include "hosts/agent.hpp"
#include "hosts/link.hpp"
#include "hosts/relay_channel.hpp"
#include "net/stop.hpp"

namespace joust {
namespace {

using Message = nlohmann::json;
using namespace std::chrono_literals;

constexpr Duration kForHello = 30s;

std::string text_in(const Message& reply, const char* key) {
  const auto found = reply.find(key);
  return found != reply.end() && found->is_string() ? found->get<std::string>() : "?";
}

ClockOffset clock_of(HostLink& link) {
  const auto clock = measure_clock(link);
  if (!clock) throw std::runtime_error(fmt::format("{}: the clock: {}", link.name(), clock.error()));
  return *clock;
}

}  // namespace

Cluster::Cluster(const Program& program, const std::string& version, const std::vector<std::string>& names)
    : own_(version, stop_of_hosts()), handlers_(own_.handlers()) {
  const hosts::Rank rank = program.rank.value();
  const auto channel =
      std::make_shared<hosts::RelayChannel>(rank, [] { return stop_of_hosts().requested(); });
  own_.at_interruption([channel] { channel->look_for_interruption(); });
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank.size); ++i) {
    const auto make = [&](const std::string& name) -> std::unique_ptr<HostLink> {
      if (i == 0) return std::make_unique<hosts::LocalLink>(handlers_, name);
      return std::make_unique<hosts::RelayLink>(channel, static_cast<int>(i), name);
    };
    const std::string place = fmt::format("rank {}", i);
    auto link = make(i < names.size() ? names[i] : place);
    const auto hello = link->call({{"do", "hello"}}, kForHello);
    if (!hello) throw std::runtime_error(fmt::format("{}: {}", link->name(), hello.error()));
    if (const std::string other = text_in(*hello, "version"); other != version)
      throw std::runtime_error(fmt::format("{}: it has joust {}, and {} has {}", link->name(), other,
                                           links_.empty() ? "this host" : links_.front()->name(), version));
    if (i >= names.size()) link = make(fmt::format("{} on {}", place, text_in(*hello, "host")));
    clocks_.push_back(i == 0 ? ClockOffset{} : clock_of(*link));
    links_.push_back(std::move(link));
  }
}

namespace {

constexpr std::array<std::string_view, 2> kOnHosts{"load", "race"};
constexpr const char* kHowToMakeKey =
    "this mpirun has passed on no key, and without one any user of its hosts could give orders to the run: "
    "export JOUST_HOSTS_KEY=$(openssl rand -hex 32), and say mpirun -x JOUST_HOSTS_KEY";

}  // namespace

std::optional<int> join_hosts(Program& program) {
  if (program.words.size() < 2 || std::ranges::find(kOnHosts, program.words[1]) == kOnHosts.end())
    return std::nullopt;
  const auto rank = hosts::take_rank();
  if (!rank) return std::nullopt;
  if (rank->relay < 0) become_relay(program);
  if (rank->rank == 0 && !hosts::Seal::is_key(rank->key)) throw UsageError(kHowToMakeKey);
  stop_at_signals();
  if (rank->rank > 0) {
    HostedProcesses processes(version_of(program), stop_of_hosts());
    return hosts::serve_requests(*rank, processes.handlers(),
                                 [&](int socket) { processes.collect_until_readable(socket); });
  }
  program.rank = rank;
  return std::nullopt;
}

}  // namespace joust
