// SPDX-License-Identifier: MIT
//
// Members of a room that send or read next to nothing, and members that send more than others can read.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/engine.hpp"
#include "figure.hpp"
#include "joust/outbox.hpp"
#include "protocols/broadcast/protocol.hpp"
#include "protocols/table.hpp"

namespace joust::broadcast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string frame(Kind kind, std::uint32_t member, std::string_view payload = {}, std::uint64_t number = 0) {
  Outbox outbox;
  Writer writer(kFraming, outbox);
  write({kind, member, number, as_bytes(payload)}, writer);
  Segment all;
  outbox.segments({&all, 1});
  return std::string(as_text(all.bytes));
}

std::unique_ptr<Service> room(const std::map<std::string, std::string>& options) {
  const auto all = builtin_protocols();
  Parameters parameters =
      standard_parameters(*std::ranges::find(all, "broadcast", &Protocol::name), Role::serve);
  for (const auto& [name, value] : options) parameters.options[name] = value;
  return make_server(parameters);
}

// A connection under virtual time. Who joined reads nothing unless told to.
class Connection {
 public:
  Connection(Service& room, Time now) : session_(room.open({})) { session_->on_open(now); }

  Session& session() { return *session_; }
  bool ended() const { return session_->finished() || session_->gives_up(); }
  void join(std::uint32_t member, Time now) {
    say(frame(Kind::join, member), now);
    read(1000);
  }
  std::size_t say(std::string_view bytes, Time now) { return session_->on_bytes(as_bytes(bytes), now); }
  void on_time(Time now) {
    if (const auto due = session_->deadline(); due && *due <= now) session_->on_deadline(now);
  }
  std::size_t read(std::size_t most) {
    std::size_t read = 0;
    Segment next;
    while (read < most && session_->output({&next, 1}) > 0) {
      const std::size_t part = std::min(next.bytes.size(), most - read);
      session_->consumed(part);
      session_->released(part);
      read += part;
    }
    return read;
  }

 private:
  std::unique_ptr<Session> session_;
};

class BroadcastLimits : public testing::Test {
 protected:
  void pass(Connection& connection, Duration time) { connection.on_time(now_ += time); }

  Time now_{std::chrono::hours(1)};
};

TEST_F(BroadcastLimits, WhoDoesNotJoinIsEnded) {
  const auto service = room({});
  Connection silent(*service, now_), member(*service, now_);
  member.join(1, now_);
  pass(silent, seconds(29));
  EXPECT_FALSE(silent.ended());
  pass(silent, seconds(1));
  EXPECT_TRUE(silent.ended());
  EXPECT_EQ(silent.session().complaint(), "no join within 30.0 s");
  member.on_time(now_);
  EXPECT_FALSE(member.ended());
}

TEST_F(BroadcastLimits, ANumberIsFreeAgainWhenItsMemberIsSilent) {
  const auto service = room({});
  Connection stranger(*service, now_);
  stranger.join(0, now_);
  pass(stranger, seconds(29));
  {
    Connection refused(*service, now_);
    refused.join(0, now_);
    EXPECT_TRUE(refused.ended()) << "it may be slow between two messages";
  }
  pass(stranger, seconds(1));
  Connection member(*service, now_);
  member.join(0, now_);
  EXPECT_FALSE(member.ended());
  EXPECT_NE(stranger.say(frame(Kind::message, 0, "late"), now_), 0U);
  stranger.session().on_published(now_);
  EXPECT_TRUE(stranger.ended());
  member.session().on_published(now_);
  EXPECT_EQ(member.read(1000), 0U) << "nobody speaks in its name";
}

TEST_F(BroadcastLimits, AMemberThatLosesItsNumberIsTold) {
  const auto service = room({});
  Connection silent(*service, now_);
  silent.join(3, now_);
  pass(silent, seconds(20));
  silent.say(frame(Kind::message, 3, "a word"), now_);
  pass(silent, seconds(29));
  Connection early(*service, now_), next(*service, now_);
  early.join(3, now_);
  EXPECT_TRUE(early.ended()) << "a message keeps the number";
  pass(silent, seconds(1));
  next.join(3, now_);
  silent.session().on_published(now_);
  EXPECT_EQ(silent.session().complaint(),
            "another member has taken the number 3, because its own had sent nothing for 30.0 s");
  EXPECT_FALSE(next.ended());
}

TEST_F(BroadcastLimits, AStopLosesNoMessageBehindAWelcome) {
  const auto service = room({});
  Connection member(*service, now_);
  const std::string message = frame(Kind::message, 1, "hello");
  member.say(frame(Kind::join, 1) + message, now_);
  member.session().on_drain(now_);
  EXPECT_EQ(member.read(1000), frame(Kind::welcome, 1).size() + message.size());
}

TEST_F(BroadcastLimits, AFrameThatComesByteByByteIsEnded) {
  const auto service = room({});
  Connection slow(*service, now_);
  slow.join(1, now_);
  pass(slow, std::chrono::hours(1));
  ASSERT_FALSE(slow.ended()) << "a member may be silent between its messages";
  const std::string message = frame(Kind::message, 1, std::string(1000, 'm'));
  std::size_t said = 0;
  for (; said < 20 && !slow.ended(); ++said) {
    slow.say(message.substr(said, 1), now_);
    pass(slow, seconds(9));
  }
  EXPECT_LT(said, 5U);
  EXPECT_EQ(slow.session().complaint(), "a frame comes slower than 1.00 KiB/s for 10.0 s");
  EXPECT_EQ(test::figure(*service, "too_slow"), 1U);
}

