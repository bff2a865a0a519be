// SPDX-License-Identifier: MIT
//
// Files on every engine: fetched and brought whole and in ranges, by good peers and by awkward ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "conformance/running.hpp"
#include "load/run.hpp"
#include "protocols/file_wire.hpp"
#include "protocols/table.hpp"
#include "temporary_folder.hpp"

namespace joust::conformance {
namespace {

namespace fs = std::filesystem;
using Options = std::map<std::string, std::string>;
using file::Message;

const Protocol& protocol() {
  static const std::vector<Protocol> all = builtin_protocols();
  return *std::ranges::find(all, "file", &Protocol::name);
}

Parameters with(Role side, const Options& options) {
  Parameters parameters = standard_parameters(protocol(), side);
  for (const auto& [name, value] : options) parameters.options[name] = value;
  return parameters;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string wire(const Message& message) {
  return std::string(as_text(encode(message)));
}

// A directory, served by the engine under test.
class FileOn : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    fs::create_directories(path("sub"));
    std::ofstream(path("small")) << "0123456789";
    std::ofstream(path("large"), std::ios::binary) << pattern(5'000'000);
  }
  std::string path(const std::string& name) const { return folder_.file("root/" + name); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path("")), fs::directory_iterator{}));
  }
  std::unique_ptr<Service> serve(Options options = {}) const {
    options.emplace("root", folder_.file("root"));
    return protocol().make_server(with(Role::serve, options));
  }
  static std::uint64_t figure(const Service& service, const std::string& name) {
    for (const ResultGroup& group : service.results())
      for (const auto& [key, value] : group.figures)
        if (key == name) return std::get<std::uint64_t>(value);
    ADD_FAILURE() << "no figure " << name;
    return 0;
  }

  test::TemporaryFolder folder_;
};
JOUST_EVERY_ENGINE(FileOn, Role::serve);

class FileFrom : public FileOn {};
JOUST_EVERY_ENGINE(FileFrom, Role::dial);

const Variant& plain_epoll() {
  static const std::vector<Variant> all = variants(Role::dial);
  return *std::ranges::find(all, "epoll", &Variant::name);
}

// A load against a server; every range of it must be verified.
void carry(const Variant& client, Server& server, std::size_t connections, std::uint64_t ranges,
           const Options& options, std::uint64_t messages = 1) {
  LoadRun run({.connections = connections, .messages = messages, .request_timeout = kPatience});
  const auto asking = protocol().make_client(with(Role::dial, options), run);
  {
    Dialling dialling(client, *asking, {server.endpoint()}, connections);
    dialling.run().wait();
  }
  for (const std::string& complaint : run.complaints()) ADD_FAILURE() << complaint;
  EXPECT_EQ(run.recorder().counts().verified, ranges);
  EXPECT_EQ(run.connections_failed(), 0U);
}

// What a peer says by hand, and hears. Each answer is one frame and, of data, its bytes.
class Asker {
 public:
  explicit Asker(const Server& server) : peer_(server.endpoint()) {}

  void say(const std::string& bytes) { peer_.send(bytes); }
  Message hear() {
    file::Decoder decoder;
    for (;;) {
      const auto step = decoder.next(as_bytes(peer_.receive(1)));
      if (!step) throw std::runtime_error("not the protocol");
      if (step->message) return *step->message;
    }
  }
  template <typename Body>
  Body hear_a() {
    const Message message = hear();
    if (const auto* body = std::get_if<Body>(&message.body)) return *body;
    ADD_FAILURE() << "kind " << message.body.index() << " of frame is not what was expected";
    return {};
  }
  FileError hear_error() { return hear_a<file::Error>().refusal.error; }
  std::string hear_fragment() {
    hear_a<file::Facts>();
    std::string text;
    for (;;) {
      const Message message = hear();
      if (std::holds_alternative<file::End>(message.body)) return text;
      const auto* data = std::get_if<file::Data>(&message.body);
      if (data == nullptr) throw std::runtime_error("a fragment is cut short: " + text);
      text += peer_.receive(data->size);
    }
  }
  Peer& peer() { return peer_; }

 private:
  Peer peer_;
};

std::string upload(const std::string& name, const std::string& text, std::uint64_t id = 1) {
  return wire({1,
               file::UploadRange{
                   .file_size = text.size(), .range = {0, text.size()}, .id = id, .name = name}}) +
         wire({1, file::Data{static_cast<std::uint32_t>(text.size())}}) + text +
         wire({1, file::End{text.size()}});
}

TEST_P(FileOn, SendsAndStoresFilesInRanges) {
  const auto service = serve({{"overwrite", "yes"}});
  Server server(GetParam(), *service);
  for (const char* way : {"write", "splice", "mmap"}) {
    const Options got{
        {"name", "large"}, {"output", folder_.file("got")}, {"segments", "4"}, {"file-write", way}};
    carry(plain_epoll(), server, 3, 4, got);
    EXPECT_TRUE(text_of(folder_.file("got")) == pattern(5'000'000)) << way;
  }
  carry(plain_epoll(), server, 4, 8,
        {{"op", "put"}, {"file", path("large")}, {"name", "sub/put"}, {"segments", "8"}});
  EXPECT_TRUE(text_of(path("sub/put")) == pattern(5'000'000));
}

