// SPDX-License-Identifier: MIT
//
// What is told of a transfer at its end: the result for programs, the summary and the complaints for people.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "cli/common/output.hpp"
#include "cli/common/result_file.hpp"
#include "cli/common/transfer_arguments.hpp"
#include "measure/usage.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

// A word as a shell reads it back.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "@%+=:,./-_";
  const bool plain = !word.empty() && std::ranges::all_of(word, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.contains(c);
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_line_of(const Program& program) {
  std::vector<std::string> words;
  for (const std::string& word : program.words) words.push_back(quoted(word));
  return join(words, " ");
}

double mb_per_s(const transfer::Counts& counts, double seconds) {
  return seconds > 0 ? static_cast<double>(counts.moved) / seconds / 1e6 : 0;
}

}  // namespace

int TransferArguments::tell(const transfer::Transfer& transfer, const TransferStory& story,
                            const std::string& address, double seconds, bool interrupted) const {
  using Json = nlohmann::ordered_json;
  const transfer::Counts& counts = transfer.counts();
  const Usage used = own_usage();
  const std::vector<std::string> complaints = transfer.complaints();
  const bool complete = transfer.over() && complaints.empty() && counts.failed == 0;
  if (!json.empty()) {
    Json document{{"schema", "joust-transfer/1"},
                  {"command", story.command},
                  {"address", address},
                  {"complete", complete},
                  {"interrupted", interrupted},
                  {"files",
                   {{"stored", counts.files.load()},
                    {"skipped", counts.skipped.load()},
                    {"failed", counts.failed.load()}}},
                  {"bytes",
                   {{"total", counts.total.load()},
                    {"moved", counts.moved.load()},
                    {"there_before", counts.there.load()},
                    {"discarded", counts.discarded.load()}}},
                  {"seconds", seconds},
                  {"mb_per_s", mb_per_s(counts, seconds)},
                  {"connections", counts.connections.load()},
                  {"retries", counts.retries.load()},
                  {"digest", story.digest ? Json(to_hex(*story.digest)) : Json()},
                  {"usage", to_json(used)},
                  {"complaints", complaints},
                  {"notes", story.notes}};
    const std::string text = text_of(document, 2);
    if (json == "-")
      print_out(text);
    else
      write_result(json, text);
  }
  const bool is_silent = json == "-" || progress == "json";
  if (!is_silent && !complete && counts.files > 0) print_out(summary(transfer, story, seconds, used));
  for (const std::string& complaint : complaints) joust::complain(program, complaint);
  if (!complete) {
    const bool goes_on = interrupted || counts.moved > 0 || counts.there > 0;
    const char* const what = interrupted ? "interrupted" : "not complete";
    constexpr std::string_view kGoesOn = "what is there is kept: the same command goes on from there";
    if (goes_on)
      joust::complain(program, fmt::format("{}; {}:\n  {}", what, kGoesOn, command_line_of(program)));
    else if (counts.files == 0)
      joust::complain(program, "nothing was moved");
    return kRunError;
  }
  if (is_silent) return kOk;
  if (dry_run)
    print_out(fmt::format("{}: {} bytes; nothing was moved\n", story.what, grouped(counts.total)));
  else
    print_out(summary(transfer, story, seconds, used));
  return kOk;
}

std::string TransferArguments::summary(const transfer::Transfer& transfer, const TransferStory& story,
                                       double seconds, const Usage& used) {
  const transfer::Counts& counts = transfer.counts();
  std::string line =
      fmt::format("{} {}: {} in {:.2f} s, {:.0f} MB/s", story.verb, story.what,
                  format_bytes(static_cast<double>(counts.moved)), seconds, mb_per_s(counts, seconds));
  if (counts.there > 0)
    line += fmt::format("; {} were there", format_bytes(static_cast<double>(counts.there)));
  if (counts.skipped > 0) line += fmt::format("; {} skipped", counted(counts.skipped, "file"));
  if (counts.failed > 0) line += fmt::format("; {} failed", counted(counts.failed, "file"));
  line += fmt::format("\nCPU {:.2f} s, memory {}, {}, {}\n", used.user_s + used.system_s,
                      format_bytes(static_cast<double>(used.peak_memory_bytes)),
                      counted(counts.connections, "connection"),
                      fmt::format("{} retries", counts.retries.load()));
  if (story.digest) line += fmt::format("XXH3-128 {}, the same on both sides\n", to_hex(*story.digest));
  return line;
}

}  // namespace joust
