// SPDX-License-Identifier: MIT
//
// Output that lies in a mapping of a file which has become shorter since it was shown.
#include "engines/loop/ready_io.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "connection/tally.hpp"
#include "net/listener.hpp"

namespace joust {
namespace {

// Shows memory, whatever has become of them.
class Showing : public Session {
 public:
  explicit Showing(Bytes bytes) : bytes_(bytes) {}
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override { return chunk.size(); }
  std::size_t output(std::span<Segment> into) const override {
    if (bytes_.empty()) return 0;
    into[0] = {.bytes = bytes_};
    return 1;
  }
  void consumed(std::size_t n) override { bytes_ = bytes_.subspan(n); }
  bool finished() const override { return false; }
  void released(std::size_t /*n*/) override {}
  void on_drain(Time /*now*/) override {}

 private:
  Bytes bytes_;
};

class ShrunkMapping : public testing::Test {
 protected:
  ShrunkMapping() {
    checked(::ftruncate(file_.get(), 2 * kHalf), "ftruncate()");
    mapping_ = ::mmap(nullptr, 2 * kHalf, PROT_READ, MAP_SHARED, file_.get(), 0);
    const Listener listener(resolve("127.0.0.1:0")->front(), {});
    const Endpoint to = resolve(listener.address())->front();
    socket_ = Fd(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
    checked(::connect(socket_.get(), to.raw(), to.size), "connect()");
    peer_ = listener.accept(0).socket;
    connection_.emplace(std::make_unique<Showing>(Bytes(static_cast<std::byte*>(mapping_), 2 * kHalf)),
                        limits_, tally_, Clock::now());
    checked(::ftruncate(file_.get(), kHalf), "ftruncate()");
  }
  ~ShrunkMapping() override { ::munmap(mapping_, 2 * kHalf); }

  static constexpr std::size_t kHalf =
      128 << 10;  // bytes; whole pages, and more than the kernel copies at a time
  Fd file_ = Fd(checked(::memfd_create("test", MFD_CLOEXEC), "memfd_create()"));
  void* mapping_ = nullptr;
  Fd socket_, peer_;
  Limits limits_;
  Tally tally_;
  std::optional<StreamConnection> connection_;
};

// A send that brought away less than it was given has met the end of the file, not a full socket: who waited
// for room then would wait for ever.
TEST_F(ShrunkMapping, IsNoFullSocket) {
  EXPECT_TRUE(send_ready(socket_.get(), *connection_, Clock::now()));
  EXPECT_FALSE(connection_->ended());
}

// Nothing there at all: the session is asked once more, and the connection fails where it shows the same.
TEST_F(ShrunkMapping, IsLookedAtOnceMore) {
  send_ready(socket_.get(), *connection_, Clock::now());
  EXPECT_TRUE(send_ready(socket_.get(), *connection_, Clock::now()));
  EXPECT_FALSE(connection_->ended());
  send_ready(socket_.get(), *connection_, Clock::now());
  EXPECT_TRUE(connection_->ended());
  EXPECT_EQ(tally_.failures(Stage::send), 1U);
}

}  // namespace
}  // namespace joust
