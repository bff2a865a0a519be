// SPDX-License-Identifier: MIT
#include "cli/advise/question.hpp"

#include <fmt/format.h>

#include <array>
#include <iostream>

#include "base/terminal.hpp"
#include "base/units.hpp"
#include "cli/common/command.hpp"

namespace joust::advise {
namespace {

constexpr std::uint64_t kMostConnections = 1'000'000, kMostPayload = 1U << 20;
constexpr Duration kMostWork = std::chrono::milliseconds(100);  // of the protocol work, for one request

std::string take_connections(Question& question, const std::string& text) {
  const auto number = parse_count(text);
  if (!number) return number.error();
  if (*number < 1 || *number > kMostConnections)
    return fmt::format("'{}' is not between 1 and {}", text, grouped(kMostConnections));
  question.connections = *number;
  return {};
}

std::string take_idle(Question& question, const std::string& text) {
  if (text == "0" || text == "0%") {
    question.idle = 0;
    return {};
  }
  const auto share = parse_percent(text);
  if (!share) return share.error();
  question.idle = *share;
  return {};
}

std::string take_work(Question& question, const std::string& text) {
  const auto time = parse_duration(text);
  if (!time) return time.error();
  if (*time > kMostWork) return fmt::format("'{}' is not between 0 and {}", text, format_duration(kMostWork));
  question.work = *time;
  return {};
}

std::string take_payload(Question& question, const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes) return bytes.error();
  if (*bytes < 1 || *bytes > kMostPayload)
    return fmt::format("'{}' is not between 1 byte and {}", text, format_size(kMostPayload));
  question.payload = *bytes;
  return {};
}

std::string take_datagrams(Question& question, const std::string& text) {
  if (text != "yes" && text != "no") return fmt::format("'{}' is neither yes nor no", text);
  question.datagrams = text == "yes";
  return {};
}

constexpr std::array<Part, 5> kParts{{
    {"--connections", "N", "connections, open at the same time", "How many connections are open at a time?",
     "64", take_connections},
    {"--idle", "SHARE",
     "connections that send nothing in a second: 95%. The others send one message each, at random times "
     "(-R); 0: each connection sends its next message when it has its reply",
     "Which share of them sends nothing in a second (0: each sends when it has its reply)?", "0%", take_idle},
    {"--work", "TIME", "how long the server computes for a request, up to 100ms",
     "How long does the server compute for a request?", "0", take_work},
    {"--payload", "BYTES", "bytes of a message and of its reply, up to 1MiB; not with --work",
     "How many bytes has a message?", "32", take_payload},
    {"--datagrams", "", "messages may be lost: engines over UDP race too",
     "May messages be lost (yes or no)?", "no", take_datagrams},
}};

// Reads an answer; an empty one is the default.
std::string answer_to(const Part& part) {
  print_to_stderr(fmt::format("{} [{}] ", part.asked, part.standard));
  std::string line;
  if (!std::getline(std::cin, line))
    throw UsageError("the terminal was closed before all was answered; nothing was run");
  const std::size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t");
  return begin == std::string::npos ? part.standard : line.substr(begin, end - begin + 1);
}

void ask(const Part& part, Question& question) {
  constexpr int kTries = 3;
  std::string problem;
  for (int i = 0; i < kTries; ++i) {
    const std::string answer = answer_to(part);
    problem = part.take(question, answer);
    if (problem.empty()) return;
    print_to_stderr(fmt::format("  {}\n", problem));
  }
  throw UsageError(fmt::format("{}: {}", part.flag, problem));
}

}  // namespace

std::span<const Part> parts() {
  return kParts;
}

Question ask() {
  Question question;
  for (const Part& part : parts())
    if (part.take != take_payload || question.work == Duration{}) ask(part, question);  // work has no payload
  return question;
}

}  // namespace joust::advise
