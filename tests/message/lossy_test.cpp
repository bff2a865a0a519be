// SPDX-License-Identifier: MIT
//
// Connections over links that lose, repeat, reorder and damage datagrams: what is delivered is right, and
// what is missing is counted exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "message/message_net.hpp"
#include "message/scripted_session.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMessages = 2'000;
constexpr std::size_t kClients = 5;

std::string message(std::size_t number) {
  return "message " + std::to_string(number) + std::string(number % 60, '.');
}

struct Case {
  const char* name;
  LossyLink::Faults faults;
  bool packs = false;
};

const std::vector<Case> kCases{
    {"nothing", {}},
    {"loss", {.lost = 200}},
    {"duplication", {.duplicated = 300}},
    {"reordering", {.reordered = 200, .delay = milliseconds(1)}},
    {"damage", {.truncated = 100, .flipped = 100}},
    {"everything",
     {.lost = 200,
      .duplicated = 200,
      .reordered = 200,
      .truncated = 50,
      .flipped = 50,
      .delay = milliseconds(2)}},
    {"everything_packed",
     {.lost = 200,
      .duplicated = 200,
      .reordered = 200,
      .truncated = 50,
      .flipped = 50,
      .delay = milliseconds(2)},
     true},
};

class Lossy : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Links, Lossy, testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

// Every client sends numbered messages, the server sends each back, and a client leaves when it has sent all.
class Exchange {
 public:
  Exchange(const Case& tested, std::uint64_t seed)
      : server_([](MessageScript& script, std::size_t) { script.echoes = true; }),
        net_({.packs = tested.packs, .faults = tested.faults, .seed = seed}, server_, client_) {
    for (std::size_t i = 0; i < kClients; ++i) net_.dial();
    joined_ = net_.pass_until([&] { return client_.scripts.size() == kClients; }, seconds(30));
  }

  // Some at a time, so that none is older than the window which tells duplicates.
  void run() {
    ASSERT_TRUE(joined_) << "a join was not repeated until it was answered";
    for (std::size_t sent = 0; sent < kMessages; sent += 20) {
      for (const auto& script : client_.scripts)
        for (std::size_t i = sent; i < sent + 20; ++i) script->to_send.push_back(message(i));
      net_.publish();
      net_.pass(milliseconds(10));
    }
    for (const auto& script : client_.scripts) script->finished = true;
    net_.publish();
    ASSERT_TRUE(net_.pass_until([&] { return net_.all_over(); }, seconds(30)));
  }

  ScriptedMessageService server_, client_;
  MessageNet net_;
  bool joined_ = false;
};

void expect_no_message_twice_or_wrong(const MessageScript& script) {
  std::set<std::string> seen;
  for (const std::string& text : script.received) {
    EXPECT_TRUE(seen.insert(text).second) << "delivered twice: " << text;
    const std::size_t number = std::stoul(text.substr(8));
    EXPECT_EQ(text, message(number));
  }
}

TEST_P(Lossy, DeliversEachMessageOnceAndCountsTheRest) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Exchange exchange(GetParam(), seed);
    exchange.run();
    EXPECT_EQ(exchange.server_.scripts.size(), kClients) << "each client has one session";
    std::size_t delivered = 0;
    for (const auto* service : {&exchange.server_, &exchange.client_})
      for (const auto& script : service->scripts) {
        expect_no_message_twice_or_wrong(*script);
        if (service == &exchange.server_) delivered += script->received.size();
      }
    const DatagramCounts at_server = exchange.net_.server_tally().datagrams();
    EXPECT_EQ(at_server.expected, at_server.received + at_server.lost);
    if (!GetParam().packs) {
      // The last word of each client said how many it had sent.
      EXPECT_EQ(at_server.expected, kClients * kMessages);
      EXPECT_EQ(at_server.received, delivered);
      EXPECT_EQ(exchange.net_.client_tally().datagrams().expected, delivered);
    }
    EXPECT_EQ(exchange.net_.server_tally().failures() + exchange.net_.client_tally().failures(), 0U);
  }
}

