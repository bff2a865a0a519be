// SPDX-License-Identifier: MIT
#include "cli/file_tool/transfer_arguments.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/arguments.hpp"
#include "cli/common/output.hpp"
#include "cli/common/result_file.hpp"
#include "measure/usage.hpp"
#include "report/facts_json.hpp"

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

// Quotes a word for a shell. Characters that a terminal does not show are written as bytes in a form that the
// shell reads.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "@%+=:,./-_";
  const bool plain = !word.empty() && std::ranges::all_of(word, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.contains(c);
  });
  if (plain) return word;
  const bool is_shown = printable(word, "\\") == word;
  std::string text = is_shown ? "'" : "$'";
  for (const char c : is_shown ? word : printable(word))
    text += c == '\'' ? std::string(is_shown ? "'\\''" : "\\'") : std::string(1, c);
  return text + "'";
}

std::string command_line_of(const Program& program) {
  std::vector<std::string> words;
  for (const std::string& word : program.words) words.push_back(quoted(word));
  return join(words, " ");
}

double bytes_per_s(const transfer::Counts& counts, double seconds) {
  return seconds > 0 ? static_cast<double>(counts.moved) / seconds : 0;
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

std::string counted_files(std::uint64_t files, std::uint64_t folders) {
  std::string text = counted(files, "file");
  if (folders > 0) text += " and " + counted(folders, "empty directory");
  return text;
}

TransferArguments::Outcome::Outcome(const transfer::Transfer& transfer, double taken, bool stopped)
    : counts(transfer.counts()),
      complaints(transfer.complaints()),
      kept(transfer.kept()),
      used(own_usage()),
      seconds(taken),
      interrupted(stopped),
      complete(transfer.over() && complaints.empty() && counts.failed == 0),
      in_vain(transfer.is_in_vain()) {}

std::string TransferArguments::document(const Outcome& outcome, const TransferStory& story,
                                        const std::string& address) {
  using Json = nlohmann::ordered_json;
  const transfer::Counts& counts = outcome.counts;
  const Json document{{"schema", "joust-transfer/1"},
                      {"command", story.command},
                      {"address", address},
                      {"complete", outcome.complete},
                      {"interrupted", outcome.interrupted},
                      {"files",
                       {{"stored", counts.files.load()},
                        {"directories", counts.folders.load()},
                        {"skipped", counts.skipped.load()},
                        {"failed", counts.failed.load()}}},
                      {"bytes",
                       {{"total", counts.total.load()},
                        {"moved", counts.moved.load()},
                        {"there_before", counts.there.load()},
                        {"repeated", counts.lost.load()},
                        {"discarded", counts.discarded.load()}}},
                      {"seconds", outcome.seconds},
                      {"mb_per_s", bytes_per_s(counts, outcome.seconds) / 1e6},
                      {"connections", counts.connections.load()},
                      {"retries", counts.retries.load()},
                      {"digest", story.digest ? Json(to_hex(*story.digest)) : Json()},
                      {"usage", to_json(outcome.used)},
                      {"complaints", outcome.complaints},
                      {"notes", story.notes}};
  return text_of(document, 2);
}

// Reports the outcome. The result is written first. If it, or standard output, cannot be written, the text
// for people is written all the same.
int TransferArguments::tell(const Outcome& outcome, const TransferStory& story,
                            const std::string& address) const {
  std::string unwritten;
  if (json == "-")
    try_print_out(document(outcome, story, address));
  else if (!json.empty())
    unwritten = keep_result(json, document(outcome, story, address));
  const bool is_silent = json == "-" || progress == "json";
  if (!is_silent && (outcome.complete || outcome.did_something())) {
    const std::string text =
        dry_run ? fmt::format("{}: {} bytes; nothing was moved\n", story.what, grouped(outcome.counts.total))
                : summary(outcome, story);
    bytes_on_output ? print_to_stderr(text) : try_print_out(text);
  }
  for (const std::string& complaint : outcome.complaints) joust::complain(program, complaint);
  if (!outcome.complete) suggest(outcome);
  if (output_is_lost() && !dry_run) {
    const std::string line = summary(outcome, story);
    joust::complain(program, (outcome.complete ? "all is there: " : "") + line.substr(0, line.find('\n')));
  }
  if (!unwritten.empty()) joust::complain(program, unwritten);
  return outcome.complete && unwritten.empty() ? kOk : kRunError;
}

void TransferArguments::suggest(const Outcome& outcome) const {
  const transfer::Counts& counts = outcome.counts;
  const char* const what = outcome.interrupted ? "interrupted" : "not complete";
  const char* const goes_on = counts.failed > 0 ? "mend that, then the same command goes on from there"
                                                : "the same command goes on from there";
  if (bytes_on_output)
    joust::complain(program, fmt::format("{}: nothing was written to standard output", what));
  else if (outcome.in_vain)
    joust::complain(program, "not complete: what was not sent cannot be sent as it is");
  else if (outcome.kept > 0 || outcome.did_something())
    joust::complain(program, fmt::format("{}; what is there is kept: {}:\n  {}", what, goes_on,
                                         command_line_of(program)));
  else
    joust::complain(
        program,
        fmt::format("{}: {}", what, counts.moved > 0 ? "the next attempt begins anew" : "nothing was moved"));
}

std::string TransferArguments::summary(const Outcome& outcome, const TransferStory& story) {
  const transfer::Counts& counts = outcome.counts;
  const Usage& used = outcome.used;
  std::string line = fmt::format("{} {}: {} in {:.2f} s, {}", story.verb, story.what,
                                 format_data(static_cast<double>(counts.moved)), outcome.seconds,
                                 format_speed(bytes_per_s(counts, outcome.seconds)));
  if (counts.there > 0)
    line += fmt::format("; {} were there", format_data(static_cast<double>(counts.there)));
  if (counts.discarded > 0)
    line += fmt::format("; {} of an earlier attempt did not fit",
                        format_data(static_cast<double>(counts.discarded)));
  if (counts.lost > 0)
    line += fmt::format("; {} had to be moved again", format_data(static_cast<double>(counts.lost)));
  if (const std::uint64_t there = counts.skipped; there > 0)
    line += fmt::format("; {} there already", there == 1 ? "1 file was" : grouped(there) + " files were");
  if (counts.failed > 0) line += fmt::format("; {} failed", counted(counts.failed, "file"));
  line += fmt::format("\nCPU {:.2f} s, memory {}, {}, {}\n", used.user_s + used.system_s,
                      format_bytes(static_cast<double>(used.peak_memory_bytes)),
                      counted(counts.connections, "connection"), counted(counts.retries, "retry"));
  if (story.digest) line += fmt::format("XXH3-128 {}, the same on both sides\n", to_hex(*story.digest));
  return line;
}

}  // namespace joust