TEST_P(FileOn, TakesEveryWayToReadAndToWrite) {
  for (const auto& [read, write] : Options{{"read", "write"}, {"mmap", "mmap"}, {"sendfile", "splice"}}) {
    const auto service = serve({{"overwrite", "yes"}, {"file-read", read}, {"file-write", write}});
    Server server(GetParam(), *service);
    carry(plain_epoll(), server, 2, 4, {{"name", "large"}, {"sink", "memory"}}, 2);
    carry(plain_epoll(), server, 2, 4, {{"op", "put"}, {"bytes", "1000000"}, {"segments", "2"}}, 2);
    server.stop();
    EXPECT_EQ(figure(*service, "bytes_stored"), 2'000'000U);
  }
}

TEST_P(FileFrom, FetchesAndBringsFiles) {
  const auto service = serve({{"overwrite", "yes"}});
  Server server(plain_epoll(), *service);
  for (const auto& [read, write] : Options{{"read", "write"}, {"mmap", "mmap"}, {"sendfile", "splice"}}) {
    carry(GetParam(), server, 3, 4,
          {{"name", "large"}, {"output", folder_.file("got")}, {"segments", "4"}, {"file-write", write}});
    EXPECT_TRUE(text_of(folder_.file("got")) == pattern(5'000'000));
    carry(GetParam(), server, 3, 10,
          {{"op", "put"}, {"file", path("large")}, {"name", "put"}, {"segments", "5"}, {"file-read", read}},
          2);
    EXPECT_TRUE(text_of(path("put")) == pattern(5'000'000));
  }
  carry(GetParam(), server, 5, 50, {{"op", "info"}, {"name", "small"}}, 10);
}

TEST_P(FileOn, HearsARequestHoweverItIsCut) {
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

TEST_P(FileOn, AnswersManyRequestsThatComeTogether) {
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

TEST_P(FileOn, RefusesAndGoesOn) {
  const auto service = serve();
  Server server(GetParam(), *service);
  Asker asker(server);
  asker.say(wire({1, file::Fragment{{5, 6}, "small"}}));
  EXPECT_EQ(asker.hear_error(), FileError::beyond_end);
  asker.say(wire({1, file::Query{"../secret", false}}));
  EXPECT_EQ(asker.hear_error(), FileError::name_refused);
  asker.say(upload("small", "replaced"));
  EXPECT_EQ(asker.hear_error(), FileError::exists);
  asker.say(upload("new", "brought"));
  EXPECT_TRUE(asker.hear_a<file::Stored>().complete);
  EXPECT_EQ(text_of(path("new")), "brought");
  EXPECT_EQ(text_of(path("small")), "0123456789");
}

TEST_P(FileOn, KeepsNothingOfATruncatedUpload) {
  const auto service = serve();
  Server server(GetParam(), *service);
  const std::string whole = upload("new", pattern(200'000));
  {
    Asker ended(server), reset(server), idle(server);
    for (Asker* asker : {&ended, &reset, &idle}) asker->say(whole.substr(0, 150'000));
    ended.peer().finish();
    EXPECT_EQ(ended.peer().receive_to_end(), "");
    reset.peer().reset();
    carry(plain_epoll(), server, 1, 1, {{"name", "small"}});  // others are served meanwhile
    server.stop();
  }
  EXPECT_EQ(entries(), 3U);
  EXPECT_EQ(figure(*service, "abandoned"), 3U);
}

TEST_P(FileOn, LetsOneOfTwoUploadsToOneNameWin) {
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

TEST_P(FileOn, CarriesTheRangesOfOneUploadOverSeveralConnections) {
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

// It becomes shorter while it is sent: its reader hears of it, and others are served as before.
TEST_P(FileOn, SurvivesAFileThatShrinksWhileItIsSent) {
  for (const char* way : {"read", "sendfile"}) {
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

TEST_P(FileOn, StaysBeneathItsDirectoryWhenALinkIsSwappedIn) {
  fs::create_directory(folder_.file("outside"));
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

TEST_P(FileOn, ReadsNoFasterThanItsAnswersAreRead) {
  const auto service = serve();
  Server server(GetParam(), *service);
  Peer greedy(server.endpoint());
  greedy.send_until_full(wire({1, file::Fragment{{0, 5'000'000}, "large"}}));
  carry(plain_epoll(), server, 1, 1, {{"name", "large"}, {"sink", "memory"}});
  EXPECT_LT(figure(*service, "bytes_sent"), 60'000'000U) << "no more than what fits into the sockets";
}

TEST_P(FileOn, StopsInTheMiddleOfTransfers) {
  const auto service = serve();
  Server server(GetParam(), *service);
  Asker fetching(server), bringing(server);
  fetching.say(wire({1, file::Fragment{{0, 5'000'000}, "large"}}));
  bringing.say(upload("new", pattern(100'000)).substr(0, 50'000));
  fetching.hear_a<file::Facts>();
  server.stop();
  EXPECT_EQ(entries(), 3U);
}

}  // namespace
}  // namespace joust::conformance
