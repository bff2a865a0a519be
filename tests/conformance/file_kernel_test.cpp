// SPDX-License-Identifier: MIT
//
// Files on every engine, moved by the kernel where the engine allows it: only the speed may differ.
#include <thread>

#include "conformance/files.hpp"

namespace joust::conformance {
namespace {

const Options kByKernel{{"file-read", "sendfile"}, {"file-write", "splice"}, {"overwrite", "yes"}};

class FileByKernelOn : public FileTest {
 protected:
  // Requests "sent", whose bytes are those of pattern().
  static std::string request(std::uint64_t size) { return wire({1, file::Fragment{{0, size}, "sent"}}); }
  void make_sent(std::size_t size) const { std::ofstream(path("sent"), std::ios::binary) << pattern(size); }
};
JOUST_EVERY_ENGINE_EACH_CHOICE(FileByKernelOn, Role::serve);

class UploadByKernelOn : public FileTest {};
JOUST_ENGINES(UploadByKernelOn, uploading_variants, Role::serve, pairwise);

class FileByKernelFrom : public FileTest {};
JOUST_EVERY_ENGINE_EACH_CHOICE(FileByKernelFrom, Role::dial);

TEST_P(FileByKernelOn, DoesAsItWasToldOrSaysThatItCannot) {
  checks(Duty::files);
  const auto service = serve(kByKernel);
  Server server(GetParam(), *service);
  carry(plain_epoll(), server, 1, 1, {{"name", "large"}});
  if (sessions_are_common(GetParam()))
    carry(plain_epoll(), server, 1, 1, {{"op", "put"}, {"bytes", "3000000"}});
  server.stop();
  const bool sent_by_kernel = words(*service, "file_read") == "sendfile";
  if (sent_by_kernel && words(*service, "file_write") == "splice")
    EXPECT_TRUE(notes_of_duties(server.tally(), GetParam()).empty());
  else
    EXPECT_EQ(notes_of_duties(server.tally(), GetParam()).size(), 1U);
}

TEST_P(FileByKernelFrom, DoesAsItWasToldOrSaysThatItCannot) {
  checks(Duty::files);
  const auto service = serve(kByKernel);
  Server server(plain_epoll(), *service);
  LoadRun run({.connections = 1, .messages = 1, .request_timeout = kPatience});
  const auto asking = protocol().make_client(
      with(Role::dial, {{"name", "large"}, {"sink", "memory"}, {"file-write", "splice"}}), run);
  Dialling dialling(GetParam(), *asking, {server.endpoint()}, 1);
  dialling.run().wait();
  EXPECT_EQ(words(*asking, "way") == "splice", notes_of_duties(dialling.tally(), GetParam()).empty())
      << words(*asking, "way");
}

TEST_P(FileByKernelOn, ServesUnixSockets) {
  const auto service = serve(kByKernel);
  Server server(GetParam(), *service, {.address = unix_address()});
  carry(plain_epoll(), server, 2, 2, {{"name", "large"}, {"sink", "memory"}, {"segments", "2"}});
}

TEST_P(UploadByKernelOn, StoresFromUnixSockets) {
  const auto service = serve(kByKernel);
  Server server(GetParam(), *service, {.address = unix_address()});
  carry(plain_epoll(), server, 2, 2,
        {{"op", "put"}, {"file", path("large")}, {"name", "new"}, {"segments", "2"}});
  EXPECT_TRUE(text_of(path("new")) == pattern(5'000'000));
}

TEST_P(FileByKernelOn, SendsToAReaderThatIsSlow) {
  constexpr std::size_t kSize = 4 << 20;
  make_sent(kSize);
  const auto service = serve(kByKernel);
  Server server(GetParam(), *service);
  Peer slow(server.endpoint(), 16 << 10);
  slow.send(request(kSize));
  carry(plain_epoll(), server, 1, 1, {{"name", "small"}});  // other peers do not wait for it
  const std::size_t heads = wire({1, file::Facts{}}).size() + wire({1, file::Data{}}).size();
  std::string got;
  while (got.size() < heads + kSize) {
    got += slow.receive_some(got.size() % 3 == 0 ? 100'000 : 1'001);
    if (got.size() < 50'000) std::this_thread::yield();
  }
  EXPECT_TRUE(got.substr(heads, kSize) == pattern(kSize));
}

TEST_P(UploadByKernelOn, TakesFilesThatComeInSmallPieces) {
  const auto service = serve(kByKernel);
  Server server(GetParam(), *service);
  Asker asker(server);
  const std::string text = pattern(30'000), says = upload("new", text);
  for (std::size_t at = 0; at < says.size(); at += 1'001) asker.say(says.substr(at, 1'001));
  EXPECT_TRUE(asker.hear_a<file::Stored>().complete);
  EXPECT_TRUE(text_of(path("new")) == text);
}

// Bytes spliced from the socket when the disk refuses them count as received: framing stays in step.
TEST_P(UploadByKernelOn, SurvivesADiskThatIsFullInTheMiddle) {
  const auto service = serve(kByKernel);
  Server server(GetParam(), *service);
  Asker asker(server);
  {
    const SmallFiles full(300'000);
    asker.say(upload("new", pattern(2'000'000)));
    EXPECT_EQ(asker.hear_error(), FileError::too_large);
  }
  asker.say(wire({2, file::Fragment{{0, 10}, "small"}}));
  EXPECT_EQ(asker.hear_fragment(), "0123456789");
  asker.say(upload("new", pattern(400'000, 2), 2));
  EXPECT_TRUE(asker.hear_a<file::Stored>().complete);
  EXPECT_TRUE(text_of(path("new")) == pattern(400'000, 2));
  asker.peer().finish();
  EXPECT_EQ(asker.peer().receive_to_end(), "");
  server.stop();
  EXPECT_EQ(entries(), 4U);
}

TEST_P(FileByKernelOn, SurvivesPeersThatBreakOff) {
  make_sent(20'000'000);
  const auto service = serve(kByKernel);
  {
    Server server(GetParam(), *service);
    for (int i = 0; i < 3; ++i) {
      Asker fetching(server);
      fetching.say(request(20'000'000));
      fetching.hear_a<file::Facts>();
      fetching.peer().reset();
    }
    carry(plain_epoll(), server, 2, 2, {{"name", "large"}, {"sink", "memory"}, {"segments", "2"}});
  }
}

TEST_P(UploadByKernelOn, SurvivesPeersThatBreakOff) {
  const auto service = serve(kByKernel);
  {
    Server server(GetParam(), *service);
    for (int i = 0; i < 3; ++i) {
      Asker bringing(server);
      bringing.say(upload("new", pattern(600'000)).substr(0, 500'000));
      bringing.peer().reset();
    }
    carry(plain_epoll(), server, 1, 1, {{"op", "put"}, {"bytes", "1000000"}});
  }
  EXPECT_EQ(entries(), 4U) << "what was broken off is gone";
}

}  // namespace
}  // namespace joust::conformance
