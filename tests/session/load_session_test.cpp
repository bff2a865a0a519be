// SPDX-License-Identifier: MIT
//
// The client side of a load against the server side of a protocol, joined in memory under virtual time.
#include <gtest/gtest.h>

#include "load/run.hpp"
#include "protocols/table.hpp"
#include "session/handler_session.hpp"
#include "session/pair.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Protocol protocol_named(std::string_view name) {
  for (Protocol& protocol : builtin_protocols())
    if (protocol.name == name) return protocol;
  throw std::invalid_argument("no such protocol");
}

// A load's only connection and the server it talks to.
class Loaded {
 public:
  explicit Loaded(const LoadPlan& plan, std::unique_ptr<Service> server = nullptr,
                  Pair::Cut cut = Pair::whole, std::string_view protocol = "echo")
      : run(plan),
        server_(server ? std::move(server) : protocol_named(protocol).make_server({})),
        client_(protocol_named(protocol).make_client({.payload = 32}, run)),
        pair(client_->open({}), server_->open({}), std::move(cut)) {}

  Recorder::Counts counts() const { return run.recorder().counts(); }
  bool done() { return pair.left().finished(); }

  LoadRun run;

 private:
  std::unique_ptr<Service> server_;
  std::unique_ptr<Service> client_;

 public:
  Pair pair;
};

std::unique_ptr<Service> handled_by(std::function<std::unique_ptr<Handler>()> make) {
  return std::make_unique<HandlerService>(Raw{}, std::move(make));
}

class SilentHandler : public Handler {
 public:
  bool on_message(Bytes /*message*/, Writer& /*replies*/) override { return true; }
};

// Echoes, but for one byte in the middle of the stream.
class FlippingHandler : public Handler {
 public:
  explicit FlippingHandler(std::size_t wrong_byte) : wrong_byte_(wrong_byte) {}
  bool on_message(Bytes message, Writer& replies) override {
    std::string reply(as_text(message));
    if (wrong_byte_ >= seen_ && wrong_byte_ < seen_ + reply.size()) reply[wrong_byte_ - seen_] ^= 1;
    seen_ += reply.size();
    replies.send(reply);
    return true;
  }

 private:
  std::size_t wrong_byte_;
  std::size_t seen_ = 0;
};

// Answers some messages and hangs up.
class LeavingHandler : public Handler {
 public:
  explicit LeavingHandler(int answers) : left_(answers) {}
  bool on_message(Bytes message, Writer& replies) override {
    if (left_-- == 0) return false;
    replies.send(message);
    return true;
  }

 private:
  int left_;
};

// Sends every reply twice.
class StutteringHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    replies.send(message);
    replies.send(message);
    return true;
  }
};

TEST(LoadSession, SendsAndVerifiesItsCountOfMessages) {
  for (const std::string_view protocol : {"echo", "uppercase"}) {
    for (const std::uint64_t depth : {1U, 4U, 1000U}) {
      for (const Pair::Cut& cut : {Pair::Cut(Pair::whole), Pair::Cut(Pair::single)}) {
        Loaded loaded({.messages = 100, .depth = depth}, nullptr, cut, protocol);
        loaded.pair.settle();
        EXPECT_TRUE(loaded.done());
        EXPECT_TRUE(loaded.pair.over());
        EXPECT_EQ(loaded.counts().sent, 100U);
        EXPECT_EQ(loaded.counts().verified, 100U);
        EXPECT_EQ(loaded.counts().failed, 0U);
        EXPECT_EQ(loaded.counts().in_flight, 0U);
        EXPECT_EQ(loaded.counts().bytes_sent, 3200U);
        EXPECT_EQ(loaded.counts().bytes_received, 3200U);
        EXPECT_TRUE(loaded.run.closes().has_value());
      }
    }
  }
}

TEST(LoadSession, KeepsItsDepthAndNoMore) {
  for (const std::uint64_t depth : {1U, 7U}) {
    Loaded loaded({.duration = seconds(1), .depth = depth, .request_timeout = seconds(100)},
                  handled_by([] { return std::make_unique<SilentHandler>(); }));
    loaded.pair.pass(milliseconds(500));
    EXPECT_EQ(loaded.counts().sent, depth);
  }
}

TEST(LoadSession, WaitsUntilAllConnectionsAreOpen) {
  LoadRun run({.connections = 2, .messages = 5});
  const auto server = protocol_named("echo").make_server({});
  const auto client = protocol_named("echo").make_client({}, run);
  Pair first(client->open({}), server->open({}));
  first.pass(seconds(1));
  EXPECT_FALSE(run.start().has_value());
  EXPECT_FALSE(first.left().finished());
  const std::uint64_t published = run.publications().count();
  Pair second(client->open({}), server->open({}));
  EXPECT_TRUE(run.start().has_value());
  EXPECT_NE(run.publications().count(), published);
  first.settle();
  second.settle();
  EXPECT_TRUE(first.over());
  EXPECT_TRUE(second.over());
  EXPECT_EQ(run.recorder().counts().verified, 10U);
}

