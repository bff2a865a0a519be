// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include "files/protocol/load_fixture.hpp"

namespace joust::file {
namespace {

namespace fs = std::filesystem;
using joust::test::digest_of;
using joust::test::text_of;

class FileLoad : public test::FileLoadTest {};

TEST_F(FileLoad, GetsAFileIntoAnother) {
  const std::string text = content(100'000);
  std::ofstream(path("text")) << text;
  const Outcome outcome = run_load({.messages = 1}, {{"name", "text"}, {"output", folder_.file("got")}});
  expect_clean(outcome, 1);
  EXPECT_EQ(text_of(folder_.file("got")), text);
  EXPECT_EQ(outcome.of("bytes"), "100000");
  EXPECT_EQ(outcome.of("digest"), to_hex(digest_of(text)));
  EXPECT_EQ(outcome.counts.bytes_received, 100'124U) << "with the heads of three frames and two bodies";
}

TEST_F(FileLoad, GetsAFileInRangesOverSeveralConnections) {
  const std::string text = content(100'003);
  std::ofstream(path("text")) << text;
  for (const char* segments : {"3", "8"}) {
    const Outcome outcome =
        run_load({.connections = 3, .messages = 2},
                 {{"name", "text"}, {"output", folder_.file("got")}, {"segments", segments}});
    expect_clean(outcome, 2 * std::stoull(segments));
    EXPECT_EQ(text_of(folder_.file("got")), text);
    EXPECT_EQ(outcome.of("transfers"), "2");
    EXPECT_EQ(outcome.of("bytes"), "200006");
  }
}

TEST_F(FileLoad, GetsIntoMemoryAndNowhereAndVerifiesBoth) {
  std::ofstream(path("text")) << content(50'000);
  for (const char* sink : {"null", "memory"}) {
    const Outcome outcome = run_load({.connections = 4, .messages = 3}, {{"name", "text"}, {"sink", sink}});
    expect_clean(outcome, 12);
    EXPECT_EQ(outcome.of("digest"), to_hex(digest_of(content(50'000)))) << sink;
    EXPECT_EQ(outcome.of("bytes"), "600000");
  }
}

TEST_F(FileLoad, GetsFilesOfAnySize) {
  for (const std::size_t size : {0UZ, 1UZ, 5UZ, (4UZ << 20) - 1, 4UZ << 20, (9UZ << 20) + 1}) {
    std::ofstream(path("text")) << content(size);
    const Outcome outcome = run_load({.connections = 2, .messages = 1},
                                     {{"name", "text"}, {"output", folder_.file("got")}, {"segments", "7"}});
    expect_clean(outcome, std::clamp<std::uint64_t>(size, 1, 7));
    EXPECT_EQ(text_of(folder_.file("got")), content(size)) << size;
  }
}

TEST_F(FileLoad, PutsAFile) {
  const std::string text = content(100'000);
  std::ofstream(folder_.file("mine")) << text;
  const Outcome outcome = run_load({.messages = 1}, {{"op", "put"}, {"file", folder_.file("mine")}});
  expect_clean(outcome, 1);
  EXPECT_EQ(text_of(path("mine")), text);
  EXPECT_EQ(outcome.of("bytes"), "100000");
  EXPECT_EQ(outcome.of("digest"), to_hex(digest_of(text)));
}

TEST_F(FileLoad, PutsIntoAServerThatKeepsFilesInMemory) {
  for (const char* way : {"write", "splice", "mmap", "writev"}) {
    const Outcome outcome =
        run_load({.messages = 1}, {{"op", "put"}, {"bytes", "3000000"}}, {{"root", ""}, {"file-write", way}});
    expect_clean(outcome, 1);
    EXPECT_EQ(outcome.of("bytes"), "3000000");
  }
}

TEST_F(FileLoad, PutsRangesOverSeveralConnections) {
  const Outcome outcome =
      run_load({.connections = 3, .messages = 2}, {{"op", "put"}, {"bytes", "100003"}, {"segments", "8"}},
               {{"overwrite", "yes"}});
  expect_clean(outcome, 16);
  EXPECT_EQ(outcome.of("transfers"), "2");
  EXPECT_EQ(fs::file_size(path("upload")), 100'003U);
  EXPECT_EQ(entries(), 3U);
}

TEST_F(FileLoad, WarmsUpWithoutAnythingToShowForIt) {
  const LoadPlan plan{.connections = 2,
                      .messages = 1,
                      .warmup = std::chrono::milliseconds(20),
                      .interval = std::chrono::milliseconds(3)};
  const Outcome put = run_load(plan, {{"op", "put"}, {"bytes", "1000"}, {"segments", "2"}, {"name", "new"}});
  expect_clean(put, 2);
  EXPECT_EQ(put.of("transfers"), "1");
  EXPECT_GT(std::stoull(test::figure(put.server, "uploads")), 2U);
  EXPECT_EQ(entries(), 3U);
  const Outcome got = run_load(plan, {{"name", "new"}, {"sink", "memory"}});
  expect_clean(got, 2);
  EXPECT_EQ(got.of("bytes"), "2000");
}

TEST_F(FileLoad, GoesOnForATime) {
  const LoadPlan plan{.connections = 3,
                      .messages = {},
                      .duration = std::chrono::milliseconds(40),
                      .warmup = std::chrono::milliseconds(10),
                      .interval = std::chrono::milliseconds(5)};
  for (const char* op : {"get", "info"}) {
    const Outcome outcome = run_load(plan, {{"op", op}, {"name", "old"}});
    EXPECT_EQ(outcome.failed, 0U);
    EXPECT_GT(outcome.counts.verified, 3U);
    EXPECT_EQ(outcome.counts.sent, outcome.counts.verified + outcome.counts.in_flight);
  }
}

TEST_F(FileLoad, AsksAboutAFile) {
  const Outcome outcome = run_load({.connections = 2, .messages = 5}, {{"op", "info"}, {"name", "old"}});
  expect_clean(outcome, 10);
  EXPECT_EQ(outcome.of("name"), "old");
  EXPECT_EQ(outcome.of("bytes"), "3");
  EXPECT_TRUE(outcome.of("modified").starts_with("20")) << outcome.of("modified");
  EXPECT_EQ(test::figure(outcome.server, "queries"), "11") << "one before the start";
}

TEST_F(FileLoad, CarriesTheSameHoweverTheStreamIsCut) {
  std::ofstream(path("text")) << content(700);
  for (std::size_t cut = 1; cut < 30; ++cut) {
    const auto size = [cut](std::size_t available) { return std::min(cut, available); };
    expect_clean(run_load({.connections = 2, .messages = 1}, {{"name", "text"}, {"segments", "3"}}, {}, size),
                 3);
    expect_clean(run_load({.messages = 1}, {{"op", "put"}, {"bytes", "700"}}, {{"overwrite", "yes"}}, size),
                 1);
  }
}

TEST_F(FileLoad, UsesAConnectionForOneRequestOnly) {
  std::ofstream(path("text")) << content(1000);
  const test::Options once{{"name", "text"}, {"segments", "4"}, {"requests-per-connection", "1"}};
  expect_clean(run_load({.connections = 4, .messages = 1}, once, {{"requests-per-connection", "1"}}), 4);
}

TEST_F(FileLoad, CanHaveARangeForEachConnection) {
  std::ofstream(path("text")) << content(1000);
  const test::Options each{{"name", "text"}, {"segments", "0"}, {"output", folder_.file("got")}};
  for (const std::uint64_t connections : {1, 3, 20})
    expect_clean(run_load({.connections = connections, .messages = 1}, each), connections);
}

TEST_F(FileLoad, AnInterruptedUploadIsBrokenOff) {
  LoadRun run(LoadPlan{.messages = 1});
  const auto server = make_server(test::with(Role::serve, {{"root", folder_.file("root")}}));
  const auto client = make_client(test::with(Role::dial, {{"op", "put"}, {"bytes", "9MiB"}}), run);
  std::optional<Pair> pair;
  std::size_t sent = 0;
  pair.emplace(client->open({}), server->open({}), [&](std::size_t available) {
    const std::size_t part = std::min<std::size_t>(available, 100'000);
    sent += part;
    if (sent > 5'000'000) pair->hold(true);
    return part;
  });
  pair->settle();
  pair->left().on_drain(pair->now());
  EXPECT_TRUE(pair->left().finished());
  pair->hold(false);
  sent = 0;
  pair->pass(std::chrono::seconds(1));
  EXPECT_TRUE(pair->over());
  pair.reset();
  EXPECT_EQ(entries(), 2U);
  EXPECT_EQ(test::figure(client->results(), "transfers"), "0");
}

TEST_F(FileLoad, SaysThatConnectionsEndedByTheServersLimit) {
  std::ofstream(path("text")) << content(1000);
  const Outcome outcome = run_load({.messages = 3}, {{"name", "text"}}, {{"requests-per-connection", "2"}});
  ASSERT_EQ(outcome.complaints.size(), 1U);
  EXPECT_NE(outcome.complaints[0].find("--requests-per-connection"), std::string::npos)
      << outcome.complaints[0];
}

TEST_F(FileLoad, FailsWithTheServersWords) {
  const Outcome missing = run_load({.messages = 1}, {{"name", "nothing"}});
  EXPECT_EQ(missing.failed, 1U);
  ASSERT_EQ(missing.complaints.size(), 1U);
  EXPECT_NE(missing.complaints[0].find("'nothing': not found"), std::string::npos);
  const Outcome exists =
      run_load({.connections = 2, .messages = 1}, {{"op", "put"}, {"bytes", "10"}, {"name", "old"}});
  EXPECT_EQ(exists.failed, 2U);
  EXPECT_EQ(exists.counts.failed, 2U);
  EXPECT_NE(exists.complaints.at(0).find("exists; 'serve --overwrite' would"), std::string::npos);
  const Outcome nowhere = run_load({.messages = 1}, {{"op", "put"}, {"bytes", "10"}, {"name", "no/where"}});
  EXPECT_NE(nowhere.complaints.at(0).find("no such directory"), std::string::npos);
  EXPECT_EQ(text_of(path("old")), "old");
}

TEST_F(FileLoad, RefusesWordsThatDoNotGoTogether) {
  LoadRun run(LoadPlan{.connections = 2, .messages = 1});
  const auto refused = [&](const test::Options& options) {
    EXPECT_THROW(make_client(test::with(Role::dial, options), run), std::invalid_argument);
  };
  refused({{"op", "put"}});
  refused({{"op", "put"}, {"bytes", "10"}, {"file", path("old")}});
  refused({{"op", "put"}, {"file", "/nonexistent"}});
  refused({{"bytes", "10"}});
  refused({{"name", "../old"}});
  refused({{"sink", "file"}});
  refused({{"output", folder_.file("got")}});  // of two connections: whose?
  refused({{"segments", "2M"}});
  refused({{"segments", "many"}});
  LoadRun four(LoadPlan{.connections = 4, .messages = 1});
  EXPECT_THROW(make_client(test::with(Role::dial, {{"segments", "3"}}), four), std::invalid_argument)
      << "one connection would be left over";
  refused({{"segments", "4"}, {"requests-per-connection", "1"}});
  refused({{"op", "put"}, {"bytes", "10"}, {"sink", "null"}});
  refused({{"op", "put"}, {"bytes", "60PiB"}});
  refused({{"op", "put"}, {"file", folder_.file("root")}});
  refused({{"op", "put"}, {"file", "/dev/zero"}});
  refused({{"op", "put"}, {"file", "/proc/self/status"}});  // its size is said to be 0
  ASSERT_EQ(::mkfifo(folder_.file("fifo").c_str(), 0600), 0);
  refused({{"op", "put"}, {"file", folder_.file("fifo")}});
  refused({{"output", folder_.file("root")}, {"segments", "2"}});
  refused({{"output", "/nonexistent/got"}, {"segments", "2"}});
  LoadRun timed(LoadPlan{.duration = std::chrono::seconds(1)});
  EXPECT_THROW(make_client(test::with(Role::dial, {{"requests-per-connection", "1"}}), timed),
               std::invalid_argument);
  EXPECT_THROW(make_server(test::with(Role::serve, {{"root", "/nonexistent"}})), std::invalid_argument);
  EXPECT_THROW(make_server(test::with(Role::serve, {{"sample", "name"}})), std::invalid_argument);
  EXPECT_THROW(make_server(test::with(Role::serve, {{"sample", "../x=1k"}})), std::invalid_argument);
  EXPECT_THROW(make_server(test::with(Role::serve, {{"sample", "x=60PiB"}})), std::invalid_argument);
  EXPECT_THROW(make_server(test::with(Role::serve, {{"max-file-bytes", "much"}})), std::invalid_argument);
}

TEST_F(FileLoad, SaysWhatBecameOfAWish) {
  std::ofstream(path("text")) << content(1000);
  const Outcome plain =
      run_load({.messages = 1}, {{"name", "text"}, {"sink", "memory"}, {"file-write", "splice"}},
               {{"file-read", "sendfile"}});
  EXPECT_EQ(plain.of("way"), "write (splice was not possible)");
  EXPECT_EQ(test::figure(plain.server, "file_read"), "read (sendfile was not possible)");
  const Outcome mapped =
      run_load({.messages = 1}, {{"name", "text"}, {"sink", "memory"}, {"file-write", "mmap"}},
               {{"file-read", "mmap"}});
  expect_clean(mapped, 1);
  EXPECT_EQ(mapped.of("way"), "mmap");
  EXPECT_EQ(test::figure(mapped.server, "file_read"), "mmap");
}

}  // namespace
}  // namespace joust::file
