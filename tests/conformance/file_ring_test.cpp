// SPDX-License-Identifier: MIT
//
// Files that engines receive through a ring buffer: only the calls may differ.
#include "conformance/files.hpp"

namespace joust::conformance {
namespace {

// Less than a read, and no divisor of a file's size: most reads and writes have two pieces.
constexpr std::size_t kSmallRing = 10'007;

Limits with_ring(std::size_t bytes) {
  Limits limits = brisk();
  limits.file_ring_bytes = bytes;
  return limits;
}

class FileRingTest : public FileTest {
 public:
  static bool applies(const Variant& variant) { return variant.engine->no_file_ring.empty(); }

 protected:
  std::unique_ptr<Service> serve_by_ring() const {
    return serve({{"file-write", "writev"}, {"overwrite", "yes"}});
  }
};

class FileRingOn : public FileRingTest {};
JOUST_ENGINES(FileRingOn, uploading_variants, Role::serve, each_choice);

class FileRingFrom : public FileRingTest {
 protected:
  // Downloads the file "large" in ranges; the load's complaints.
  std::vector<std::string> get(Server& server, std::size_t connections, Options options, std::size_t ring,
                               std::string* way = nullptr) {
    options.insert({{"name", "large"}, {"segments", "8"}, {"file-write", "writev"}});
    LoadRun run({.connections = connections, .messages = 1, .request_timeout = kPatience});
    const auto asking = protocol().make_client(with(Role::dial, options), run);
    {
      Dialling dialling(GetParam(), *asking, {server.endpoint()}, connections, with_ring(ring));
      dialling.run().wait();
    }
    if (way != nullptr) *way = words(*asking, "way");
    return run.complaints();
  }
};
JOUST_EVERY_ENGINE_EACH_CHOICE(FileRingFrom, Role::dial);

TEST_P(FileRingFrom, FetchesFilesWhateverTheRingsSize) {
  checks(Duty::files);
  const auto service = serve();
  Server server(plain_epoll(), *service);
  for (const std::size_t ring : {kSmallRing, Limits{}.file_ring_bytes}) {
    std::string way;
    EXPECT_EQ(get(server, 3, {{"output", folder_.file("got")}}, ring, &way), std::vector<std::string>{});
    EXPECT_EQ(way, "writev");
    EXPECT_TRUE(text_of(folder_.file("got")) == pattern(5'000'000)) << ring;
  }
  EXPECT_EQ(get(server, 2, {}, kSmallRing), std::vector<std::string>{}) << "what comes is discarded";
}

// A file that cannot be written ends the load, and nothing of it is left.
TEST_P(FileRingFrom, SaysThatTheDiskIsFull) {
  const auto service = serve();
  Server server(plain_epoll(), *service);
  fs::create_directory(folder_.file("here"));
  std::vector<std::string> complaints;
  {
    const SmallFiles full(300'000);
    complaints = get(server, 1, {{"output", folder_.file("here/got")}}, kSmallRing);
  }
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_NE(complaints.front().find("writing what came"), std::string::npos) << complaints.front();
  EXPECT_TRUE(fs::is_empty(folder_.file("here")));
}

TEST_P(FileRingOn, StoresFilesWhateverTheRingsSize) {
  checks(Duty::files);
  for (const std::size_t ring : {kSmallRing, Limits{}.file_ring_bytes}) {
    const auto service = serve_by_ring();
    Server server(GetParam(), *service, {.limits = with_ring(ring)});
    carry(plain_epoll(), server, 2, 8,
          {{"op", "put"}, {"file", path("large")}, {"name", "sub/put"}, {"segments", "8"}});
    server.stop();
    EXPECT_TRUE(text_of(path("sub/put")) == pattern(5'000'000)) << ring;
    EXPECT_EQ(words(*service, "file_write"), "writev");
  }
}

TEST_P(FileRingOn, TakesFilesThatComeInSmallPieces) {
  const auto service = serve_by_ring();
  Server server(GetParam(), *service, {.limits = with_ring(kSmallRing)});
  Asker asker(server);
  const std::string text = pattern(30'000), says = upload("new", text);
  for (std::size_t at = 0; at < says.size(); at += 1'001) asker.say(says.substr(at, 1'001));
  EXPECT_TRUE(asker.hear_a<file::Stored>().complete);
  EXPECT_TRUE(text_of(path("new")) == text);
}

// Bytes that are in the ring when the disk refuses them count as received: framing stays in step.
TEST_P(FileRingOn, SurvivesADiskThatIsFullInTheMiddle) {
  const auto service = serve_by_ring();
  Server server(GetParam(), *service, {.limits = with_ring(kSmallRing)});
  Asker asker(server);
  {
    const SmallFiles full(300'000);
    asker.say(upload("new", pattern(2'000'000)));
    EXPECT_EQ(asker.hear_error(), FileError::too_large);
  }
  asker.say(upload("new", pattern(400'000, 2), 2));
  EXPECT_TRUE(asker.hear_a<file::Stored>().complete);
  EXPECT_TRUE(text_of(path("new")) == pattern(400'000, 2));
}

TEST_P(FileRingOn, SurvivesPeersThatBreakOff) {
  const auto service = serve_by_ring();
  {
    Server server(GetParam(), *service, {.limits = with_ring(kSmallRing)});
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
