// SPDX-License-Identifier: MIT
#include "cli/hosts/cluster.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "hosts/link.hpp"
#include "hosts/relay_channel.hpp"

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

}  // namespace joust
