// SPDX-License-Identifier: MIT
//
// A server may take fewer connections than are dialled: the others wait in the kernel, and nobody answers.
#include "files/transfer/answering.hpp"

namespace joust::transfer {
namespace {

using joust::test::text_of;

constexpr std::uint64_t kTurn = 1 << 20;  // bytes

// Several connections of one transfer that take turns, as on one network.
class Connections {
 public:
  explicit Connections(Transfer& transfer) : transfer_(transfer) {}

  Session& add(std::unique_ptr<Session> server) {
    One& one = all_.emplace_back();
    const auto cut = [this, &one](std::size_t n) {
      one.carried += n;
      turn_ += n;
      if (turn_ >= kTurn) one.pair->hold(true);
      return n;
    };
    one.pair = std::make_unique<Pair>(transfer_.open({}), std::move(server), cut);
    return one.pair->left();
  }
  // Until the transfer is over, or this is true. Steps: threads need time for their digests.
  void run(const std::function<bool()>& enough, Duration step) {
    for (int i = 0; i < 10'000 && !transfer_.over() && !enough(); ++i) {
      for (const One& one : all_) {
        turn_ = 0;
        one.pair->hold(false);
        one.pair->settle();
        one.pair->left().on_published(one.pair->now());
        one.pair->pass(step);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void run() {
    run([] { return false; }, std::chrono::milliseconds(1));
  }
  Duration passed() const { return all_.front().pair->now() - Pair::kBegin; }
  std::uint64_t carried(std::size_t number) const { return all_[number].carried; }  // bytes, both ways

 private:
  struct One {
    std::unique_ptr<Pair> pair;
    std::uint64_t carried = 0;
  };

  Transfer& transfer_;
  std::deque<One> all_;
  std::uint64_t turn_ = 0;
};

class Unaccepted : public test::TransferAnswers {
 protected:
  std::unique_ptr<Session> accepted() { return std::make_unique<file::ServerSession>(server()); }
  // It hears, in place of the kernel.
  std::unique_ptr<Session> waiting() {
    return std::make_unique<test::Answering>(
        [this](const file::Message& message) -> std::optional<file::Body> {
          const auto* query = std::get_if<file::Query>(&message.body);
          ++(query != nullptr && !query->wants_digest ? questions_ : work_);
          return std::nullopt;
        });
  }
  // One large file, or some that go whole.
  std::vector<std::string> files(bool is_large) {
    if (is_large) return {source("large", content(4 * kRangeBytes))};
    std::vector<std::string> all;
    for (int i = 0; i < 12; ++i) all.push_back(source("f" + std::to_string(i), content(1 << 20)));
    return all;
  }

  unsigned questions_ = 0, work_ = 0;  // heard
};

TEST_F(Unaccepted, ConnectionsTakeNothingThatIsToBeSent) {
  for (const bool is_large : {true, false}) {
    const auto all = files(is_large);
    SendTransfer sending(plan_of(all));
    Connections connections(sending);
    connections.add(accepted());
    connections.add(waiting());
    connections.run();
    EXPECT_EQ(sending.counts().files, all.size());
    EXPECT_EQ(sending.counts().retries, 0U);
    EXPECT_EQ(work_, 0U);
  }
  EXPECT_EQ(questions_, 2U) << "one each";
}

TEST_F(Unaccepted, ConnectionsTakeNothingThatIsToBeFetched) {
  const std::string text = content(4 * kRangeBytes);
  std::ofstream(path("there"), std::ios::binary) << text;
  GetTransfer getting(fetch_of("there"));
  Connections connections(getting);
  connections.add(accepted());
  connections.run([&] { return getting.facts().has_value(); }, {});
  connections.add(waiting());
  connections.run();
  EXPECT_TRUE(text_of(folder_.file("fetched")) == text);
  EXPECT_EQ(getting.counts().retries, 0U);
  EXPECT_EQ(work_, 0U);
  EXPECT_EQ(questions_, 1U);
}

// Until somebody is answered, one has to have work.
TEST_F(Unaccepted, TheFirstConnectionGivesItsWorkBackSoonIfOthersAreAnswered) {
  for (const bool is_large : {true, false}) {
    const auto all = files(is_large);
    SendTransfer sending(plan_of(all));
    Connections connections(sending);
    const Session& first = connections.add(waiting());
    connections.add(accepted());
    const auto step = std::chrono::milliseconds(10);
    connections.run([&] { return first.finished(); }, step);
    EXPECT_LT(connections.passed(), std::chrono::seconds(is_large ? 4 : 36)) << "what was sent has time";
    connections.run();
    EXPECT_EQ(sending.counts().files, all.size());
    EXPECT_EQ(sending.counts().retries, 1U);
  }
}

TEST_F(Unaccepted, OthersShareTheWork) {
  for (const bool is_large : {true, false}) {
    const auto all = files(is_large);
    SendTransfer sending(plan_of(all));
    Connections connections(sending);
    for (int i = 0; i < 3; ++i) connections.add(accepted());
    connections.run();
    EXPECT_EQ(sending.counts().files, all.size());
    for (int i = 0; i < 3; ++i) EXPECT_GT(connections.carried(i), kTurn);
  }
  GetTransfer getting(fetch_of("large"));
  Connections connections(getting);
  for (int i = 0; i < 3; ++i) connections.add(accepted());
  connections.run();
  EXPECT_EQ(getting.counts().files, 1U);
  for (int i = 0; i < 3; ++i) EXPECT_GT(connections.carried(i), kTurn);
}

// The last one that was answered is gone.
TEST_F(Unaccepted, ConnectionsLeadWhereNobodyElseDoes) {
  SendTransfer sending(plan_of(files(true)));
  Connections connections(sending);
  Session& lost = connections.add(accepted());
  Session& next = connections.add(waiting());
  connections.run([&] { return questions_ > 0 && sending.counts().moved > 0; }, {});
  EXPECT_EQ(work_, 0U);
  lost.on_failure({Stage::receive, ECONNRESET, ""}, Pair::kBegin);
  connections.run([&] { return next.finished(); }, std::chrono::milliseconds(10));
  EXPECT_GT(work_, 0U);
  connections.add(accepted());
  connections.run();
  EXPECT_EQ(sending.counts().files, 1U);
}

}  // namespace
}  // namespace joust::transfer