TEST_P(Lossy, CountsWhatTheLinksDid) {
  Exchange exchange(GetParam(), 7);
  exchange.run();
  LossyLink::Counts links;
  for (std::size_t i = 0; i < kClients; ++i) {
    const LossyLink::Counts& link = exchange.net_.to_server(i).counts();
    links.lost += link.lost;
    links.truncated += link.truncated;
    links.flipped += link.flipped;
    links.duplicated += link.duplicated;
  }
  const DatagramCounts counts = exchange.net_.server_tally().datagrams();
  const bool damages = GetParam().faults.truncated > 0;
  EXPECT_EQ(counts.lost > 0, links.lost + links.truncated + links.flipped > 0);
  EXPECT_LE(counts.lost, links.lost + links.truncated + links.flipped);
  EXPECT_EQ(counts.duplicated > 0, links.duplicated > 0);
  // Packed datagrams are so few that none has time to overtake another.
  if (!GetParam().packs) {
    EXPECT_EQ(counts.out_of_order > 0, GetParam().faults.reordered > 0);
  }
  EXPECT_EQ(counts.truncated > 0, damages);
  // A flip in the first bytes makes it a foreign datagram. One datagram may have both faults.
  EXPECT_LE(counts.truncated + counts.foreign, links.truncated + links.flipped);
  EXPECT_EQ(counts.foreign > 0 && !damages, false);
}

// The datagrams at the end of a connection are the ones that no later number can show to be missing.
TEST(LossyEnd, WhatIsLostAtTheEndIsCounted) {
  ScriptedMessageService server, client;
  MessageNet net({}, server, client);
  net.dial();
  net.pass({});
  net.to_server(0).change({.lost = 1000});
  for (std::size_t i = 0; i < 10; ++i) client.scripts[0]->to_send.push_back(message(i));
  net.publish();
  net.pass(milliseconds(1));
  net.to_server(0).change({});
  client.scripts[0]->finished = true;
  net.publish();
  net.pass(seconds(2));
  EXPECT_TRUE(net.all_over());
  EXPECT_EQ(net.server_tally().datagrams().expected, 10U);
  EXPECT_EQ(net.server_tally().datagrams().lost, 10U);
}

TEST(LossyEnd, AnAnswerThatIsLostIsGivenAgain) {
  ScriptedMessageService server, client;
  MessageNet net({}, server, client);
  net.dial();
  net.pass({});
  server.scripts[0]->to_send.push_back("lost");
  net.to_client(0).change({.lost = 1000});
  client.scripts[0]->finished = true;
  net.publish();
  net.pass(milliseconds(100));
  EXPECT_NE(net.client(0), nullptr);
  EXPECT_EQ(server.scripts[0]->told.back(), "destroyed");
  net.to_client(0).change({});
  net.pass(milliseconds(300));
  EXPECT_EQ(net.client(0), nullptr);
  EXPECT_EQ(net.client_tally().datagrams().lost, 1U);
}

// Messages that were sent before it are not cut off by a last word that overtakes them.
TEST(LossyEnd, ALastWordWaitsForThoseItHasOvertaken) {
  ScriptedMessageService server, client;
  MessageNet net({.faults = {.reordered = 1000}}, server, client);
  net.dial();
  net.pass(seconds(1));
  client.scripts[0]->to_send.push_back("held back on the way");
  net.publish();
  net.pass({});
  net.to_server(0).change({});
  client.scripts[0]->finished = true;
  net.publish();
  net.pass(seconds(1));
  EXPECT_EQ(server.scripts[0]->received, std::vector<std::string>{"held back on the way"});
  EXPECT_EQ(server.scripts[0]->told.at(1), "peer finished");
}

}  // namespace
}  // namespace joust