TEST_F(BroadcastLimits, WhoReadsByteByByteIsGivenUp) {
  const auto service = room({});
  Connection slow(*service, now_), talker(*service, now_);
  slow.join(1, now_), talker.join(2, now_);
  talker.say(frame(Kind::message, 2, std::string(10'000, 'm')), now_);
  slow.session().on_published(now_);
  for (int i = 0; i < 20 && !slow.ended(); ++i) {
    slow.read(1);
    pass(slow, seconds(9));
  }
  EXPECT_TRUE(slow.session().gives_up());
  EXPECT_EQ(slow.session().complaint(), "the room is read slower than 1.00 KiB/s for 60.0 s");
}

TEST_F(BroadcastLimits, AQuietRoomIsNotSlowlyRead) {
  const auto service = room({});
  Connection reader(*service, now_), talker(*service, now_);
  reader.join(1, now_), talker.join(2, now_);
  for (int i = 0; i < 100; ++i) {
    talker.say(frame(Kind::message, 2, "a word"), now_);
    reader.session().on_published(now_);
    reader.read(1000);
    pass(reader, seconds(7));
    EXPECT_FALSE(reader.ended());
  }
}

// A room with one member that sends as fast as it may and reads it all, and ten that read at a modest rate.
class Flood : public BroadcastLimits {
 protected:
  void fill_room(const std::map<std::string, std::string>& options) {
    service_ = room(options);
    for (std::uint32_t i = 0; i <= 10; ++i) {
      members_.push_back(std::make_unique<Connection>(*service_, now_));
      members_.back()->join(i, now_);
    }
  }
  Connection& flooder() { return *members_[0]; }

  // Returns how many bytes the flooder could send.
  std::uint64_t flood(Duration time, std::size_t read_per_ms) {
    const std::string message = frame(Kind::message, 0, std::string(60'000, 'm'));
    std::uint64_t sent = 0;
    constexpr std::uint64_t kUnbounded = 256 << 20;
    for (const Time until = now_ + time; now_ < until && sent < kUnbounded; now_ += milliseconds(1)) {
      for (int i = 0; i < 20 && flooder().session().want() == Want::bytes; ++i)  // 1.2 GB/s
        sent += flooder().say(message, now_);
      for (const auto& member : members_) {
        member->read(member == members_[0] ? SIZE_MAX : read_per_ms);
        member->on_time(now_);
      }
    }
    return sent;
  }
  std::size_t evicted() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(members_, [](const auto& member) { return member->ended(); }));
  }

  std::unique_ptr<Service> service_;
  std::vector<std::unique_ptr<Connection>> members_;
};

TEST_F(Flood, EvictsNobodyWhoReadsAtAModestRate) {
  fill_room({{"room-bytes", "8MiB"}});
  const std::uint64_t sent = flood(seconds(30), 2'000);
  EXPECT_EQ(evicted(), 0U);
  EXPECT_GT(sent, 30U * 2'000'000 * 9 / 10) << "the room goes at the readers' pace, and does not stop";
  EXPECT_GT(test::figure(*service_, "times_crowded"), 1U);
}

TEST_F(Flood, WaitsForNobodyWhoDoesNotRead) {
  fill_room({{"room-bytes", "8MiB"}});
  const std::uint64_t before = flood(seconds(3), 0);
  EXPECT_EQ(evicted(), 10U) << "everybody but the flooder, after two seconds";
  EXPECT_GT(before, 100U << 20);
}

// Each of them is waited for two seconds, but all of them together no longer either.
TEST_F(Flood, IsNotHeldUpByMembersThatComeAgainAndNeverRead) {
  fill_room({{"room-bytes", "8MiB"}});
  members_.resize(1);
  std::uint64_t sent = 0;
  for (std::uint32_t round = 0; round < 4; ++round) {
    members_.push_back(std::make_unique<Connection>(*service_, now_));
    members_.back()->join(100 + round, now_);
    sent = flood(seconds(2), 0);
    members_.resize(1);
  }
  EXPECT_GT(sent, 100U << 20);
}

// The others are let in while the flooder is held back.
TEST_F(Flood, LeavesTheOthersTheirShare) {
  fill_room({{"room-bytes", "8MiB"}});
  flood(milliseconds(100), 2'000);
  ASSERT_EQ(flooder().session().want(), Want::nothing);
  const std::string message = frame(Kind::message, 1, "a word");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(members_[1]->say(message, now_), message.size());
  EXPECT_EQ(members_[1]->session().want(), Want::bytes);
}

TEST_F(Flood, IsHeldToTheRateOfAMember) {
  fill_room({{"room-bytes", "64MiB"}, {"member-rate", "1000000"}});
  const std::uint64_t sent = flood(seconds(10), 1'100);
  EXPECT_GE(sent, 10'000'000U);
  EXPECT_LE(sent, 11'200'000U) << "ten seconds and a burst of one";
  EXPECT_EQ(test::figure(*service_, "times_crowded"), 0U);
}

}  // namespace
}  // namespace joust::broadcast
