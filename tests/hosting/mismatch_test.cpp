// SPDX-License-Identifier: MIT
#include "hosting/mismatch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "joust/load_plan.hpp"
#include "protocols/table.hpp"

namespace joust {
namespace {

constexpr Engine kStream{.name = "stream", .summary = {}, .threads = {}, .wait_ignored = {}, .knobs = {}};
constexpr Engine kMessages{.name = "messages",
                           .summary = {},
                           .delivery = {.kind = Delivery::Kind::message, .largest_message = 100},
                           .threads = {},
                           .wait_ignored = {},
                           .knobs = {}};
constexpr Engine kDatagrams{
    .name = "datagrams",
    .summary = {},
    .delivery = {.kind = Delivery::Kind::message, .largest_message = 100, .lossy = true},
    .threads = {},
    .wait_ignored = {},
    .knobs = {}};
constexpr Engine kProcesses{.name = "processes",
                            .summary = {},
                            .separate_processes = true,
                            .threads = {},
                            .wait_ignored = {},
                            .knobs = {}};

constexpr Engine kRingless{.name = "ringless",
                           .summary = {},
                           .threads = {},
                           .wait_ignored = {},
                           .no_file_ring = "a reason",
                           .knobs = {}};

Protocol protocol(bool over_stream, bool over_message, bool stands_alone) {
  Protocol protocol;
  protocol.over_stream = over_stream;
  if (!over_message) protocol.no_messages = "a reason";
  protocol.sessions_stand_alone = stands_alone;
  return protocol;
}

TEST(Mismatch, IsNoneWhereTheEngineCarriesWhatTheProtocolNeeds) {
  for (const Engine* engine : {&kStream, &kMessages, &kProcesses})
    EXPECT_EQ(mismatch(*engine, protocol(true, true, true), Role::serve), "");
  EXPECT_EQ(mismatch(kStream, protocol(true, false, false), Role::serve), "");
  EXPECT_EQ(mismatch(kMessages, protocol(false, true, false), Role::serve), "");
}

TEST(Mismatch, IsADeliveryTheProtocolCannotUse) {
  EXPECT_EQ(mismatch(kStream, protocol(false, true, true), Role::serve),
            "unsupported: the engine carries a stream, and the protocol needs whole messages");
  EXPECT_EQ(mismatch(kMessages, protocol(true, false, true), Role::serve),
            "unsupported: the engine carries messages, and the protocol needs a stream: a reason");
}

TEST(Mismatch, IsAServerAndAClientThatDeliverInDifferentWays) {
  for (const Engine* engine : {&kStream, &kMessages, &kDatagrams}) EXPECT_EQ(mismatch(*engine, *engine), "");
  EXPECT_EQ(mismatch(kStream, kProcesses), "");
  EXPECT_EQ(mismatch(kDatagrams, kStream),
            "unsupported: the server carries messages that may be lost, and the client a stream");
  EXPECT_NE(mismatch(kDatagrams, kMessages), "");
  EXPECT_NE(mismatch(kStream, kMessages), "");
}

TEST(Mismatch, IsAPayloadThatDoesNotFitIntoAMessage) {
  Protocol spoken;
  spoken.head_bytes = 20;
  EXPECT_EQ(payload_mismatch(kStream, spoken, 1 << 20), "");
  EXPECT_EQ(payload_mismatch(kMessages, spoken, 80), "");
  EXPECT_EQ(payload_mismatch(kMessages, spoken, 81),
            "unsupported: a message has at most 100 bytes, 80 of them its payload");
  EXPECT_EQ(payload_mismatch(kDatagrams, spoken, 72), "");
  EXPECT_NE(payload_mismatch(kDatagrams, spoken, 73), "") << "the number needs room too";
}

TEST(Mismatch, OfTheBuiltinProtocolsSomeNeedAStream) {
  for (const Protocol& builtin : builtin_protocols()) {
    constexpr std::array kOfStreams{"file", "http", "resp", "websocket"};
    const bool is_stream = std::ranges::find(kOfStreams, builtin.name) != kOfStreams.end();
    EXPECT_EQ(mismatch(kDatagrams, builtin, Role::serve).empty(), !is_stream) << builtin.name;
  }
}

TEST(Mismatch, IsProcessesBetweenSessionsThatNeedEachOther) {
  EXPECT_EQ(mismatch(kProcesses, protocol(true, true, false), Role::serve),
            "unsupported: sessions live in different processes");
  EXPECT_EQ(mismatch(kProcesses, protocol(true, true, false), Role::dial), "") << "a load is one process";
}

TEST(Mismatch, IsADemandForSessionsThatMeet) {
  const Demands apart{}, together{.common_sessions = "a reason"};
  EXPECT_EQ(
      mismatch(kProcesses, together),
      "unsupported: sessions live in different processes, and a reason; engines such as poll and threads "
      "have one process");
  EXPECT_EQ(mismatch(kProcesses, apart), "");
  EXPECT_EQ(mismatch(kStream, together), "");
}

TEST(Mismatch, IsARingForFilesThatTheEngineLacks) {
  const Demands ring{.file_ring = true};
  EXPECT_EQ(mismatch(kRingless, ring), "unsupported: no ring buffer (writev) for files: a reason");
  EXPECT_EQ(mismatch(kRingless, Demands{}), "");
  EXPECT_EQ(mismatch(kStream, ring), "");
}

TEST(Mismatch, IsAConnectionThatCannotBeginAgain) {
  Protocol spoken;
  spoken.no_reconnect = "a reason";
  const LoadPlan plan{.reconnect = LoadPlan::Reconnect::always};
  EXPECT_EQ(reconnect_mismatch(plan, nullptr, spoken), "unsupported: no reconnecting: a reason");
  for (const Protocol& builtin : builtin_protocols())
    EXPECT_EQ(reconnect_mismatch(plan, nullptr, builtin).empty(),
              builtin.name != "broadcast" && builtin.name != "file");
  EXPECT_NE(reconnect_mismatch(plan, nullptr, Protocol()), "") << "unless a protocol says that it can";
  EXPECT_NE(reconnect_mismatch({.messages_per_connection = 1}, nullptr, spoken), "");
  EXPECT_EQ(reconnect_mismatch({}, nullptr, spoken), "") << "it is not asked for";
}

TEST(Mismatch, IsAMappedFileWhoseBytesTheEngineCopies) {
  const Demands mapping{.file_mapping = true};
  constexpr Engine kCopies{.name = "copies", .summary = "", .threads = "", .no_file_mapping = "a reason"};
  EXPECT_EQ(mismatch(kCopies, mapping), "unsupported: nothing is sent from a mapped file (mmap): a reason");
  EXPECT_EQ(mismatch(kCopies, Demands{}), "");
  EXPECT_EQ(mismatch(kStream, mapping), "");
}

TEST(Mismatch, IsAConnectionThatWouldWaitForAnother) {
  constexpr Engine kPool{.name = "pool", .summary = "", .threads = "", .clients_wait = "a reason"};
  EXPECT_EQ(mismatch(kPool, 4, 5),
            "unsupported: 5 connections with 4 threads: a reason; use -t 5 or fewer connections (-c)");
  EXPECT_EQ(mismatch(kPool, 4, 4), "");
  EXPECT_EQ(mismatch(kStream, 1, 1000), "");
}

class FileDemands : public testing::Test {
 protected:
  static Demands of_load(std::size_t connections, const Settings& options) {
    return of(connections, options, Role::dial);
  }
  static Demands of_server(const Settings& options) { return of(0, options, Role::serve); }

