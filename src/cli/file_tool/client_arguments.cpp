// SPDX-License-Identifier: MIT
#include "cli/file_tool/client_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "cli/common/descriptor_room.hpp"
#include "cli/common/signals.hpp"
#include "connection/tally.hpp"
#include "hosting/mismatch.hpp"
#include "hosting/options.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

constexpr auto kServer = "the server";
constexpr std::size_t kReadBytes = 512 << 10;  // a file's data comes in large pieces

Limits limits_of_transfer() {
  Limits limits;
  limits.read_bytes = kReadBytes;
  limits.read_bytes_per_turn = 4 * kReadBytes;
  limits.idle = std::chrono::hours(24);  // sessions have limits of their own
  return limits;
}

}  // namespace

std::string fastest_engine(Role role, const Protocol& protocol) {
  static constexpr std::array<std::string_view, 5> kByRate{"epoll", "kqueue", "poll", "select", "threads"};
  for (const std::string_view name : kByRate) {
    const Engine* const engine = find_engine(name);
    if (engine == nullptr || !mismatch(*engine, protocol, role).empty()) continue;
    if (engine->unavailable == nullptr || engine->unavailable().empty()) return std::string(name);
  }
  return std::string(kByRate.front());
}

void add_engine(Command command, std::string& engine, const std::string& what) {
  const auto take = [&engine](const std::string& name) {
    engine = name;
    return std::string(name.empty() ? "the value is empty" : "");
  };
  command.add_option("-e,--engine", take, what + " [the fastest one here]").type_name("NAME");
}

void ClientArguments::add_retries_to(Command command) {
  add_count(command, "--retries", retries, "dials in a row for lost connections [8]; 0: none", 0, 1000);
}

// Reduces the number of dials: connections for which no descriptor is free are not dialled.
transfer::DialPlan ClientArguments::possible(transfer::DialPlan dials, const Engine& chosen) const {
  raise_descriptor_limit();
  const std::uint64_t most = client_connections(chosen);
  if (dials.first + dials.later <= most) return dials;
  joust::complain(program, fmt::format("{} open files (ulimit -n) allow {} at a time",
                                       descriptor_limit().rlim_cur, counted(most, "connection")));
  dials.first = std::min<std::size_t>(dials.first, most);
  return {.first = dials.first, .later = std::min<std::size_t>(dials.later, most - dials.first)};
}

ClientArguments::Run ClientArguments::run(transfer::Transfer& transfer, const std::string& address,
                                          transfer::DialPlan wanted, ProgressMeter::Kind meter) const {
  const Protocol& protocol = *program.find_protocol("file");
  const Engine& chosen = checked_engine(engine.empty() ? fastest_engine(Role::dial, protocol) : engine, {},
                                        Role::dial, protocol);
  if (chosen.in_process) throw UsageError(fmt::format("-e {}: has no sockets", chosen.name));
  const EngineOptions options = engine_options(chosen, 1, Wait::block, {});
  std::vector<Endpoint> endpoints = resolved_target(address, Limits{}.resolve, kServer);
  Tally tally;
  SocketOptions socket;
  settle_socket(socket, false, endpoints.front(), chosen.transport, tally);
  const std::unique_ptr<Service> guarded = guard.guard(transfer);
  const Target target(address, std::move(endpoints), socket, chosen.transport);
  const Limits limits = limits_of_transfer();
  const transfer::DialPlan dials = possible(wanted, chosen);

  const Time begun = Clock::now();
  Stop stop;
  const Signals signals(stop);
  transfer.expect(
      dials,
      {.address = address,
       .if_silent = ": another program listens there, or all connections that the server takes are in use",
       .if_closed = guard.has_token() ? "; are all its connections in use?"
                                      : "; does the server want a token (--token-file), or are all its "
                                        "connections in use?"});
  if (!transfer.over()) {
    const ProgressMeter shown(meter, transfer.counts());
    chosen.run({.service = guarded ? *guarded : transfer,
                .options = options,
                .limits = limits,
                .tally = tally,
                .target = &target,
                .dials = dials.first,
                .vacancies = dials.later},
               stop);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  return {seconds, stop.requested() && !transfer.over()};
}

}  // namespace joust
