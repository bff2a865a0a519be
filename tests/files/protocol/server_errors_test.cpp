// SPDX-License-Identifier: MIT
//
// What goes wrong on the server's own side while files are carried.
#include <unistd.h>
#include <algorithm>

#include <functional>

#include "files/protocol/server_fixture.hpp"

namespace joust::file {
namespace {

using joust::test::text_of;
using test::Decoded;
using test::describe;
using test::wire;

// A file of a disk that has its moods.
class FaultyFile : public File {
 public:
  std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    if (read_error != 0) return std::unexpected(read_error);
    if (offset >= size) return 0;
    const std::size_t n = std::min<std::uint64_t>(into.size(), size - offset);
    std::fill_n(into.begin(), n, std::byte{'x'});
    return n;
  }
  std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) override {
    if (offset + bytes.size() > room) return std::unexpected(ENOSPC);
    return bytes.size();
  }
  std::uint64_t size = 0, room = UINT64_MAX;
  int read_error = 0;
};

class FaultyUpload : public Upload {
 public:
  FaultyUpload(FaultyFile& file, std::string& told) : file_(file), told_(told) {}
  FileAnswer<void> take(ByteRange) override { return {}; }
  FileAnswer<void> make_room(ByteRange) override { return {}; }
  void give_back(ByteRange range) noexcept override { told_ += "back " + std::to_string(range.size) + ";"; }
  void stored(ByteRange, Bytes) override {}
  bool finish(ByteRange) override { return true; }
  Resumption resume() override { return {.complete = true}; }
  FileAnswer<void> seal(const std::optional<Digest>&) override { return {}; }
  FileAnswer<Check> check() override { return Check{0, Digest{}}; }
  std::uint64_t left_to_check() const override { return 0; }
  bool over() const override { return true; }
  std::uint64_t received() const override { return 0; }
  File& file() override { return file_; }

 private:
  FaultyFile& file_;
  std::string& told_;
};

class FaultyStorage : public Storage {
 public:
  FileAnswer<OpenFile> open(std::string_view) override {
    return OpenFile{.file = file, .version = {.size = announced}, .settled = is_settled};
  }
  bool is_unchanged(const OpenFile&) const override { return false; }
  FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest&) override {
    return std::make_shared<FaultyUpload>(*file, told);
  }
  void remember(const OpenFile&, const Digest&) override {}

  std::shared_ptr<FaultyFile> file = std::make_shared<FaultyFile>();
  std::uint64_t announced = 0;
  bool is_settled = false;
  std::string told;
};

class FileServerErrors : public test::FileServerTest {
 protected:
  FileServerErrors() { server_ = std::make_unique<ServerState>(faulty_, digests_); }
  FaultyStorage faulty_;
};

TEST_F(FileServerErrors, SaysThatAFileHasBecomeShorterAndGoesOn) {
  faulty_.announced = 100;
  faulty_.file->size = 40;
  const Decoded heard = ask(wire({1, Fragment{{0, 100}, "a"}}) + wire({2, Fragment{{0, 10}, "a"}}));
  EXPECT_EQ(heard.data, std::string(40, 'x') + std::string(60, '\0') + std::string(10, 'x'));
  ASSERT_EQ(heard.messages.size(), 6U);
  EXPECT_EQ(describe(heard.messages[2]), "1: error shrunk 'the file has become shorter'");
  EXPECT_EQ(describe(heard.messages[5]), "2: end 10 -");
}

// A client that gets no digest asks for it, and so notices whether the bytes were those of one moment.
TEST_F(FileServerErrors, SendsNoDigestOfAFileThatIsChangedWhileItIsRead) {
  faulty_.announced = faulty_.file->size = 100;
  faulty_.is_settled = true;
  const Decoded heard = ask(wire({1, Fragment{{0, 100}, "a"}}));
  EXPECT_EQ(heard.data, std::string(100, 'x'));
  EXPECT_FALSE(std::get<Facts>(heard.messages[0].body).digest);
  EXPECT_EQ(describe(heard.messages[2]), "1: end 100 -");
}

TEST_F(FileServerErrors, ComplainsOfWhatComesBehindAFileThatHasBecomeShorter) {
  faulty_.announced = 100;
  const Decoded heard = ask(wire({1, Fragment{{0, 100}, "a"}}) + wire({2, Data{UINT32_MAX}}));
  ASSERT_EQ(heard.messages.size(), 4U);
  EXPECT_EQ(describe(heard.messages[2]), "1: error shrunk 'the file has become shorter'");
  EXPECT_EQ(describe(heard.messages[3]), "2: error malformed 'the frame is too large'");
}

TEST_F(FileServerErrors, SaysThatALargeFileHasBecomeShorterAndDropsTheRest) {
  faulty_.announced = 100 << 20;
  faulty_.file->size = (5 << 20) + 1;
  const Decoded heard = ask(wire({1, Fragment{{0, 100 << 20}, "a"}}) + wire({2, Fragment{{0, 10}, "a"}}));
  EXPECT_EQ(heard.data.size(), (8U << 20) + 10) << "the frame that was announced, and no other";
  EXPECT_EQ(describe(heard.messages[3]), "1: error shrunk 'the file has become shorter'");
  EXPECT_EQ(describe(heard.messages.back()), "2: end 10 -");
}