 private:
  static Demands of(std::size_t connections, const Settings& options, Role role) {
    const std::vector<Protocol> all = builtin_protocols();
    const Protocol& file = *std::ranges::find(all, "file", &Protocol::name);
    Parameters parameters = standard_parameters(file, role);
    for (const auto& [name, value] : options) parameters.options[name] = value;
    LoadPlan plan;
    plan.connections = connections;
    return file.demands(parameters, role == Role::dial ? &plan : nullptr);
  }
};

TEST_F(FileDemands, AreCommonSessionsOfAServerThatTakesUploads) {
  EXPECT_NE(of_server({}).common_sessions, "");
  EXPECT_NE(of_server({{"access", "write"}}).common_sessions, "");
  EXPECT_EQ(of_server({{"access", "read"}}).common_sessions, "");
  EXPECT_EQ(of_load(4, {{"op", "put"}, {"segments", "0"}}).common_sessions, "") << "the server demands them";
}

TEST_F(FileDemands, AreAMappingWhereFilesAreSent) {
  const auto by_mapping = std::pair<const std::string, std::string>("file-read", "mmap");
  EXPECT_TRUE(of_server({by_mapping}).file_mapping);
  EXPECT_FALSE(of_server({}).file_mapping);
  EXPECT_TRUE(of_load(1, {by_mapping, {"op", "put"}}).file_mapping);
  EXPECT_FALSE(of_load(1, {by_mapping}).file_mapping) << "a download";
}

TEST_F(FileDemands, AreARingWhereFilesAreReceived) {
  const auto by_ring = std::pair<const std::string, std::string>("file-write", "writev");
  EXPECT_TRUE(of_load(1, {by_ring}).file_ring);
  EXPECT_FALSE(of_load(1, {by_ring, {"op", "put"}}).file_ring);
  EXPECT_FALSE(of_load(1, {by_ring, {"op", "info"}}).file_ring);
  EXPECT_FALSE(of_load(1, {{"file-write", "splice"}}).file_ring);
  EXPECT_TRUE(of_server({by_ring}).file_ring);
  EXPECT_FALSE(of_server({}).file_ring);
}

}  // namespace
}  // namespace joust
