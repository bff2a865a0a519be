// SPDX-License-Identifier: MIT
//
// Files on every engine, with misbehaving peers, and files that change during a transfer.
#include <thread>

#include "conformance/files.hpp"
#include "conformance/idleness.hpp"
#include "failing_calls.hpp"

namespace joust::conformance {
namespace {

class FilePeerOn : public FileTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(FilePeerOn, Role::serve);

class UploadingPeerOn : public FileTest {};
JOUST_ENGINES(UploadingPeerOn, uploading_variants, Role::serve, defaults);

TEST_P(FilePeerOn, HearsARequestHoweverItIsCut) {
  const auto service = serve();
  Server server(GetParam(), *service);
  const std::string says = wire({1, file::Fragment{{2, 5}, "small"}}) + wire({2, file::Query{"small", true}});
  Asker slow(server);
  for (const char byte : says) slow.say({&byte, 1});
  EXPECT_EQ(slow.hear_fragment(), "23456");
  EXPECT_EQ(slow.hear_a<file::Facts>().size, 10U);
  for (std::size_t cut = 1; cut < says.size(); cut += 3) {
    Asker asker(server);
    asker.say(says.substr(0, cut));
    asker.say(says.substr(cut));
    EXPECT_EQ(asker.hear_fragment(), "23456");
    EXPECT_TRUE(asker.hear_a<file::Facts>().digest);
  }
}

TEST_P(FilePeerOn, AnswersManyRequestsThatComeTogether) {
  const auto service = serve();
  Server server(GetParam(), *service);
  Asker asker(server);
  std::string says;
  for (std::uint32_t i = 0; i < 200; ++i)
    says += wire({i, file::Fragment{{i % 10, 1}, "small"}}) + wire({i, file::Query{"nothing", false}});
  asker.say(says);
  for (std::uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(asker.hear_fragment(), std::to_string(i % 10));
    EXPECT_EQ(asker.hear_error(), FileError::not_found);
  }
}

TEST_P(FilePeerOn, RefusesAndGoesOn) {
  const auto service = serve();
  Server server(GetParam(), *service);
  Asker asker(server);
  asker.say(wire({1, file::Fragment{{5, 6}, "small"}}));
  EXPECT_EQ(asker.hear_error(), FileError::beyond_end);
  asker.say(wire({1, file::Query{"../secret", false}}));
  EXPECT_EQ(asker.hear_error(), FileError::name_refused);
  asker.say(wire({2, file::Fragment{{0, 10}, "small"}}));
  EXPECT_EQ(asker.hear_fragment(), "0123456789");
}

TEST_P(UploadingPeerOn, IsRefusedAndGoesOn) {
  const auto service = serve();
  Server server(GetParam(), *service);
  Asker asker(server);
  asker.say(upload("small", "replaced"));
  EXPECT_EQ(asker.hear_error(), FileError::exists);
  asker.say(upload("new", "written"));
  EXPECT_TRUE(asker.hear_a<file::Stored>().complete);
  EXPECT_EQ(text_of(path("new")), "written");
  EXPECT_EQ(text_of(path("small")), "0123456789");
}

// A socket whose peer has finished is ready for ever, but not for writing.
TEST_P(FilePeerOn, SleepsWhileAPeerThatHasFinishedDoesNotRead) {
  if (!sleeps(GetParam())) GTEST_SKIP() << "it does not sleep while it waits";
  const auto service = serve();
  Server server(GetParam(), *service, {.socket = {.send_buffer = 16 << 10}});
  Asker asker(server);
  asker.say(wire({1, file::Fragment{{0, 5'000'000}, "large"}}));
  EXPECT_TRUE(asker.peer().hears_within(kPatience));
  asker.peer().finish();
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
  asker.peer().reset();
}

TEST_P(UploadingPeerOn, LeavesNothingOfATruncatedUpload) {
  const auto service = serve();
  Server server(GetParam(), *service);
  {
    Asker ended(server), reset(server), idle(server);
    std::uint64_t id = 0;
    for (Asker* asker : {&ended, &reset, &idle})
      asker->say(upload("new", pattern(200'000), ++id).substr(0, 150'000));
    ended.peer().finish();
    EXPECT_EQ(ended.peer().receive_to_end(), "");
    reset.peer().reset();
    carry(plain_epoll(), server, 1, 1, {{"name", "small"}});  // other peers are served meanwhile
    server.stop();
  }
  EXPECT_EQ(entries(), 3U);
  EXPECT_EQ(test::figure(*service, "abandoned"), 3U);
}

TEST_P(UploadingPeerOn, WinsOrLosesANameThatTwoUpload) {
  const auto service = serve();
  Server server(GetParam(), *service);
  const std::string one = upload("new", pattern(100'000, 1), 1),
                    other = upload("new", pattern(100'000, 2), 2);
  Asker first(server), second(server);
  first.say(one.substr(0, 50'000));
  second.say(other.substr(0, 50'000));
  second.say(other.substr(50'000));
  EXPECT_TRUE(second.hear_a<file::Stored>().complete);
  first.say(one.substr(50'000));
  EXPECT_EQ(first.hear_error(), FileError::exists);
  EXPECT_TRUE(text_of(path("new")) == pattern(100'000, 2));
  EXPECT_EQ(entries(), 4U);
}

TEST_P(UploadingPeerOn, SendsTheRangesOfOneUploadOverSeveralConnections) {
  const auto service = serve();
  Server server(GetParam(), *service);
  const auto range = [](ByteRange which, const std::string& text) {
    return wire({1, file::UploadRange{.file_size = 6, .range = which, .id = 9, .name = "new"}}) +
           wire({1, file::Data{static_cast<std::uint32_t>(text.size())}}) + text +
           wire({1, file::End{text.size()}});
  };
  Asker first(server), second(server), thief(server);
  first.say(range({3, 3}, "def"));
  EXPECT_FALSE(first.hear_a<file::Stored>().complete);
  thief.say(range({2, 3}, "xxx"));
  EXPECT_EQ(thief.hear_error(), FileError::overlap);
  EXPECT_FALSE(fs::exists(path("new")));
  second.say(range({0, 3}, "abc"));
  EXPECT_TRUE(second.hear_a<file::Stored>().complete);
  EXPECT_EQ(text_of(path("new")), "abcdef");
}

// A file shrinks while it is sent: its reader gets an error, and other peers are served as before.
TEST_P(FilePeerOn, SurvivesAFileThatShrinksWhileItIsSent) {
  for (const std::string way : {"read", "mmap", "sendfile"}) {
    if (way == "mmap" && !GetParam().engine->no_file_mapping.empty()) continue;
    std::ofstream(path("shrinking"), std::ios::binary) << pattern(20'000'000);
    const auto service = serve({{"file-read", way}});
    Server server(GetParam(), *service);
    Asker asker(server), other(server);
    asker.say(wire({1, file::Fragment{{0, 20'000'000}, "shrinking"}}));
    EXPECT_EQ(asker.hear_a<file::Facts>().size, 20'000'000U);
    const auto first = asker.hear_a<file::Data>();
    fs::resize_file(path("shrinking"), 1'000);
    other.say(wire({1, file::Fragment{{0, 10}, "small"}}));
    EXPECT_EQ(other.hear_fragment(), "0123456789");
    asker.peer().receive(first.size);
    Message message = asker.hear();
    while (const auto* data = std::get_if<file::Data>(&message.body)) {
      asker.peer().receive(data->size);
      message = asker.hear();
    }
    ASSERT_TRUE(std::holds_alternative<file::Error>(message.body)) << way;
    EXPECT_EQ(std::get<file::Error>(message.body).refusal.error, FileError::shrunk);
    asker.say(wire({2, file::Fragment{{0, 10}, "small"}}));
    EXPECT_EQ(asker.hear_fragment(), "0123456789") << "the connection goes on";
  }
}

TEST_P(UploadingPeerOn, StaysBeneathTheDirectoryWhenALinkIsSwappedIn) {
  fs::create_directory(folder_.file("outside"));
  const test::Failing named(test::Call::nameless, EOPNOTSUPP);  // so that it is seen when it has begun
  const auto service = serve();
  Server server(GetParam(), *service);
  Asker asker(server);
  const std::string says = upload("sub/new", pattern(100'000));
  asker.say(says.substr(0, 60'000));
  while (fs::is_empty(path("sub"))) std::this_thread::yield();
  fs::rename(path("sub"), path("moved"));
  fs::create_directory_symlink(folder_.file("outside"), path("sub"));
  asker.say(says.substr(60'000));
  EXPECT_NE(asker.hear_error(), FileError::none);
  asker.say(wire({2, file::Query{"sub/new", false}}));
  EXPECT_NE(asker.hear_error(), FileError::none);
  EXPECT_TRUE(fs::is_empty(folder_.file("outside")));
}

TEST_P(FilePeerOn, ReadsNoFasterThanItsAnswersAreRead) {
  const auto service = serve();
  Server server(GetParam(), *service);
  Peer greedy(server.endpoint());
  greedy.send_until_full(wire({1, file::Fragment{{0, 5'000'000}, "large"}}));
  carry(plain_epoll(), server, 1, 1, {{"name", "large"}, {"sink", "memory"}});
  EXPECT_LT(test::figure(*service, "bytes_sent"), 60'000'000U) << "no more than what fits into the sockets";
}

TEST_P(FilePeerOn, IsStoppedInTheMiddleOfADownload) {
  const auto service = serve();
  Server server(GetParam(), *service);
  Asker fetching(server);
  fetching.say(wire({1, file::Fragment{{0, 5'000'000}, "large"}}));
  fetching.hear_a<file::Facts>();
  server.stop();
}

TEST_P(UploadingPeerOn, IsStoppedInTheMiddleAndLeavesNothing) {
  const auto service = serve();
  Server server(GetParam(), *service);
  Asker bringing(server), other(server);
  bringing.say(upload("new", pattern(100'000)).substr(0, 50'000));
  other.say(wire({1, file::Query{"small", false}}));
  other.hear_a<file::Facts>();
  server.stop();
  EXPECT_EQ(entries(), 3U);
}

}  // namespace
}  // namespace joust::conformance