TEST_F(FileServerErrors, SaysThatAFileCannotBeRead) {
  faulty_.announced = faulty_.file->size = 100;
  faulty_.file->read_error = EIO;
  const Decoded heard = ask(wire({1, Fragment{{0, 100}, "a"}}) + wire({2, Query{"a", true}}));
  EXPECT_EQ(heard.data, std::string(100, '\0'));
  EXPECT_EQ(describe(heard.messages.at(2)), "1: error input/output error 'the file cannot be read'");
  EXPECT_EQ(describe(heard.messages.at(3)), "2: error input/output error 'the file cannot be read'");
}

TEST_F(FileServerErrors, SaysThatTheDiskIsFullAndGoesOn) {
  faulty_.file->room = 6;
  const Decoded heard =
      ask(upload_head("a", 9, {0, 9}) + data("abc") + data("defghi") + end(9) + upload("b", "abc", 2));
  ASSERT_EQ(heard.messages.size(), 2U);
  EXPECT_EQ(describe(heard.messages[0]), "1: error no space 'the file cannot be written'");
  EXPECT_EQ(faulty_.told, "back 9;");
  EXPECT_TRUE(std::get<Stored>(heard.messages[1].body).complete);
}

// A gigabyte takes its time: the peer hears that the server lives.
TEST_F(FileServerErrors, SaysThatItIsStillWorking) {
  faulty_.announced = faulty_.file->size = 64 << 20;
  ServerSession session(*server_);
  Time now{};
  session.on_open(now);
  const std::string query = wire({1, Query{"a", true}});
  deliver(as_bytes(query), session, now);
  EXPECT_EQ(session.want(), Want::nothing);
  std::string said;
  for (int i = 0; i < 100 && session.deadline(); ++i) {
    EXPECT_LE(*session.deadline(), now);
    session.on_deadline(now += std::chrono::milliseconds(300));
    std::array<Segment, 4> segments;
    const std::size_t count = session.output(segments);
    for (std::size_t j = 0; j < count; ++j) {
      said += as_text(segments[j].bytes);
      session.consumed(segments[j].bytes.size());
      session.released(segments[j].bytes.size());
    }
  }
  const Decoded heard = test::decode_all(said);
  ASSERT_GE(heard.messages.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Working>(heard.messages.front().body));
  EXPECT_TRUE(std::get<Facts>(heard.messages.back().body).digest);
}

// However much is asked for at once, what is held for a peer that does not read has a bound.
TEST_F(FileServerErrors, StopsReadingAPeerThatDoesNotRead) {
  ServerSession session(*server_);
  session.on_open({});
  std::string queries;
  constexpr std::size_t kQueries = 10'000;
  for (std::uint32_t i = 0; i < kQueries; ++i) queries += wire({i, Query{"a", false}});
  const std::size_t answered = deliver(as_bytes(queries), session, {}) * kQueries / queries.size();
  EXPECT_EQ(session.want(), Want::nothing);
  EXPECT_LT(answered, (64U << 10) / 128) << "a small answer costs more than its bytes";
}

// Each answer keeps its file open until the peer has read it.
TEST_F(FileServerErrors, KeepsFewFilesOpenForAPeerThatDoesNotRead) {
  faulty_.announced = faulty_.file->size = 100;
  ServerSession session(*server_);
  session.on_open({});
  std::string fragments;
  for (std::uint32_t i = 0; i < 100; ++i) fragments += wire({i, Fragment{{0, 1}, "a"}});
  std::size_t taken = deliver(as_bytes(fragments), session, {});
  EXPECT_LE(taken, fragments.size() * 3 / 100);
  std::array<Segment, 16> segments;
  while (const std::size_t count = session.output(segments)) {  // now it reads
    std::size_t bytes = 0;
    for (const Segment& segment : std::span(segments).first(count)) bytes += segment.size();
    session.consumed(bytes);
    session.released(bytes);
    taken += deliver(as_bytes(fragments).subspan(taken), session, {});
  }
  EXPECT_EQ(taken, fragments.size());
}

// A thousand peers that ask for digests must not hold up everybody else on the loop.
TEST_F(FileServerErrors, DigestsAreMadeAFewAtATime) {
  faulty_.announced = faulty_.file->size = 64 << 20;
  std::vector<std::unique_ptr<ServerSession>> sessions;
  const std::string query = wire({1, Query{"a", true}});
  for (int i = 0; i < 20; ++i) {
    sessions.push_back(std::make_unique<ServerSession>(*server_));
    deliver(as_bytes(query), *sessions.back(), {});
    sessions.back()->on_deadline({});
  }
  const auto due_now = [&] {
    return std::ranges::count_if(sessions, [](const auto& each) { return each->deadline() == Time{}; });
  };
  EXPECT_EQ(due_now(), 3) << "the fourth turn is an upload's";
  sessions.erase(sessions.begin());  // its peer has gone, and its turn is another's
  sessions.back()->on_deadline({});
  EXPECT_EQ(due_now(), 3);
}

TEST_F(FileServerErrors, FinishesWhatWasBegunWhenItIsToStop) {
  ServerSession sending(*server_), idle(*server_), receiving(*server_);
  faulty_.announced = 100 << 20;
  deliver(as_bytes(wire({1, Fragment{{0, 100 << 20}, "a"}})), sending, {});
  deliver(as_bytes(upload_head("a", 3, {0, 3})), receiving, {});
  for (ServerSession* session : {&sending, &idle, &receiving}) session->on_drain({});
  EXPECT_TRUE(idle.finished());
  EXPECT_FALSE(sending.finished());
  EXPECT_FALSE(receiving.finished());
  deliver(as_bytes(data("abc") + end(3)), receiving, {});
  EXPECT_TRUE(receiving.finished());
}

}  // namespace
}  // namespace joust::file
