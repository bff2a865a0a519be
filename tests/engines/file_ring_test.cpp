// SPDX-License-Identifier: MIT
//
// The ring buffer between a socket and a file: its pieces, and files that write less or nothing.
#include "engines/files/file_input.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "connection/tally.hpp"

namespace joust {
namespace {

// Keeps what is written, as far as it is told to write.
class KeptFile : public File {
 public:
  std::expected<std::size_t, int> read_at(std::uint64_t, std::span<std::byte>) const override { return 0; }
  std::expected<std::size_t, int> write_at(std::uint64_t, Bytes) override { return std::unexpected(EBADF); }
  std::expected<std::size_t, int> write_pieces_at(std::uint64_t offset,
                                                  std::span<const Bytes> pieces) override {
    std::string all;
    for (const Bytes piece : pieces) all += as_text(piece);
    most_pieces = std::max(most_pieces, pieces.size());
    if (!most.empty()) {
      const int next = most.front();
      most.pop_front();
      if (next < 0) return std::unexpected(-next);
      all.resize(std::min(all.size(), static_cast<std::size_t>(next)));
    }
    if (text.size() < offset + all.size()) text.resize(offset + all.size(), '?');
    text.replace(offset, all.size(), all);
    return all.size();
  }
  Filling filling() const override { return Filling::ring; }

  std::string text;
  std::deque<int> most;  // bytes of the next writes, or minus the errno
  std::size_t most_pieces = 0;
};

// Wants `left` bytes in the file, and all others as bytes.
class Storing : public Session, private SessionFiles {
 public:
  explicit Storing(KeptFile& file, std::uint64_t left) : file_(file), left_(left) {}
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    bytes += as_text(chunk);
    return chunk.size();
  }
  Want want() const override { return left_ > 0 ? Want::file : Want::bytes; }
  SessionFiles* files() override { return this; }
  std::size_t output(std::span<Segment> /*into*/) const override { return 0; }
  bool finished() const override { return false; }
  void on_drain(Time /*now*/) override {}
  void consumed(std::size_t /*n*/) override {}
  void released(std::size_t /*n*/) override {}

  std::string bytes, seen;
  std::vector<int> errors;
  std::uint64_t stop_at = ~0ULL;  // no more is wanted in the file once it has so many bytes

 private:
  FileRange store() const override { return {&file_, offset_, left_}; }
  void on_stored(std::size_t n, Bytes view, Time /*now*/) override {
    EXPECT_EQ(view.size(), n);
    seen += as_text(view);
    offset_ += n;
    left_ = offset_ >= stop_at ? 0 : left_ - n;
  }
  void on_store_failed(int error, Time /*now*/) override {
    errors.push_back(error);
    left_ = 0;
  }
  void on_source_failed(int /*error*/, Time /*now*/) override {}

  KeptFile& file_;
  std::uint64_t offset_ = 0, left_;
};

class FileRingPieces : public testing::Test {
 protected:
  FileRingPieces() {
    std::array<int, 2> ends{};
    checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()),
            "socketpair()");
    ours_ = Fd(ends[0]), peers_ = Fd(ends[1]);
    limits_.file_ring_bytes = 10;
  }
  Storing& begin(std::uint64_t wanted) {
    auto session = std::make_unique<Storing>(file_, wanted);
    Storing& storing = *session;
    connection_.emplace(std::move(session), limits_, tally_, Clock::now());
    return storing;
  }
  // The peer sends, and the ring takes what the connection wants from it.
  ssize_t receive(std::string_view text) {
    EXPECT_EQ(::send(peers_.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    const ssize_t n = ring_->fill(ours_.get(), ring_->wanted(*connection_));
    ring_->empty(*connection_, Clock::now());
    return n;
  }
  void make_ring() { ring_.emplace(limits_); }

  Limits limits_;
  Tally tally_;
  Fd ours_, peers_;
  KeptFile file_;
  std::optional<StreamConnection> connection_;
  std::optional<FileRing> ring_;
};

TEST_F(FileRingPieces, GoesOnAtItsBeginningInTwoPieces) {
  make_ring();
  Storing& session = begin(26);
  EXPECT_EQ(receive("abcdefg"), 7);
  EXPECT_EQ(file_.most_pieces, 1U);
  EXPECT_EQ(receive("hijklmnopq"), 10) << "the whole ring is free again";
  EXPECT_EQ(file_.most_pieces, 2U);
  EXPECT_EQ(receive("rstuvwxyz"), 9);
  EXPECT_EQ(file_.text, "abcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(session.seen, file_.text) << "a digest sees every byte, in order";
  EXPECT_EQ(connection_->bytes_received(), 26U);
}

TEST_F(FileRingPieces, TakesNoMoreThanTheFileWants) {
  make_ring();
  begin(4);
  EXPECT_EQ(receive("abcdefg"), 4);
  EXPECT_EQ(file_.text, "abcd");
  EXPECT_EQ(ring_->wanted(*connection_), 0U) << "the rest is no file's";
}

TEST_F(FileRingPieces, WritesAgainWhatAShortWriteHasLeft) {
  make_ring();
  Storing& session = begin(20);
  receive("abcdefg");
  file_.most = {1, 3, 2, 100};  // the second of them ends with the first piece
  receive("hijklmnopq");
  EXPECT_EQ(file_.text, "abcdefghijklmnopq");
  EXPECT_EQ(session.seen, file_.text);
}

// What the file does not take is the session's to discard: framing stays in step.
TEST_F(FileRingPieces, HandsOnWhatAFileRefuses) {
  make_ring();
  Storing& session = begin(20);
  receive("abcdefg");
  file_.most = {5, -ENOSPC};
  receive("hijklmnopq");
  EXPECT_EQ(file_.text, "abcdefghijkl");
  EXPECT_EQ(session.errors, std::vector<int>{ENOSPC});
  EXPECT_EQ(session.bytes, "mnopq");
  EXPECT_EQ(connection_->bytes_received(), 17U);
}

// Of a write of two pieces, the session sees one after the other.
TEST_F(FileRingPieces, HandsOnASecondPieceThatIsNoLongerForTheFile) {
  make_ring();
  Storing& session = begin(20);
  session.stop_at = 10;
  receive("abcdefg");
  receive("hijklmnopq");
  EXPECT_EQ(session.seen, "abcdefghij");
  EXPECT_EQ(session.bytes, "klmnopq");
}

TEST_F(FileRingPieces, IsNotUsedWithoutMemory) {
  limits_.file_ring_bytes = 0;
  make_ring();
  begin(20);
  EXPECT_EQ(ring_->wanted(*connection_), 0U);
}

TEST_F(FileRingPieces, ReportsTheSocketAsRecvDoes) {
  make_ring();
  begin(20);
  EXPECT_EQ(ring_->fill(ours_.get(), ring_->wanted(*connection_)), -1);
  EXPECT_EQ(errno, EAGAIN);
  peers_ = Fd();
  EXPECT_EQ(ring_->fill(ours_.get(), ring_->wanted(*connection_)), 0);
}

}  // namespace
}  // namespace joust
