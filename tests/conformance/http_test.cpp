// SPDX-License-Identifier: MIT
//
// The protocol http on every engine: files that leave in ranges beside heads that leave from memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "conformance/running.hpp"
#include "protocols/table.hpp"
#include "temporary_folder.hpp"

namespace joust::conformance {
namespace {

class HttpOn : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    std::ofstream(folder_.file("large"), std::ios::binary) << large_;
    std::ofstream(folder_.file("small"), std::ios::binary) << "small";
  }

  std::unique_ptr<Service> service() {
    Parameters parameters = standard_parameters(http_, Role::serve);
    parameters.options["root"] = folder_.path();
    return http_.make_server(parameters);
  }
  static std::string get(const std::string& name, const std::string& fields = {}) {
    return "GET /" + name + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
  }
  // The body of the next reply.
  static std::string body(Peer& peer) {
    constexpr std::string_view kLength = "Content-Length: ";
    std::string head;
    while (!head.ends_with("\r\n\r\n")) head += peer.receive(1);
    const std::size_t length = head.find(kLength);
    return length == head.npos ? head : peer.receive(std::stoul(head.substr(length + kLength.size())));
  }

  const Protocol http_ = [] {
    const auto all = builtin_protocols();
    return *std::ranges::find(all, "http", &Protocol::name);
  }();
  const joust::test::TemporaryFolder folder_;
  const std::string large_ = pattern(3'000'000);
};
JOUST_EVERY_ENGINE_AS_IT_COMES(HttpOn, Role::serve);

TEST_P(HttpOn, SendsFilesAndPartsOfThemInOrder) {
  const auto files = service();
  Server server(GetParam(), *files);
  Peer peer(server.endpoint());
  peer.send(get("large") + get("small") + get("large", "Range: bytes=1000000-2999998\r\n") +
            get("small", "Connection: close\r\n") + get("small"));
  EXPECT_TRUE(body(peer) == large_);
  EXPECT_EQ(body(peer), "small");
  EXPECT_TRUE(body(peer) == large_.substr(1'000'000, 1'999'999));
  EXPECT_EQ(body(peer), "small");
  EXPECT_EQ(peer.receive_to_end(), "") << "nothing behind the reply that closes";
  server.stop();
  EXPECT_EQ(server.tally().failures(), 0U);
}

// They come in few reads, and are answered in many turns.
TEST_P(HttpOn, AnswersAllRequestsOfAPipeline) {
  const auto files = service();
  Server server(GetParam(), *files);
  Peer peer(server.endpoint());
  std::string requests;
  for (int i = 0; i < 1'000; ++i) requests += get("small");
  peer.send(requests + get("large"));
  const bool outlives_its_end = GetParam().engine->ends_with_peer.empty();
  if (outlives_its_end) peer.finish();
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(body(peer), "small") << i;
  EXPECT_TRUE(body(peer) == large_);
  if (!outlives_its_end) peer.finish();
  EXPECT_EQ(peer.receive_to_end(), "");
  server.stop();
  EXPECT_EQ(server.tally().failures(), 0U);
}

TEST_P(HttpOn, FinishesAFileAfterTheClientHasEndedItsSide) {
  if (const auto reason = GetParam().engine->ends_with_peer; !reason.empty()) GTEST_SKIP() << reason;
  const auto files = service();
  Server server(GetParam(), *files);
  Peer peer(server.endpoint());
  peer.send(get("large"));
  peer.finish();
  const std::string all = peer.receive_to_end();
  EXPECT_TRUE(all.ends_with(large_));
  server.stop();
}

// Far more than a socket takes, so that the end of the file is not on its way yet; and whole pages, because
// the kernel sends the rest of a page as zeros that is no longer of the file.
TEST_P(HttpOn, EndsTheConnectionWhereAFileHasShrunk) {
  constexpr std::size_t kBefore = 16 << 20, kAfter = 8 << 20;
  std::ofstream(folder_.file("shrinking"), std::ios::binary) << std::string(kBefore, 'x');
  const auto files = service();
  Server server(GetParam(), *files);
  Peer peer(server.endpoint(), 65'536);
  peer.send(get("shrinking") + get("small"));
  EXPECT_EQ(peer.receive(15), "HTTP/1.1 200 OK");
  std::filesystem::resize_file(folder_.file("shrinking"), kAfter);
  const std::string left = peer.receive_to_end();
  const std::string sent = left.substr(left.find("\r\n\r\n") + 4);
  EXPECT_GE(sent.size(), kAfter);
  EXPECT_LT(sent.size(), kBefore);
  EXPECT_EQ(sent.find_first_not_of('x'), sent.npos) << "no byte in place of those that are missing";
  server.stop();
}

}  // namespace
}  // namespace joust::conformance
