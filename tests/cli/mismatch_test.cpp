// SPDX-License-Identifier: MIT
//
// Every sub-command refuses an engine that cannot carry the protocol before anything starts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "joust/main.hpp"

namespace joust {
namespace {

// A protocol that no engine over a stream can carry, and that must not be started.
Protocol words() {
  Protocol protocol;
  protocol.name = "words";
  protocol.summary = "whole messages only";
  protocol.over_stream = false;
  protocol.make_server = [](const Parameters&) -> std::unique_ptr<Service> {
    throw std::logic_error("a server was made");
  };
  protocol.make_client = [](const Parameters&, LoadRun&) -> std::unique_ptr<Service> {
    throw std::logic_error("a client was made");
  };
  return protocol;
}

struct Outcome {
  int exit_code;
  std::string errors;
};

Outcome run(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const int exit_code = main(static_cast<int>(argv.size()), argv.data(), words());
  testing::internal::GetCapturedStdout();
  return {exit_code, testing::internal::GetCapturedStderr()};
}

constexpr auto kReason = "unsupported: the engine carries a stream, and the protocol needs whole messages";

TEST(MismatchOnTheCommandLine, IsRefusedByServeAndLoad) {
  for (const auto& [engine, more] :
       {std::pair{"serve", std::vector<std::string>{}}, {"load", {"--connect", "127.0.0.1:1"}}}) {
    std::vector<std::string> arguments{"words", engine, "-e", "epoll"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.errors, fmt::format("words: engine 'epoll' with protocol 'words': {}\n", kReason));
  }
}

TEST(MismatchOnTheCommandLine, IsRefusedByRace) {
  const Outcome outcome = run({"words", "race", "--server", "epoll", "--client", "threads"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors, std::string("words: no contestant can run here:\n  epoll: ") + kReason + "\n");
}

}  // namespace
}  // namespace joust
