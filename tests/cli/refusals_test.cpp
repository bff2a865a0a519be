// SPDX-License-Identifier: MIT
//
// A program that embeds a server or a client hears of its mistakes in the words of the command line.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "hosting/protocols.hpp"
#include "joust/client.hpp"
#include "joust/main.hpp"
#include "joust/server.hpp"

namespace joust {
namespace {

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
  expect_client({.connect = there, .payload = 2 << 20}, {"--connect", there, "--payload", "2MiB"});
  expect_client({.connect = there, .load = {.connections = 0}}, {"--connect", there, "-c", "0"});
  expect_client({.connect = there, .load = {.depth = 0}}, {"--connect", there, "--depth", "0"});
  expect_client({.connect = there}, {"--connect", there}, messages_only());
}

TEST(Refusals, OfAnOptionThatDoesNotExist) {
  EXPECT_EQ(library_says([] { const Server server(protocol(), {.options = {{"size", "1"}}}); }),
            "protocol 'prefix' has no --size");
}

TEST(Refusals, LeaveAPublicAddressToWhoAllowsIt) {
  const Server server(protocol(), {.listen = "0.0.0.0:0", .is_public = true});
  EXPECT_TRUE(server.address().starts_with("0.0.0.0:"));
}

}  // namespace
}  // namespace joust
