// SPDX-License-Identifier: MIT
//
// The report of a transfer at its end: the result for programs, the summary and the complaints for people.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "base/printable.hpp"
#include "base/terminal.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "cli/common/output.hpp"
#include "cli/common/result_file.hpp"
#include "cli/file_tool/transfer_arguments.hpp"
#include "measure/usage.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

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
