// SPDX-License-Identifier: MIT
//
// A load in a room whose server sends one member other bytes than the others, in memory.
#include <array>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "protocols/broadcast/protocol.hpp"
#include "protocols/load_fixture.hpp"

namespace joust::broadcast::test {
namespace {

using Messages = std::vector<std::string>;  // with their lengths

std::string join(const Messages& messages) {
  std::string stream;
  for (const std::string& message : messages) stream += message;
  return stream;
}

// Takes all that the session shows.
std::string take_output(Session& session) {
  std::string all;
  for (std::array<Segment, 4> segments; const std::size_t count = session.output(segments);) {
    const std::size_t before = all.size();
    for (std::size_t i = 0; i < count; ++i) all += as_text(segments[i].bytes);
    session.consumed(all.size() - before);
    session.released(all.size() - before);
  }
  return all;
}

Messages split(const std::string& stream) {
  Messages messages;
  for (std::size_t at = 0; at < stream.size(); at += messages.back().size())
    messages.push_back(stream.substr(at, framed_size(StreamFraming::length, as_bytes(stream).subspan(at))));
  return messages;
}

// Three members that have joined, and have each sent all of their messages.
class Members {
 public:
  Members() {
    for (std::size_t i = 0; i < kMembers; ++i) {
      sessions_.push_back(client_->open({}));
      sessions_.back()->on_open(now_);
    }
    for (const auto& session : sessions_) {
      std::string welcome = take_output(*session);
      welcome[kLengthBytes] = static_cast<char>(Kind::welcome);
      receive(*session, welcome);
    }
    std::vector<Messages> said;
    for (const auto& session : sessions_) said.push_back(split(take_output(*session)));
    for (std::size_t number = 0; number < kMessages; ++number)
      for (const Messages& messages : said) room_.push_back(messages.at(number));
  }

  const Messages& room() const { return room_; }
  void receive(std::size_t member, const std::string& bytes) { receive(*sessions_[member], bytes); }
  // Returns what the load reports when nothing more comes, with the deliveries that it has counted.
  std::string report() {
    now_ += std::chrono::seconds(60);
    sessions_[kOdd]->on_deadline(now_);
    sessions_.clear();
    std::string all;
    for (const std::string& complaint : run_.complaints()) all += complaint + "\n";
    all += "deliveries";
    for (const auto& group : client_->results())
      for (const auto& [name, value] : group.figures)
        all += " " + name + " " + std::to_string(std::get<std::uint64_t>(value));
    return all + " verified " + std::to_string(run_.recorder().counts().verified);
  }

  static constexpr std::size_t kMembers = 3, kMessages = 2, kOdd = 1;

 private:
  void receive(Session& session, const std::string& bytes) {
    if (bytes.empty()) return;
    EXPECT_EQ(session.on_bytes(as_bytes(bytes), now_), bytes.size());
  }

  Parameters parameters() const {
    Parameters all = joust::test::parameters_of(protocol_, Role::dial, {});
    all.payload = 3;
    return all;
  }

  const Protocol protocol_ = joust::test::protocol_called("broadcast");
  LoadRun run_{{.connections = kMembers, .messages = kMessages, .warmup = {}, .depth = kMessages}};
  const std::unique_ptr<Service> client_ = protocol_.make_client(parameters(), run_);
  std::vector<std::unique_ptr<Session>> sessions_;
  Messages room_;  // in the order of the server
  Time now_{std::chrono::seconds(1)};
};

// Returns what is reported if one member receives these bytes, in two chunks, and another one all messages,
// before it or after it.
std::string report_of(const std::string& stream, std::size_t cut, bool odd_is_first) {
  Members members;
  if (!odd_is_first) members.receive(0, join(members.room()));
  members.receive(Members::kOdd, stream.substr(0, cut));
  members.receive(Members::kOdd, stream.substr(cut));
  if (odd_is_first) members.receive(0, join(members.room()));
  return members.report();
}

// A member that is first has each of its messages checked alone. Returns what is reported.
std::string same_report(const std::string& stream, std::size_t cut) {
  const std::string alone = report_of(stream, cut, true);
  EXPECT_EQ(report_of(stream, cut, false), alone) << "cut at " << cut;
  return alone;
}

class BroadcastLoad : public testing::Test {
 protected:
  // For each message of the room: changes what one member receives by change(messages, place), and cuts it
  // everywhere. `says`: part of each report.
  template <typename Change>
  void change_each(const std::string& says, Change&& change) {
    for (std::size_t place = 0; place < room_.size(); ++place) {
      Messages messages = room_;
      change(messages, place);
      const std::string stream = join(messages);
      for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        const std::string report = same_report(stream, cut);
        ASSERT_TRUE(report.contains(says)) << "message " << place << ", cut at " << cut << ":\n" << report;
      }
    }
  }

  const Messages room_ = Members().room();
};

TEST_F(BroadcastLoad, ARightStreamIsCountedHoweverItIsCut) {
  const std::string stream = join(room_);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut)
    EXPECT_EQ(same_report(stream, cut),
              "deliveries expected 18 received 12 lost 6 duplicated 0 out_of_order 0 verified 4");
}

TEST_F(BroadcastLoad, AChangedMessageIsReported) {
  change_each("a message does not have the bytes its sender gave it",
              [](Messages& messages, std::size_t place) { messages[place].back() ^= 1; });
}

TEST_F(BroadcastLoad, AnyChangedByteIsReported) {
  const std::string stream = join(room_);
  for (std::size_t place = 0; place < stream.size(); ++place) {
    std::string changed = stream;
    changed[place] ^= 1;
    for (const std::size_t cut : {std::size_t{0}, place, place + 1}) {
      const std::string report = same_report(changed, cut);
      EXPECT_FALSE(report.starts_with("deliveries")) << "byte " << place << ":\n" << report;
    }
  }
}

// The last message of a sender is missed at the end, and an earlier one when the next comes.
TEST_F(BroadcastLoad, ALostMessageIsReported) {
  change_each(": ", [](Messages& messages, std::size_t place) {
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(place));
  });
}

TEST_F(BroadcastLoad, ADoubledMessageIsReported) {
  change_each("duplicated 1", [](Messages& messages, std::size_t place) {
    messages.insert(messages.begin() + static_cast<std::ptrdiff_t>(place), messages[place]);
  });
}

TEST_F(BroadcastLoad, TwoMessagesOfASenderInTheWrongOrderAreReported) {
  change_each("out_of_order 1", [](Messages& messages, std::size_t place) {
    std::swap(messages[place], messages[(place + Members::kMembers) % messages.size()]);
  });
}

// Each member may have an order of its own, as long as that of each sender is kept.
TEST_F(BroadcastLoad, MessagesOfTwoSendersMayChangePlaces) {
  for (std::size_t place = 0; place + 1 < room_.size(); ++place) {
    Messages messages = room_;
    std::swap(messages[place], messages[place + 1]);
    const std::string stream = join(messages);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut)
      EXPECT_TRUE(same_report(stream, cut).starts_with("deliveries expected 18 received 12"));
  }
}

}  // namespace
}  // namespace joust::broadcast::test
