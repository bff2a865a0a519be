// SPDX-License-Identifier: MIT
//
// A client that fetches needs the digest of the whole, and servers may keep it to themselves.
#include "files/transfer/answering.hpp"

namespace joust::transfer {
namespace {

class FetchedDigests : public test::TransferAnswers {
 protected:
  // Of a server that has an empty file.
  enum class Says : std::uint8_t { nothing, facts, all };
  test::Answering::Answer says(Says what, bool without_digest = false) {
    return [=, this](const file::Message& message) -> std::optional<file::Body> {
      const auto* query = std::get_if<file::Query>(&message.body);
      if (query == nullptr || what == Says::nothing) return std::nullopt;
      file::Facts facts{.size = 0, .modified_ns = 1};
      if (!query->wants_digest) return facts;
      ++asked_;
      if (what == Says::facts) return std::nullopt;
      if (!without_digest) facts.digest = joust::test::digest_of("");
      return facts;
    };
  }

  int asked_ = 0;  // for the digest
};

TEST_F(FetchedDigests, AreAskedForTwiceOfAServerThatIgnoresTheQuestion) {
  GetTransfer getting(fetch_of("there"));
  run(getting, says(Says::facts), std::chrono::seconds(31));
  EXPECT_FALSE(getting.over());
  EXPECT_EQ(getting.counts().retries, 1U);
  run(getting, says(Says::facts), std::chrono::seconds(29));
  EXPECT_FALSE(getting.over());
  EXPECT_EQ(asked_, 2);
  run(getting, says(Says::facts), std::chrono::seconds(31));
  EXPECT_TRUE(getting.over());
  EXPECT_EQ(asked_, 3) << "that of the second connection was given back";
  EXPECT_EQ(getting.counts().failed, 1U);
  const std::string told =
      "there: the server does not answer the question for the digest of it, so that nothing "
      "can be verified";
  EXPECT_EQ(getting.complaints(), std::vector<std::string>{told});
}

// It may be a network that is down.
TEST_F(FetchedDigests, ComeFromAServerThatIsBackLater) {
  GetTransfer getting(fetch_of("there"));
  run(getting, says(Says::facts), std::chrono::seconds(31));
  for (int i = 0; i < 5; ++i) run(getting, says(Says::nothing), std::chrono::seconds(11));
  EXPECT_FALSE(getting.over());
  EXPECT_EQ(getting.counts().retries, 6U);
  run(getting, says(Says::all), std::chrono::seconds(10));
  EXPECT_EQ(getting.counts().files, 1U);
  EXPECT_TRUE(getting.complaints().empty());
}

TEST_F(FetchedDigests, AreNotAskedForAgainWhereTheAnswerHasNone) {
  GetTransfer getting(fetch_of("there"));
  run(getting, says(Says::all, true), std::chrono::seconds(1));
  EXPECT_TRUE(getting.over());
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(getting.counts().retries, 0U);
  ASSERT_EQ(getting.complaints().size(), 1U);
  EXPECT_NE(getting.complaints()[0].find("gives no digest"), std::string::npos) << getting.complaints()[0];
}

TEST_F(FetchedDigests, AreWaitedForAsLongAsTheServerSaysThatItWorks) {
  GetTransfer getting(fetch_of("there"));
  const auto session = getting.open({});
  Time now = Pair::kBegin;
  const auto hear = [&](const file::Message& message) {
    session->on_published(now);
    if (session->deadline().value_or(Time::max()) <= now) session->on_deadline(now);
    session->on_bytes(as_bytes(file::test::wire(message)), now);
  };
  session->on_open(now);
  file::Facts facts{.size = 0, .modified_ns = 1};
  hear({1, facts});
  for (std::uint64_t i = 0; i < 600; ++i, now += std::chrono::seconds(1)) hear({2, file::Working{i}});
  EXPECT_EQ(getting.counts().retries, 0U);
  facts.digest = joust::test::digest_of("");
  hear({2, facts});
  EXPECT_EQ(getting.counts().files, 1U);
}

}  // namespace
}  // namespace joust::transfer
