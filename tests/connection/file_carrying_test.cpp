// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>

#include "connection/stream_connection.hpp"
#include "joust/outbox.hpp"

namespace joust {
namespace {

constexpr Time kBegin = Time(std::chrono::seconds(1000));

// A file of text, which fails where it is told to.
class TextFile : public File {
 public:
  explicit TextFile(std::string content = {}) : text(std::move(content)) {}

  std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    ++reads;
    if (read_error != 0) return std::unexpected(read_error);
    const std::string_view part = std::string_view(text).substr(std::min(offset, text.size()), into.size());
    std::ranges::copy(as_bytes(part), into.begin());
    return part.size();
  }
  std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) override {
    if (write_error != 0) return std::unexpected(write_error);
    const Bytes part = bytes.first(std::min<std::size_t>(bytes.size(), 3));  // never all at once
    text.resize(std::max<std::size_t>(text.size(), offset + part.size()));
    std::ranges::copy(as_text(part), text.begin() + static_cast<std::ptrdiff_t>(offset));
    return part.size();
  }
  int descriptor() const override { return kernel_descriptor; }

  std::string text;
  int read_error = 0, write_error = 0, kernel_descriptor = -1;
  mutable int reads = 0;
};

// Sends a head, a range of a file and a tail, and stores what it gets.
struct Plan {
  TextFile file{"0123456789"};
  FileRange range{&file, 2, 5};
  std::string head = "<", tail = ">";
  TextFile store;
  FileRange wanted{&store, 0, 0};
  std::string received, seen, told;
};

class FileSession : public Session, private SessionFiles {
 public:
  explicit FileSession(Plan& plan) : plan_(plan) {}
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    const std::size_t taken = plan_.received.empty() ? 1 : chunk.size();  // a file is wanted after one byte
    plan_.received += as_text(chunk.first(taken));
    return taken;
  }
  void on_drain(Time /*now*/) override {}
  std::size_t output(std::span<Segment> into) const override {
    std::size_t filled = 0;
    const auto show = [&](const Segment& segment) {
      if (segment.size() > 0 && filled < into.size()) into[filled++] = segment;
    };
    show({.bytes = as_bytes(plan_.head)});
    if (plan_.range.size > 0) show({.file = plan_.range});
    show({.bytes = as_bytes(plan_.tail)});
    return filled;
  }
  Want want() const override {
    return !plan_.received.empty() && plan_.wanted.size > 0 ? Want::file : Want::bytes;
  }
  SessionFiles* files() override { return this; }
  bool finished() const override { return false; }
  void consumed(std::size_t n) override {
    if (const std::size_t part = std::min(n, plan_.head.size()); part > 0)
      plan_.head.erase(0, part), n -= part;
    const std::size_t part = std::min<std::size_t>(n, plan_.range.size);
    plan_.range.offset += part;
    plan_.range.size -= part;
    plan_.tail.erase(0, n - part);
  }
  void released(std::size_t /*n*/) override {}

 private:
  FileRange store() const override { return plan_.wanted; }
  void on_stored(std::size_t n, Bytes seen, Time /*now*/) override {
    plan_.wanted.offset += n;
    plan_.wanted.size -= n;
    plan_.seen += as_text(seen);
  }
  void on_store_failed(int error, Time /*now*/) override {
    plan_.told += "store failed " + std::to_string(error) + ";";
    plan_.wanted.size = 0;
  }
  void on_source_failed(int error, Time /*now*/) override {
    plan_.told += "source failed " + std::to_string(error) + ";";
    plan_.range.size = 0;
  }

  Plan& plan_;
};

class FileCarrying : public testing::Test {
 protected:
  // Sends all there is, `most` bytes at a time.
  std::string send_all(std::size_t most) {
    std::string all;
    std::array<iovec, 16> pieces;
    while (const std::size_t count = connection_.output(pieces, kBegin)) {
      std::size_t sent = 0;
      for (std::size_t i = 0; i < count && sent < most; ++i) {
        const std::size_t part = std::min(most - sent, pieces[i].iov_len);
        all.append(static_cast<const char*>(pieces[i].iov_base), part);
        sent += part;
      }
      connection_.sent(sent, kBegin);
    }
    return all;
  }

  Plan plan_;
  Limits limits_{};
  Tally tally_;
  StreamConnection connection_{std::make_unique<FileSession>(plan_), limits_, tally_, kBegin};
};

TEST_F(FileCarrying, SendsWhatAFileHoldsBetweenOtherBytes) {
  EXPECT_EQ(send_all(100), "<23456>");
  EXPECT_EQ(plan_.file.reads, 1);
}

TEST_F(FileCarrying, ReadsAFileOnceHoweverSlowlyItGoes) {
  EXPECT_EQ(send_all(1), "<23456>");
  EXPECT_EQ(plan_.file.reads, 1);
}

// Another file may lie where one was that is gone by now: its address and offset say nothing.
TEST_F(FileCarrying, ReadsAgainWhatItHasSent) {
  EXPECT_EQ(send_all(100), "<23456>");
  plan_.file.text = "abcdefghij";
  plan_.range = {&plan_.file, 2, 5};
  EXPECT_EQ(send_all(2), "cdefg");
}

TEST_F(FileCarrying, TellsTheSessionOfAFileThatHasShrunk) {
  plan_.range.size = 20;  // it has 8 from there
  EXPECT_EQ(send_all(100), "<23456789>");
  EXPECT_EQ(plan_.told, "source failed 0;");
}

TEST_F(FileCarrying, TellsTheSessionOfAFileThatCannotBeRead) {
  plan_.file.read_error = EIO;
  EXPECT_EQ(send_all(100), "<>");
  EXPECT_EQ(plan_.told, "source failed " + std::to_string(EIO) + ";");
}

TEST_F(FileCarrying, OffersTheKernelWhatHasADescriptor) {
  EXPECT_FALSE(connection_.source());
  plan_.file.kernel_descriptor = 7;
  EXPECT_FALSE(connection_.source()) << "the head goes first";
  connection_.sent(1, kBegin);
  ASSERT_TRUE(connection_.source());
  EXPECT_EQ(connection_.source()->offset, 2U);
  connection_.sent(5, kBegin);
  EXPECT_FALSE(connection_.source());
}

TEST_F(FileCarrying, StoresWhatBelongsInAFileAndHandsOnTheRest) {
  plan_.wanted.size = 7;
  connection_.received(as_bytes("hcontentrest"), kBegin);
  EXPECT_EQ(plan_.store.text, "content");
  EXPECT_EQ(plan_.seen, "content");
  EXPECT_EQ(plan_.received, "hrest");
}

TEST_F(FileCarrying, GivesTheSessionTheBytesAFileRefused) {
  plan_.wanted.size = 7;
  plan_.store.write_error = ENOSPC;
  connection_.received(as_bytes("hcontent"), kBegin);
  EXPECT_EQ(plan_.told, "store failed " + std::to_string(ENOSPC) + ";");
  EXPECT_EQ(plan_.received, "hcontent");
}

TEST_F(FileCarrying, CountsWhatTheKernelHasStored) {
  plan_.wanted.size = 7;
  plan_.store.kernel_descriptor = 7;
  connection_.received(as_bytes("h"), kBegin);
  ASSERT_TRUE(connection_.store());
  connection_.stored(7, {}, kBegin);
  EXPECT_EQ(plan_.wanted.offset, 7U);
  EXPECT_FALSE(connection_.store());
  EXPECT_TRUE(connection_.wants_input());
}

}  // namespace
}  // namespace joust
