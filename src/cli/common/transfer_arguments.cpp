// SPDX-License-Identifier: MIT
#include "cli/common/transfer_arguments.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "base/descriptor_limit.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "cli/common/descriptor_room.hpp"
#include "cli/common/progress_meter.hpp"
#include "cli/common/result_file.hpp"
#include "cli/common/signals.hpp"
#include "connection/tally.hpp"
#include "hosting/mismatch.hpp"
#include "hosting/options.hpp"
#include "net/address.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

// Several share a network's bandwidth better, and while one waits for an answer the others move bytes.
constexpr std::uint64_t kConnections = 4;
constexpr std::uint64_t kLeastShare = 64 << 10;  // of the limit, for each connection, in bytes/s
constexpr std::uint64_t kMostLimited = 100;      // connections: each has its portion within 5 s
constexpr std::uint64_t kLeastLimit = 10'000;    // bytes/s; a server ends who is slower than 1 KiB/s
constexpr auto kServer = "the server";
constexpr std::size_t kReadBytes = 512 << 10;  // a file's data comes in large pieces

constexpr std::string_view kUnix = "unix:";

ProgressMeter::Kind kind_of_meter(const std::string& chosen) {
  using Kind = ProgressMeter::Kind;
  if (chosen == "json") return Kind::json;
  if (chosen == "none" || (chosen.empty() && ::isatty(STDERR_FILENO) != 1)) return Kind::none;
  return obeys_escapes(STDERR_FILENO) ? Kind::bar : Kind::lines;
}

std::string objection_to_connections(const std::string& text) {
  const auto number = parse_count(text);
  if (!number) return number.error() + ", and it is not auto";
  if (*number >= 1 && *number <= kMostConnections) return {};
  return fmt::format("{} is not between 1 and {}, and not auto", text, kMostConnections);
}

Limits limits_of_transfer() {
  Limits limits;
  limits.read_bytes = kReadBytes;
  limits.read_bytes_per_turn = 4 * kReadBytes;
  limits.idle = std::chrono::hours(24);  // sessions have limits of their own
  return limits;
}

// Nothing is below a socket, so that a path behind one is meant for its server.
void refuse_single_slash(const std::string& text) {
  std::error_code none;
  for (std::size_t end = text.rfind('/'); end != std::string::npos && end > kUnix.size();
       end = text.rfind('/', end - 1))
    if (const std::string socket = text.substr(0, end);
        std::filesystem::is_socket(socket.substr(kUnix.size()), none))
      throw UsageError(fmt::format("'{0}': {1} is the socket; // is before what is behind it: {1}//{2}",
                                   printable(text), printable(socket), printable(text.substr(end + 1))));
}

}  // namespace

// No name has an empty part, but a socket's path may: of "//" the last counts.
RemotePath split_remote(const std::string& text) {
  if (const std::size_t scheme = text.find("://"); scheme != std::string::npos && !text.starts_with(kUnix))
    throw UsageError(fmt::format("'{}': is a URL; without {}:// it is the address of a 'receive': {}",
                                 printable(text), printable(text.substr(0, scheme)),
                                 printable(text.substr(scheme + 3))));
  const bool is_path = text.starts_with(kUnix);
  const std::size_t end = is_path ? text.rfind("//") : text.find('/');
  if (is_path && end == std::string::npos) refuse_single_slash(text);
  if (end == std::string::npos || end == kUnix.size()) return {text, ""};
  std::string path = text.substr(end + (is_path ? 2 : 1));
  while (path.ends_with('/')) path.pop_back();
  return {text.substr(0, end), path};
}

bool is_remote(const std::string& text) {
  std::error_code none;
  return (text.starts_with(kUnix) || !text.contains("://")) && !std::filesystem::exists(text, none) &&
         objection_to_address(split_remote(text).address).empty();
}

std::string_view before_path(std::string_view address) {
  return address.starts_with(kUnix) ? "//" : "/";
}

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

void TransferArguments::add_to(Command command) {
  add_engine(command, engine, "how to drive the sockets");
  const auto take_connections = [this](const std::string& text) {
    connections = text;
    return text == "auto" ? std::string() : objection_to_connections(text);
  };
  command.add_option("-c,--connections", take_connections, "how many carry the files at a time [auto]")
      .type_name("N|auto");
  add_bytes(command, "--limit", limit, "bytes a second, of all connections together [no limit]", kLeastLimit,
            std::uint64_t{1} << 40);
  command.add_flag("--overwrite", overwrite, "replace files that exist");
  command.add_flag("--skip-existing", skip_existing, "leave files that exist as they are");
  command
      .add_option("--fsync", fsync,
                  "on: a file counts as there when the disk has it; off: when the system has it")
      .one_of({"on", "off"})
      .show_default();
  add_count(command, "--retries", retries, "dials in a row for lost connections [8]; 0: none", 0, 1000);
  guard.add_to(command);
  command.add_flag("--dry-run", dry_run,
                   "list what would be moved, without a look at what is there; move nothing");
  command
      .add_option(
          "--progress", progress,
          "bar (plain lines where TERM is dumb), json (a line each second), none [on a terminal: bar]")
      .one_of({"bar", "json", "none"});
  json_option =
      command.add_option("--json", json, "write the result to this file; - prints it").type_name("FILE");
}

void TransferArguments::check(std::span<const std::string> used) {
  guard.complete();
  if (overwrite && skip_existing) throw UsageError("--overwrite and --skip-existing: one of them");
  if (json == "-" && progress == "json")
    throw UsageError("--json - and --progress json both write to standard output: say --json FILE");
  if (json_option->given() && json != "-") ensure_writable(json, used);
}

FileWishes TransferArguments::wishes() const {
  return {.overwrites = overwrite, .skips_existing = skip_existing, .synced = fsync == "on"};
}

std::size_t TransferArguments::dials(std::uint64_t bytes) const {
  // A server ends a connection that is too slow, and a range takes the longer the more share the limit.
  const std::uint64_t most =
      limit == 0 ? kMostConnections : std::clamp(limit / kLeastShare, std::uint64_t{1}, kMostLimited);
  if (connections == "auto")
    return std::clamp(bytes / transfer::kRangeBytes, std::uint64_t{1}, std::min(kConnections, most));
  return std::min(parse_count(connections).value(), most);
}

// Those that would find no descriptor are not dialled.
transfer::DialPlan TransferArguments::possible(transfer::DialPlan dials, const Engine& chosen) const {
  raise_descriptor_limit();
  const std::uint64_t most = client_connections(chosen);
  if (dials.first + dials.later <= most) return dials;
  joust::complain(program, fmt::format("{} open files (ulimit -n) allow {} at a time",
                                       descriptor_limit().rlim_cur, counted(most, "connection")));
  dials.first = std::min<std::size_t>(dials.first, most);
  return {.first = dials.first, .later = std::min<std::size_t>(dials.later, most - dials.first)};
}

int TransferArguments::run(transfer::Transfer& transfer, const std::string& address,
                           transfer::DialPlan wanted, const std::function<TransferStory()>& story) const {
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
       .if_closed = guard.has_token() ? "" : "; does the server want a token (--token-file)?"});
  if (!transfer.over()) {
    const ProgressMeter meter(kind_of_meter(progress), transfer.counts());
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
  return tell({transfer, seconds, stop.requested() && !transfer.over()}, story(), address);
}

}  // namespace joust
