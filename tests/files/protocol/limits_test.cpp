// SPDX-License-Identifier: MIT
//
// What peers of the file server may take, alone and all together.
#include "files/protocol/load_fixture.hpp"
#include "files/protocol/messages.hpp"
#include "files/protocol/server_fixture.hpp"

namespace joust::file {
namespace {

using test::describe;
using test::wire;

class FileLimits : public test::FileServerTest {
 protected:
  // What a session answers to these bytes; it stays open.
  static test::Decoded say(Session& session, const std::string& bytes) {
    deliver(as_bytes(bytes), session, Time{});
    std::string answer;
    Segment next;
    while (session.output({&next, 1}) > 0) {
      answer += as_text(next.bytes);
      const std::size_t size = next.bytes.size();
      session.consumed(size);
      session.released(size);
    }
    return test::decode_all(answer);
  }
};

class Connection : public Breakable {
 public:
  void break_off() noexcept override { broken_off = true; }
  bool broken_off = false;
};

TEST_F(FileLimits, TheAddressThatHasMostUploadsGivesWayToOthers) {
  const auto service =
      make_server(test::with(Role::serve, {{"root", folder_.file("root")}, {"max-uploads", "4"}}));
  std::vector<std::shared_ptr<Connection>> connections;
  std::vector<std::unique_ptr<Session>> sessions;
  const auto send_half = [&](const std::string& name, PeerAddress peer) {
    connections.push_back(std::make_shared<Connection>());
    sessions.push_back(service->open({.peer = peer, .connection = connections.back()}));
    const auto heard = say(*sessions.back(), upload_head(name, 6, {0, 3}) + data("abc") + end(3));
    return describe(heard.messages.at(0));
  };
  for (const char* name : {"a", "b", "c"})
    EXPECT_EQ(send_half(name, PeerAddress{1}), "1: stored 0+3 false -");
  EXPECT_EQ(send_half("d", PeerAddress{2}), "1: stored 0+3 false -");
  EXPECT_EQ(send_half("e", PeerAddress{1}), "1: error busy 'open uploads: 4 of at most 4'")
      << "all of its own have grown a moment ago";
  EXPECT_EQ(send_half("f", PeerAddress{2}), "1: stored 0+3 false -");
  EXPECT_TRUE(connections[0]->broken_off) << "the one that has not grown for longest";
  EXPECT_FALSE(connections[1]->broken_off);
  EXPECT_FALSE(connections[3]->broken_off);
}

TEST_F(FileLimits, AnUploadOfSeveralConnectionsGivesWayWithAllOfThem) {
  const auto service =
      make_server(test::with(Role::serve, {{"root", folder_.file("root")}, {"max-uploads", "2"}}));
  auto begun = std::make_shared<Connection>();
  const auto joined = std::make_shared<Connection>(), other = std::make_shared<Connection>();
  auto first = service->open({.peer = PeerAddress{1}, .connection = begun});
  const auto second = service->open({.peer = PeerAddress{1}, .connection = joined});
  say(*first, upload_head("a", 6, {0, 3}) + data("abc") + end(3));
  say(*second, upload_head("a", 6, {3, 2}) + data("de") + end(2));
  first.reset();
  begun.reset();  // whoever has begun it is gone
  say(*second, upload_head("other", 6, {0, 3}) + data("abc") + end(3));
  const auto third = service->open({.peer = PeerAddress{2}, .connection = other});
  const auto heard = say(*third, upload_head("b", 6, {0, 3}) + data("abc") + end(3));
  EXPECT_EQ(describe(heard.messages.at(0)), "1: stored 0+3 false -");
  EXPECT_TRUE(joined->broken_off);
}

TEST_F(FileLimits, AnUploadWhoseConnectionCannotBeEndedGivesNoWay) {
  const auto service =
      make_server(test::with(Role::serve, {{"root", folder_.file("root")}, {"max-uploads", "1"}}));
  const auto first = service->open({.peer = PeerAddress{1}});
  say(*first, upload_head("a", 6, {0, 3}) + data("abc") + end(3));
  const auto other = service->open({.peer = PeerAddress{2}});
  const auto heard = say(*other, upload_head("b", 6, {0, 3}) + data("abc") + end(3));
  EXPECT_EQ(describe(heard.messages.at(0)), "1: error busy 'open uploads: 1 of at most 1'");
}

TEST_F(FileLimits, LeaveRoomForOneUpload) {
  const auto service =
      make_server(test::with(Role::serve, {{"root", folder_.file("root")}, {"max-uploads", "1"}}));
  const auto session = service->open({.peer = PeerAddress{1}});
  EXPECT_TRUE(std::get<Stored>(say(*session, upload("new", "text")).messages.at(0).body).complete);
}

TEST_F(FileLimits, EndAnUploadWhenNoRoomIsLeftAndTheConnectionGoesOn) {
  storage({.most_stored = 5 * 4096});
  ServerSession first(server()), other(server());
  const std::string half(3'500, 'x');
  EXPECT_TRUE(say(first, upload_head("new", 7'000, {0, 7'000})).messages.empty());
  EXPECT_TRUE(say(other, upload_head("two", 7'000, {0, 7'000})).messages.empty());
  EXPECT_TRUE(say(first, data(half) + data(half)).messages.empty());
  const auto heard = say(other, data(half) + data(half) + end(7'000) + wire({2, Query{"old", false}}));
  ASSERT_EQ(heard.messages.size(), 2U);
  EXPECT_EQ(describe(heard.messages[0]),
            "1: error no space '3500 bytes are wanted, and 1788 of the server's 20480 are left'");
  EXPECT_TRUE(std::holds_alternative<Facts>(heard.messages[1].body));
  EXPECT_TRUE(std::get<Stored>(say(first, end(7'000)).messages.at(0).body).complete);
}

TEST_F(FileLimits, RefuseAnUploadThatCannotFitBeforehand) {
  const auto service =
      make_server(test::with(Role::serve, {{"root", folder_.file("root")}, {"max-stored-bytes", "10000"}}));
  const auto session = service->open({});
  const auto heard = say(*session, upload("new", std::string(7'000, 'x')));
  ASSERT_EQ(heard.messages.size(), 1U);
  EXPECT_EQ(describe(heard.messages[0]),
            "1: error no space '11096 bytes are wanted, and 10000 of the server's 10000 are left'");
}

// The digest of an upload whose last bytes come first is made in the end.
TEST_F(FileLimits, MakeChecksWaitForATurnUnlessLittleIsLeftToDo) {
  constexpr std::uint64_t kMiB = 1 << 20;
  storage({.most_uploads = 10});
  std::vector<std::unique_ptr<ServerSession>> sessions;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    sessions.push_back(std::make_unique<ServerSession>(server()));
    for (const ByteRange range : {ByteRange{3 * kMiB, 2 * kMiB}, {1, 3 * kMiB - 1}, {0, 1}})
      deliver(
          as_bytes(upload_head(name, 5 * kMiB, range) + data(std::string(range.size, 'x')) + end(range.size)),
          *sessions.back(), Time{});
  }
  const auto due_now = [&] {
    return std::ranges::count_if(sessions, [](const auto& each) { return each->deadline() == Time{}; });
  };
  EXPECT_EQ(due_now(), 4);
  ServerSession in_order(server());
  EXPECT_TRUE(std::get<Stored>(say(in_order, upload("new", "text")).messages.at(0).body).complete);
  for (int slice = 0; slice < 100; ++slice)  // on a slow machine each is short
    for (const auto& session : sessions) session->on_deadline({});
  for (const auto& session : sessions)
    EXPECT_TRUE(std::get<Stored>(say(*session, "").messages.at(2).body).complete);
}

}  // namespace
}  // namespace joust::file
