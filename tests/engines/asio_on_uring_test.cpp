// SPDX-License-Identifier: MIT
//
// What the engines on Boost.Asio have to promise besides with the library on io_uring.
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/syscall.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "engines/forbidding.hpp"
#include "engines/running.hpp"
#include "hosting/options.hpp"
#include "hosting/protocols.hpp"

namespace joust::test {
namespace {

const Settings kOnUring{{"asio-backend", "io-uring"}};

class AsioOnUring : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Engine& engine = *find_engine(GetParam());
    if (engine.unavailable && !engine.unavailable().empty()) GTEST_SKIP() << engine.unavailable();
    if (const std::string reason = unavailable_choice(engine, kOnUring); !reason.empty())
      GTEST_SKIP() << reason;
  }
};

// Sends until the server takes no more, and then reads all of it.
void flood(const Fd& peer) {
  const std::string piece(64 << 10, 'f');
  std::size_t sent = 0;
  for (pollfd room{.fd = peer.get(), .events = POLLOUT, .revents = 0}; ::poll(&room, 1, 20) == 1;)
    if (const ssize_t n = ::send(peer.get(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL); n > 0)
      sent += static_cast<std::size_t>(n);
  EXPECT_EQ(receive(peer, sent).size(), sent);
}

// A ring that has gone round once has entries that others used before. When the server reads again from a
// peer that has flooded it, it cancels an operation; the others must not notice.
TEST_P(AsioOnUring, ACancellationEndsNobodyElsesRead) {
  constexpr unsigned kRounds = 9000;  // of two operations; the library's ring has 16,384 entries
  HandlerService echo = echo_service();
  RunningServer server(*find_engine(GetParam()), echo, {}, {.knobs = kOnUring});
  const Fd quiet = connect_to(server.address()), loud = connect_to(server.address());
  for (unsigned i = 0; i < kRounds; ++i) {
    send_all(quiet, "q");
    ASSERT_EQ(receive(quiet, 1), "q");
  }
  for (unsigned i = 0; i < 8; ++i) {
    flood(loud);
    send_all(quiet, "still");
    ASSERT_EQ(receive(quiet, 5), "still") << "after flood " << i;
  }
}

// Where the kernel forbids rings, the choice is refused with the cause, and nothing takes its place.
TEST_P(AsioOnUring, ForbiddenIsRefusedWithItsCause) {
  EXPECT_EXIT(
      {
        forbid_system_call(SYS_io_uring_setup);
        checked_engine(GetParam(), {}, Role::serve, prefix_protocol());
        try {
          checked_engine(GetParam(), kOnUring, Role::serve, prefix_protocol());
        } catch (const std::runtime_error& error) {
          std::fprintf(stderr, "%s", error.what());
          std::_Exit(0);
        }
        std::_Exit(1);
      },
      testing::ExitedWithCode(0),
      "engine 'asio-.*' is unavailable with --asio-backend io-uring: io_uring_setup.*not permitted");
}

INSTANTIATE_TEST_SUITE_P(Engines, AsioOnUring, testing::Values("asio-pool", "asio-coroutines"),
                         [](const auto& tested) {
                           return std::string(tested.param).substr(std::string("asio-").size());
                         });

}  // namespace
}  // namespace joust::test
