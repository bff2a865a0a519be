// SPDX-License-Identifier: MIT
//
// Every sub-command refuses an engine that cannot carry the protocol before anything starts.
//
// A program that embeds a server or a client hears of its mistakes in the words of the command line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "hosting/protocols.hpp"
#include "joust/client.hpp"
#include "joust/main.hpp"
#include "joust/server.hpp"
#include "load/settings.hpp"
#include "temporary_folder.hpp"

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

// A protocol with an option for each side.
Protocol protocol() {
  Protocol protocol = test::prefix_protocol();
  protocol.options = {{.name = "colour",
                       .summary = "of the server",
                       .standard = "red",
                       .choices = {"red", "blue"},
                       .loads = false},
                      {.name = "taste", .summary = "of the client", .standard = "sweet", .serves = false}};
  return protocol;
}

// Protocols that an engine over streams cannot carry.
Protocol messages_only() {
  Protocol messages = protocol();
  messages.over_stream = false;
  return messages;
}

std::string command_line_says(std::vector<std::string> arguments, const Protocol& spoken) {
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStderr();
  EXPECT_EQ(main(static_cast<int>(argv.size()), argv.data(), spoken), 2);
  std::string text = testing::internal::GetCapturedStderr();
  text = text.substr(std::string("program: ").size());
  return text.substr(0, text.find('\n'));
}

template <typename Make>
std::string library_says(Make&& make) {
  try {
    make();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing";
}

void expect_server(const ServerOptions& options, std::vector<std::string> arguments,
                   const Protocol& spoken = protocol()) {
  arguments.insert(arguments.begin(), "serve");
  EXPECT_EQ(library_says([&] { const Server server(spoken, options); }),
            command_line_says(arguments, spoken));
}

void expect_client(const ClientOptions& options, std::vector<std::string> arguments,
                   const Protocol& spoken = protocol()) {
  arguments.insert(arguments.begin(), "load");
  EXPECT_EQ(library_says([&] { const Client client(spoken, options); }),
            command_line_says(arguments, spoken));
}

TEST(Refusals, OfAServerAreThoseOfServe) {
  expect_server({.engine = "epol"}, {"-e", "epol"});
  expect_server({.engine = "null"}, {"-e", "null"});
  expect_server({.engine = "threads", .knobs = {{"trigger", "level"}}},
                {"-e", "threads", "--trigger", "level"});
  expect_server({.knobs = {{"trigger", "neither"}}}, {"--trigger", "neither"});
  expect_server({.options = {{"colour", "green"}}}, {"--colour", "green"});
  expect_server({.options = {{"taste", "sour"}}}, {"--taste", "sour"});
  expect_server({.listen = "nowhere"}, {"--listen", "nowhere"});
  expect_server({.listen = "0.0.0.0:0"}, {"--listen", "0.0.0.0:0"});
  expect_server({.engine = "udp-batched", .listen = "0.0.0.0:0", .is_public = true},
                {"-e", "udp-batched", "--listen", "0.0.0.0:0", "--public"});
  expect_server({.threads = 0}, {"-t", "0"});
  expect_server({.limits = {.connections = 0}}, {"--max-connections", "0"});
  expect_server({}, {}, messages_only());
}

TEST(Refusals, OfAClientAreThoseOfLoad) {
  const std::string there = "127.0.0.1:1";
  expect_client({}, {});
  expect_client({.engine = "null", .connect = there}, {"-e", "null", "--connect", there});
  expect_client({.connect = "nowhere"}, {"--connect", "nowhere"});
  expect_client({.engine = "epol", .connect = there}, {"-e", "epol", "--connect", there});
  expect_client({.connect = there, .options = {{"colour", "blue"}}},
                {"--connect", there, "--colour", "blue"});
  expect_client({.connect = there, .load = {.payload = 2 << 20}}, {"--connect", there, "--payload", "2MiB"});
  expect_client({.connect = there, .load = {.connections = 0}}, {"--connect", there, "-c", "0"});
  expect_client({.connect = there, .load = {.depth = 0}}, {"--connect", there, "--depth", "0"});
  expect_client({.connect = there}, {"--connect", there}, messages_only());
}

// A value beyond the limits of a setting, as the library, a flag of `load`, a flag of `race` and a scenario
// refuse it.
TEST(Refusals, OfALoadsSettingsAreTheSameEverywhere) {
  for (const LoadSetting& setting : load_settings()) {
    using Kind = LoadSetting::Kind;
    const bool is_number = setting.kind == Kind::count || setting.kind == Kind::bytes;
    if (!is_number || setting.most == std::numeric_limits<std::int64_t>::max()) continue;
    const std::string text = fmt::format("{}", setting.most + 1), flag = setting.flag();
    ClientOptions options{.connect = "127.0.0.1:1"};
    setting.set(options.load, setting.most + 1);
    const std::string said = library_says([&] { const Client client(protocol(), options); });
    EXPECT_TRUE(said.contains("is out of range; allowed: ")) << setting.key << ": " << said;
    const std::string why = said.substr(said.find(": "));
    EXPECT_EQ(command_line_says({"load", "--connect", "127.0.0.1:1", flag, text}, protocol()), said);
    if (!setting.raced) continue;
    EXPECT_EQ(command_line_says({"race", "--server", "epoll", flag, text}, protocol()), said);
    const test::TemporaryFolder folder;
    std::ofstream(folder.file("race.toml")) << "matrix = { servers = [\"epoll\"] }\n[load]\n"
                                            << setting.key << " = " << text << "\n";
    const std::string refused =
        command_line_says({"race", folder.file("race.toml"), "--dry-run"}, protocol());
    EXPECT_TRUE(refused.ends_with(fmt::format("key 'load.{}'{}", setting.key, why))) << refused;
  }
}

TEST(Refusals, OfAnOptionThatDoesNotExist) {
  EXPECT_EQ(library_says([] {
              const Server server(protocol(), {.options = {{"size", "1"}}});
            }),
            "protocol 'prefix' has no --size");
}

TEST(Refusals, LeaveAPublicAddressToWhoAllowsIt) {
  const Server server(protocol(), {.listen = "0.0.0.0:0", .is_public = true});
  EXPECT_TRUE(server.address().starts_with("0.0.0.0:"));
}

}  // namespace
}  // namespace joust
