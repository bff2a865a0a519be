// SPDX-License-Identifier: MIT
//
// A client whose server does not do what it should.
#include "files/protocol/load_fixture.hpp"
#include "files/protocol/messages.hpp"
#include "joust/outbox.hpp"

namespace joust::file {
namespace {

using joust::test::digest_of;
using test::wire;

// Says something at each request, whatever it is.
class ScriptedServer : public Session {
 public:
  explicit ScriptedServer(std::vector<std::string> says) : says_(std::move(says)) {}
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    if (asked_ < says_.size()) outbox_.append(says_[asked_++]);
    return chunk.size();
  }
  void on_drain(Time /*now*/) override {}
  std::size_t output(std::span<Segment> into) const override { return outbox_.segments(into); }
  bool finished() const override { return asked_ == says_.size(); }
  void consumed(std::size_t n) override { outbox_.consumed(n); }
  void released(std::size_t n) override { outbox_.released(n); }

 private:
  const std::vector<std::string> says_;
  std::size_t asked_ = 0;
  Outbox outbox_;
};

class FileClientErrors : public joust::test::StorageTest {
 protected:
  // What the client of a get says when the server says this.
  std::string complaint(const std::vector<std::string>& says) {
    const test::Options options{{"output", folder_.file("got")}};
    LoadRun run(LoadPlan{.messages = 1, .request_timeout = std::chrono::milliseconds(100)});
    {
      const auto asking = make_client(test::with(Role::dial, options), run);
      Pair pair(asking->open({}), std::make_unique<ScriptedServer>(says));
      pair.pass(std::chrono::milliseconds(500));
    }
    EXPECT_FALSE(std::filesystem::exists(folder_.file("got")));
    return run.complaints().empty() ? "" : run.complaints().front();
  }
  void expect(const std::string& to_the_query, const std::optional<std::string>& to_the_fragment,
              const std::string& words) {
    std::vector<std::string> says{to_the_query};
    if (to_the_fragment) says.push_back(*to_the_fragment);
    const std::string said = complaint(says);
    EXPECT_FALSE(said.empty());
    EXPECT_NE(said.find(words), std::string::npos) << "said: " << said << "\nexpected: " << words;
  }
  static std::string data(const std::string& text) {
    return wire({2, Data{static_cast<std::uint32_t>(text.size())}}) + text;
  }

  const std::string facts_ = wire({1, Facts{3, 5, digest_of("abc")}});
  const std::string found_ = wire({2, Facts{3, 5, std::nullopt}});
  const std::string end_ = wire({2, End{3, std::nullopt}});
};

TEST_F(FileClientErrors, IsFoundOut) {
  expect(facts_, found_ + data("abd") + end_, "the digest is");
  expect(facts_, wire({2, Facts{4, 5, std::nullopt}}), "has changed");
  expect(facts_, wire({2, Facts{3, 6, std::nullopt}}), "has changed");
  expect(facts_, found_ + data("ab") + end_, "too early");
  expect(facts_, found_ + data("abcd") + end_, "without a request");
  expect(facts_, data("abc") + end_, "without a request");
  expect(facts_, found_ + found_, "no answer");
  expect(facts_, found_ + data("abc") + wire({2, End{4, std::nullopt}}), "too early");
  expect(facts_, wire({3, Facts{3, 5, std::nullopt}}), "without a request");
  expect(facts_, wire({2, Stored{{0, 3}, true, digest_of("abc")}}), "no answer");
  expect(facts_, wire({2, Query{"x", false}}), "no answer");
  expect(wire({1, Error{{FileError::busy, "\x1b[31mred"}}}), std::nullopt, "busy (\\x1b[31mred)");
  expect(facts_, found_ + data("ab"), "closed the connection early");
  expect(wire({1, Facts{3, 5, std::nullopt}}), std::nullopt, "no digest");
  expect("HTTP/1.1 400 Bad Request\r\n\r\n", std::nullopt, "not the protocol");
}

TEST_F(FileClientErrors, IsGivenUpWhenNothingMoves) {
  LoadRun run(LoadPlan{.messages = 1, .request_timeout = std::chrono::milliseconds(100)});
  const auto asking = make_client(test::with(Role::dial, {}), run);
  const auto session = asking->open({});
  session->on_open(Time{});
  ASSERT_TRUE(session->deadline());
  session->on_deadline(*session->deadline());
  EXPECT_TRUE(session->finished());
  EXPECT_EQ(run.failures(Stage::timeout), 1U);
}

}  // namespace
}  // namespace joust::file
