// SPDX-License-Identifier: MIT
#include "engines/template.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "engines/metronome.hpp"
#include "engines/room.hpp"
#include "engines/running.hpp"

namespace joust::test {
namespace {

TEST(TemplateEngine, StandsInNoList) {
  EXPECT_EQ(find_engine("template"), nullptr);
}

TEST(TemplateEngine, EchoesEveryByteToEveryPeer) {
  HandlerService service = echo_service();
  RunningServer server(template_engine(), service);
  std::vector<Fd> peers;
  for (int i = 0; i < 30; ++i) peers.push_back(connect_to(server.address()));
  for (unsigned i = 0; i < peers.size(); ++i) send_all(peers[i], pattern(30'000, i));
  for (unsigned i = 0; i < peers.size(); ++i) EXPECT_TRUE(receive(peers[i], 30'000) == pattern(30'000, i));
}

TEST(TemplateEngine, AnswersMoreThanTheSocketsHold) {
  HandlerService service = echo_service(Length4{});
  RunningServer server(template_engine(), service);
  const Fd peer = connect_to(server.address());
  std::string frames;
  for (unsigned i = 0; i < 20; ++i) frames += std::string("\0\x0f\xff\xff", 4) + pattern(0x0fffff, i);
  std::thread sender([&] { send_all(peer, frames); });
  const std::string echoed = receive(peer, frames.size());
  sender.join();
  EXPECT_TRUE(echoed == frames);
}

TEST(TemplateEngine, AnswersBeforeItEndsWhatHadArrivedBeforeTheStop) {
  HandlerService service = echo_service();
  RunningServer server(template_engine(), service);
  std::vector<Fd> peers;
  for (int k = 0; k < 10; ++k) peers.push_back(connect_to(server.address()));
  for (const Fd& peer : peers) send_all(peer, "asked in time");
  server.stop.request();
  for (const Fd& peer : peers) EXPECT_EQ(receive(peer, 100), "asked in time");
}

TEST(TemplateEngine, StopsInMidTrafficAndLeavesNothingBehind) {
  HandlerService service = echo_service();
  const std::size_t descriptors = open_descriptors();
  for (int i = 0; i < 50; ++i) {
    RunningServer server(template_engine(), service);
    std::vector<Fd> peers;
    for (int k = 0; k < 8; ++k) peers.push_back(connect_to(server.address()));
    for (const Fd& peer : peers) send_all(peer, pattern(20'000, 1));
    server.finish_at_once();
  }
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST(TemplateEngine, WhatOneSaysEverybodyHears) {
  Room room(1000);
  RunningServer server(template_engine(), room);
  std::vector<Fd> members;
  for (int i = 0; i < 10; ++i) members.push_back(connect_to(server.address()));
  send_all(members.front(), "hear");
  for (const Fd& member : members) EXPECT_EQ(receive(member, 4), "hear");
}

TEST(TemplateEngine, DialsAndSpeaksWhenItsSessionsWantTo) {
  HandlerService echo = echo_service();
  RunningServer server(template_engine(), echo);
  Metronome service(50, 10);
  Dialling client(service, server.address(), 50);
  template_engine().run(client.hosting, client.stop);
  EXPECT_EQ(service.beats_heard, 500);
  EXPECT_EQ(client.tally.failures(), 0U);
}

TEST(TemplateEngine, CountsEveryRefusedConnectionOnce) {
  const std::string address = Listener(resolve("127.0.0.1:0")->front(), {}).address();
  Metronome service(30, 1);
  Dialling client(service, address, 30);
  template_engine().run(client.hosting, client.stop);
  EXPECT_EQ(service.refused, 30);
  EXPECT_EQ(client.tally.failures(Stage::connect), 30U);
}

}  // namespace
}  // namespace joust::test
