// SPDX-License-Identifier: MIT
#include "cli/file_tool/transfer_arguments.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/terminal.hpp"
#include "base/units.hpp"
#include "cli/common/result_file.hpp"

namespace joust {
namespace {

// The usual number of connections. Several use a network's bandwidth better, and while one waits for an
// answer the others move bytes.
constexpr std::uint64_t kConnections = 4;
constexpr std::uint64_t kLeastShare = 64 << 10;  // least share of the limit for each connection, in bytes/s
constexpr std::uint64_t kMostLimited = 100;      // connections: each has its portion within 5 s
constexpr std::uint64_t kLeastLimit = 10'000;    // bytes/s; a server ends clients slower than 1 KiB/s

ProgressMeter::Kind kind_of_meter(const std::string& chosen) {
  using Kind = ProgressMeter::Kind;
  if (chosen == "json") return Kind::json;
  if (chosen == "none") return Kind::none;
  if (chosen.empty() && ::isatty(STDERR_FILENO) != 1) return Kind::few_lines;
  return obeys_escapes(STDERR_FILENO) ? Kind::bar : Kind::lines;
}

std::string objection_to_connections(const std::string& text) {
  const auto number = parse_count(text);
  if (!number) return number.error() + ", and it is not auto";
  if (*number >= 1 && *number <= kMostConnections) return {};
  return fmt::format("{} is not between 1 and {}, and not auto", text, kMostConnections);
}

}  // namespace

void TransferArguments::add_to(Command command) {
  add_engine(command, client.engine, "how to drive the sockets");
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
  client.add_retries_to(command);
  client.guard.add_to(command);
  command.add_flag("--dry-run", dry_run,
                   "list what would be moved, without a look at what is there; move nothing");
  command
      .add_option(
          "--progress", progress,
          "bar (plain lines where TERM is dumb), json (a line each second), none [on a terminal: bar; "
          "elsewhere: a line every 10 s]")
      .one_of({"bar", "json", "none"});
  json_option =
      command.add_option("--json", json, "write the result to this file; - prints it").type_name("FILE");
}

void TransferArguments::check(std::span<const std::string> used) {
  client.guard.complete();
  if (overwrite && skip_existing) throw UsageError("--overwrite and --skip-existing: one of them");
  if (json == "-" && progress == "json")
    throw UsageError("--json - and --progress json both write to standard output: say --json FILE");
  if (json_option->given() && json != "-") ensure_writable(json, used);
}

FileWishes TransferArguments::wishes() const {
  return {.overwrites = overwrite, .skips_existing = skip_existing, .synced = fsync == "on"};
}

std::size_t TransferArguments::dials(std::uint64_t bytes) const {
  // A server ends a connection that is too slow, and a range takes longer if more connections share the
  // limit.
  const std::uint64_t most =
      limit == 0 ? kMostConnections : std::clamp(limit / kLeastShare, std::uint64_t{1}, kMostLimited);
  if (connections == "auto")
    return std::clamp(bytes / transfer::kRangeBytes, std::uint64_t{1}, std::min(kConnections, most));
  return std::min(parse_count(connections).value(), most);
}

int TransferArguments::run(transfer::Transfer& transfer, const std::string& address,
                           transfer::DialPlan wanted, const std::function<TransferStory()>& story) const {
  const ClientArguments::Run run = dial(transfer, address, wanted);
  return tell(transfer, run, story(), address);
}

ClientArguments::Run TransferArguments::dial(transfer::Transfer& transfer, const std::string& address,
                                             transfer::DialPlan wanted) const {
  return client.run(transfer, address, wanted, kind_of_meter(progress));
}

int TransferArguments::tell(const transfer::Transfer& transfer, const ClientArguments::Run& run,
                            const TransferStory& story, const std::string& address) const {
  return tell({transfer, run.seconds, run.interrupted}, story, address);
}

}  // namespace joust
