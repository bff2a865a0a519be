// SPDX-License-Identifier: MIT
//
// What a server does with datagrams of nobody it knows, and with forged ones.
#include "message/one_server.hpp"

namespace joust {
namespace {

using std::chrono::seconds;

class StrangersTest : public OneServerTest {};

TEST_F(StrangersTest, AStrangerCostsNothingAndGetsNoMoreThanItSends) {
  net();
  const std::vector<DatagramHead> heads{{.kind = DatagramKind::join, .token = 1},
                                        {.kind = DatagramKind::join, .token = 1, .number = 77},
                                        {.kind = DatagramKind::join, .keep_alive = true, .token = 1},
                                        {.kind = DatagramKind::leave, .token = 1, .number = 5}};
  for (const DatagramHead& head : heads) {
    const Bytes sent = bare(head);
    net().inject("stranger", sent);
    std::size_t replied = 0;
    for (const auto& reply : net().replies_to("stranger")) replied += reply.size();
    EXPECT_GT(replied, 0U);
    EXPECT_LE(replied, sent.size());
  }
  write_datagram({.kind = DatagramKind::data, .token = 1}, as_bytes("x"), out_);
  std::vector<std::byte> data(out_.head.begin(), out_.head.begin() + DatagramHead::kBytes);
  data.push_back(std::byte{'x'});
  net().inject("stranger", data);
  EXPECT_EQ(net().replies_to("stranger").at(0).size(), DatagramHead::kBytes);
  EXPECT_EQ(net().peers(), 0U);
  EXPECT_TRUE(server_.scripts.empty());
}

// So a server that is sent its own datagrams, or those of another server, falls silent at once.
TEST_F(StrangersTest, NoAnswerOfAServerIsAnswered) {
  net();
  for (const DatagramKind kind : {DatagramKind::challenge, DatagramKind::joined, DatagramKind::left}) {
    net().inject("itself", bare({.kind = kind, .token = 1, .number = 2}));
    net().inject("itself", bare({.kind = kind, .unknown = true, .token = 1}));
    EXPECT_TRUE(net().replies_to("itself").empty());
  }
  EXPECT_EQ(net().server_tally().datagrams().foreign, 6U);
}

TEST_F(StrangersTest, RepeatedJoinsMakeNoOtherSession) {
  join();
  const std::uint64_t token = net().client(0)->token();
  const DatagramHead first{.kind = DatagramKind::join, .token = token};
  const std::string address = MessageNet::address_of(0);
  const auto cookie = net().admission().answer(first, as_bytes(address), net().now()).reply->number;
  for (int i = 0; i < 10; ++i)
    net().inject(address, bare({.kind = DatagramKind::join, .token = token, .number = cookie}));
  EXPECT_EQ(server_.scripts.size(), 1U);
  EXPECT_EQ(net().peers(), 1U);
}

TEST_F(StrangersTest, AWrongTokenReachesNoSession) {
  join();
  write_datagram({.kind = DatagramKind::data, .token = net().client(0)->token() + 1}, as_bytes("forged"),
                 out_);
  std::vector<std::byte> forged(out_.front().begin(), out_.front().end());
  forged.insert(forged.end(), out_.tail.begin(), out_.tail.end());
  net().inject(MessageNet::address_of(0), forged);
  net().inject("elsewhere", forged);
  EXPECT_TRUE(server().received.empty());
  EXPECT_NE(net().server_of(0), nullptr);
  EXPECT_NE(net().client(0), nullptr) << "an answer with another token is not for it";
}

TEST_F(StrangersTest, NothingAndRubbishAreCountedAndDropped) {
  join();
  net().inject(MessageNet::address_of(0), {});
  net().inject("elsewhere", as_bytes("x"));
  net().inject(MessageNet::address_of(0), as_bytes(std::string(2'000, '?')));
  EXPECT_EQ(net().server_tally().datagrams().truncated, 2U);
  EXPECT_EQ(net().server_tally().datagrams().foreign, 1U);
  client().to_send = numbered(1);
  net().pass({});
  EXPECT_EQ(server().received.size(), 1U);
}

TEST_F(StrangersTest, PeersBeyondTheLimitWaitUntilThereIsRoom) {
  net({.most_peers = 2});
  for (int i = 0; i < 3; ++i) net().dial();
  net().pass(seconds(2));
  EXPECT_EQ(net().peers(), 2U);
  ASSERT_EQ(net().client(2), nullptr);
  client().finished = true;
  net().publish();
  net().pass(seconds(3));
  EXPECT_NE(net().client(2), nullptr);
}

}  // namespace
}  // namespace joust