TEST(LoadSession, StartsWithoutConnectionsThatFailed) {
  LoadRun run({.connections = 2, .messages = 5});
  const auto server = protocol_named("echo").make_server({});
  const auto client = protocol_named("echo").make_client({}, run);
  Pair pair(client->open({}), server->open({}));
  client->not_opened({Stage::connect, ECONNREFUSED, "nobody"}, pair.now());
  pair.settle();
  EXPECT_TRUE(pair.over());
  EXPECT_EQ(run.connections_failed(), 1U);
  EXPECT_EQ(run.failures(Stage::connect), 1U);
  EXPECT_EQ(run.recorder().counts().verified, 5U);
  EXPECT_TRUE(run.closes().has_value());
}

TEST(LoadSession, IntervalSpacesTheRequests) {
  Loaded loaded({.messages = 10, .interval = milliseconds(10)});
  loaded.pair.settle();
  EXPECT_EQ(loaded.counts().sent, 1U);
  loaded.pair.pass(milliseconds(9));
  EXPECT_EQ(loaded.counts().sent, 1U);
  loaded.pair.pass(milliseconds(1));
  EXPECT_EQ(loaded.counts().sent, 2U);
  loaded.pair.pass(milliseconds(79));
  EXPECT_EQ(loaded.counts().sent, 9U);
  EXPECT_FALSE(loaded.done());
  loaded.pair.pass(milliseconds(1));
  EXPECT_EQ(loaded.counts().verified, 10U);
  EXPECT_TRUE(loaded.pair.over());
}

TEST(LoadSession, DurationEndsIt) {
  Loaded loaded({.duration = milliseconds(100), .interval = milliseconds(10)});
  loaded.pair.pass(milliseconds(99));
  EXPECT_FALSE(loaded.done());
  loaded.pair.pass(milliseconds(21));
  EXPECT_TRUE(loaded.pair.over());
  EXPECT_EQ(loaded.counts().verified, 10U);
  EXPECT_EQ(*loaded.run.closes() - *loaded.run.opens(), milliseconds(100));
}

TEST(LoadSession, WarmUpIsNotRecorded) {
  Loaded loaded({.duration = milliseconds(100), .warmup = milliseconds(50), .interval = milliseconds(10)});
  loaded.pair.pass(milliseconds(49));
  EXPECT_EQ(loaded.counts().sent, 0U);
  EXPECT_EQ(loaded.counts().verified, 0U);
  loaded.pair.pass(milliseconds(121));
  EXPECT_TRUE(loaded.pair.over());
  EXPECT_EQ(loaded.counts().verified, 10U);
}

TEST(LoadSession, WarmUpComesOnTopOfACountOfMessages) {
  Loaded loaded({.messages = 7, .warmup = milliseconds(50), .interval = milliseconds(10)});
  loaded.pair.pass(seconds(1));
  EXPECT_TRUE(loaded.pair.over());
  EXPECT_EQ(loaded.counts().sent, 7U);
  EXPECT_EQ(loaded.counts().verified, 7U);
}

TEST(LoadSession, LatencyIsFromTheIntendedSendToTheVerifiedReply) {
  Loaded loaded({.messages = 1});
  loaded.pair.hold(true);
  loaded.pair.pass(milliseconds(250));
  loaded.pair.hold(false);
  loaded.pair.settle();
  const Distribution latencies = loaded.run.recorder().latencies();
  EXPECT_EQ(latencies.count(), 1U);
  EXPECT_NEAR(static_cast<double>(latencies.max()), 250e6, 250e3);
}

TEST(LoadSession, RequestTimeoutFailsTheConnection) {
  Loaded loaded({.messages = 10, .depth = 3, .request_timeout = milliseconds(200)},
                handled_by([] { return std::make_unique<SilentHandler>(); }));
  loaded.pair.pass(milliseconds(199));
  EXPECT_FALSE(loaded.done());
  loaded.pair.pass(milliseconds(1));
  EXPECT_TRUE(loaded.pair.over());
  EXPECT_EQ(loaded.run.failures(Stage::timeout), 1U);
  EXPECT_EQ(loaded.run.connections_failed(), 1U);
  EXPECT_EQ(loaded.counts().failed, 3U);
  EXPECT_EQ(loaded.counts().verified, 0U);
}

TEST(LoadSession, OneWrongByteIsFound) {
  constexpr std::size_t kPayload = 32;
  for (const std::size_t wrong : {std::size_t{0}, kPayload - 1, kPayload * 5 + 7, kPayload * 9 + 31}) {
    Loaded loaded({.messages = 10}, handled_by([=] { return std::make_unique<FlippingHandler>(wrong); }));
    loaded.pair.settle();
    EXPECT_TRUE(loaded.pair.over());
    EXPECT_EQ(loaded.run.failures(Stage::verify), 1U);
    EXPECT_EQ(loaded.counts().verified, wrong / kPayload);
    EXPECT_EQ(loaded.counts().failed, 1U);
  }
}

TEST(LoadSession, BytesNobodyAskedForAreFound) {
  Loaded loaded({.messages = 10}, handled_by([] { return std::make_unique<StutteringHandler>(); }));
  loaded.pair.settle();
  EXPECT_TRUE(loaded.pair.over());
  EXPECT_EQ(loaded.run.failures(Stage::verify), 1U);
  EXPECT_LT(loaded.counts().verified, 10U);
}

// Asks with lines of 20 bytes.
class LongLineExchange : public Exchange {
 public:
  void write_request(std::uint64_t /*number*/, Writer& request) override {
    request.send(std::string(20, 'x'));
  }
  bool verify(std::uint64_t /*number*/, Bytes /*reply*/) override { return true; }
};

TEST(LoadSession, ARequestThatTheFramingForbidsIsNotSent) {
  LoadRun run({.messages = 2});
  const auto make = exchange_client(Line{.largest = 19}, [](const Parameters&) -> std::unique_ptr<Exchange> {
    return std::make_unique<LongLineExchange>();
  });
  const auto client = make({}, run);
  const auto session = client->open({});
  session->on_open(Pair::kBegin);
  std::array<Segment, 4> segments;
  EXPECT_EQ(session->output(segments), 0U);
  EXPECT_TRUE(session->finished());
  EXPECT_EQ(run.connections_failed(), 1U);
  EXPECT_EQ(
      run.complaints(),
      std::vector<std::string>{
          "local: a request takes 21 bytes with its boundary, and the protocol allows 20: it is not sent"});
}

// What --payload allows: a connection cannot send more.
TEST(RequestResponse, APayloadFitsIntoAMessage) {
  const auto largest = [](Framing framing) {
    return request_response(
               {.name = "a", .summary = "", .framing = std::move(framing), .handler = {}, .exchange = {}})
        .largest_payload;
  };
  EXPECT_EQ(largest(Line{.largest = 1000}), 1000U);
  EXPECT_EQ(largest(Length4{.largest = 2000}), 2000U);
  EXPECT_EQ(largest(Length4{.largest = 1 << 24}), 1U << 20) << "the largest of any protocol";
  EXPECT_EQ(largest(Line{.largest = 8}), Parameters{}.payload) << "its messages have no payload";
}

TEST(LoadSession, ServerThatLeavesEarlyIsAFailure) {
  Loaded loaded({.messages = 10, .depth = 2}, handled_by([] { return std::make_unique<LeavingHandler>(4); }));
  loaded.pair.settle();
  EXPECT_TRUE(loaded.pair.over());
  EXPECT_EQ(loaded.run.failures(Stage::receive), 1U);
  EXPECT_EQ(loaded.run.connections_failed(), 1U);
  EXPECT_TRUE(loaded.run.closes().has_value()) << "nobody is left to wait for";
}

TEST(LoadSession, LostConnectionCountsWhatWasOutstanding) {
  Loaded loaded({.messages = 10, .depth = 3}, handled_by([] { return std::make_unique<SilentHandler>(); }));
  loaded.pair.settle();
  loaded.pair.left().on_failure({Stage::receive, ECONNRESET, {}}, loaded.pair.now());
  EXPECT_EQ(loaded.run.failures(Stage::receive), 1U);
  EXPECT_EQ(loaded.counts().failed, 3U);
  EXPECT_TRUE(loaded.run.closes().has_value());
}

TEST(LoadSession, AResetAfterTheLastReplyIsNoFailure) {
  Loaded loaded({.messages = 10});
  loaded.pair.settle();
  ASSERT_TRUE(loaded.done());
  loaded.pair.left().on_failure({Stage::receive, ECONNRESET, {}}, loaded.pair.now());
  EXPECT_EQ(loaded.run.connections_failed(), 0U);
  EXPECT_EQ(loaded.run.failures(Stage::receive), 0U);
  EXPECT_EQ(loaded.counts().verified, 10U);
}

TEST(LoadSession, DrainFinishesWhatIsOutstanding) {
  Loaded loaded({.duration = seconds(10), .interval = milliseconds(10), .depth = 4});
  loaded.pair.pass(milliseconds(25));
  loaded.pair.hold(true);
  loaded.pair.pass(milliseconds(10));
  loaded.pair.left().on_drain(loaded.pair.now());
  EXPECT_FALSE(loaded.done()) << "one request is on its way";
  loaded.pair.hold(false);
  loaded.pair.settle();
  EXPECT_TRUE(loaded.pair.over());
  EXPECT_EQ(loaded.counts().failed, 0U);
  EXPECT_EQ(loaded.run.connections_failed(), 0U);
}

TEST(LoadSession, DrainBeforeTheStartSendsNothing) {
  LoadRun run({.connections = 2, .messages = 5});
  const auto server = protocol_named("echo").make_server({});
  const auto client = protocol_named("echo").make_client({}, run);
  Pair pair(client->open({}), server->open({}));
  pair.settle();
  pair.left().on_drain(pair.now());
  pair.settle();
  EXPECT_TRUE(pair.over());
  EXPECT_EQ(run.recorder().counts().sent, 0U);
}

}  // namespace
}  // namespace joust
