// SPDX-License-Identifier: MIT
#include "net/listener.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "failing_calls.hpp"
#include "net/endpoints.hpp"

namespace joust {
namespace {

using test::parsed;
using test::socket_in;

Fd connect_to(const Endpoint& to) {
  Fd socket(checked(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
  checked(::connect(socket.get(), to.raw(), to.size), "connect({})", to_text(to));
  return socket;
}

template <typename Action>
std::system_error error_of(Action&& action) {
  try {
    action();
  } catch (const std::system_error& error) {
    return error;
  }
  throw std::logic_error("nothing was thrown");
}

TEST(ListenerTest, TellsThePortTheKernelChose) {
  const Listener listener(parsed("127.0.0.1:0"), {});
  EXPECT_TRUE(listener.address().starts_with("127.0.0.1:"));
  EXPECT_FALSE(listener.address().ends_with(":0"));
  connect_to(parsed(listener.address()));
}

TEST(ListenerTest, AcceptsOneByOneAndNeverBlocks) {
  const Listener listener(parsed("127.0.0.1:0"), {});
  EXPECT_EQ(listener.accept(0).outcome, AcceptOutcome::none);
  const Fd peer = connect_to(parsed(listener.address()));
  const Accepted accepted = listener.accept(SOCK_NONBLOCK);
  ASSERT_EQ(accepted.outcome, AcceptOutcome::accepted);
  EXPECT_NE(::fcntl(accepted.socket.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(accepted.socket.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(listener.accept(0).outcome, AcceptOutcome::none);
  const Fd second = connect_to(parsed(listener.address()));
  const Accepted blocking = listener.accept(0);
  ASSERT_EQ(blocking.outcome, AcceptOutcome::accepted);
  EXPECT_EQ(::fcntl(blocking.socket.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(ListenerTest, PassesOverPeersThatHaveGoneAgain) {
  const Listener listener(parsed("127.0.0.1:0"), {});
  const Fd peer = connect_to(parsed(listener.address()));
  const test::Failing gone(test::Call::accept4, ECONNABORTED, 3);
  EXPECT_EQ(listener.accept(0).outcome, AcceptOutcome::accepted);
}

TEST(ListenerTest, DoesNotPassOverMoreThanTheQueueHolds) {
  const Listener listener(parsed("127.0.0.1:0"), {.backlog = 10});
  const Fd peer = connect_to(parsed(listener.address()));
  const test::Failing gone(test::Call::accept4, ECONNABORTED);
  EXPECT_EQ(listener.accept(0).outcome, AcceptOutcome::none);
  EXPECT_EQ(gone.failed(), 11U);
}

TEST(ListenerTest, LeavesTheQueueWhenTheMachineIsBusy) {
  const Listener listener(parsed("127.0.0.1:0"), {});
  const Fd peer = connect_to(parsed(listener.address()));
  {
    const test::Failing full(test::Call::accept4, EMFILE);
    EXPECT_EQ(listener.accept(0).outcome, AcceptOutcome::busy);
    EXPECT_EQ(full.failed(), 1U);
  }
  EXPECT_EQ(listener.accept(0).outcome, AcceptOutcome::accepted);
}

// What a stop does with the queue, for both families.
class ListenersQueue : public testing::TestWithParam<bool> {
 protected:
  static constexpr std::size_t kAll = 1000;  // room for all

  Fd connect() { return connect_to(listener_.endpoint()); }
  std::size_t take(std::size_t room, Time until = Time::max()) {
    const auto count = [this](Fd socket) { taken_.push_back(std::move(socket)); };
    all_ = listener_.take_queued(0, room, until, count);
    return std::exchange(taken_, {}).size();
  }

  test::TemporaryFolder folder_;
  Endpoint endpoint_ = GetParam() ? socket_in(folder_, "s") : parsed("127.0.0.1:0");
  Listener listener_{endpoint_, {.backlog = 200}};
  bool all_ = false;
  std::vector<Fd> taken_;
};
INSTANTIATE_TEST_SUITE_P(Families, ListenersQueue, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "unix_sockets" : "tcp"; });

TEST_P(ListenersQueue, IsTakenToItsEnd) {
  std::vector<Fd> peers;
  for (int i = 0; i < 150; ++i) peers.push_back(connect());
  const test::Failing gone(test::Call::accept4, ECONNABORTED, 1, 70);
  EXPECT_EQ(take(kAll), 150U);
  EXPECT_TRUE(all_);
}

TEST_P(ListenersQueue, IsTakenWhenItIsEmpty) {
  EXPECT_EQ(take(kAll), 0U);
  EXPECT_TRUE(all_);
}

TEST_P(ListenersQueue, IsTakenAsFarAsThereIsRoom) {
  std::vector<Fd> peers;
  for (int i = 0; i < 10; ++i) peers.push_back(connect());
  EXPECT_EQ(take(6), 6U);
  EXPECT_FALSE(all_);
  EXPECT_EQ(take(4), 4U);
  EXPECT_TRUE(all_) << "nobody is left there";
}

TEST_P(ListenersQueue, IsTakenAsFarAsThereIsTime) {
  std::vector<Fd> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(connect());
  EXPECT_EQ(take(kAll, Clock::now()), 0U);
  EXPECT_FALSE(all_);
  EXPECT_EQ(take(kAll), 3U);
  EXPECT_EQ(take(kAll, Clock::now()), 0U);
  EXPECT_TRUE(all_) << "nobody is left there";
}

TEST_P(ListenersQueue, IsLeftWhenTheMachineIsBusy) {
  std::vector<Fd> peers;
  for (int i = 0; i < 10; ++i) peers.push_back(connect());
  const test::Failing full(test::Call::accept4, EMFILE, 1, 3);
  EXPECT_EQ(take(kAll), 3U);
  EXPECT_FALSE(all_);
}

TEST_P(ListenersQueue, IsNotRefilledMeanwhile) {
  std::vector<Fd> before, late;
  for (int i = 0; i < 5; ++i) before.push_back(connect());
  std::size_t taken = 0;
  listener_.take_queued(0, kAll, Time::max(), [&](const Fd&) {
    ++taken;
    const Endpoint& to = listener_.endpoint();
    const int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    late.emplace_back(checked(::socket(to.family(), kind, 0), "socket()"));
    ::connect(late.back().get(), to.raw(), to.size);
  });
  EXPECT_EQ(taken, 5U);
}

TEST(ListenerTest, DoesNotUnlinkThePathOfTheNextServer) {
  const test::TemporaryFolder folder;
  Listener first(socket_in(folder, "s"), {});
  first.take_queued(0, 1, Time::max(), [](const Fd&) {});
  const Listener next(socket_in(folder, "s"), {});
  first.close();
  connect_to(socket_in(folder, "s"));
}

// As a server that was killed keeps it for a moment.
TEST(ListenerTest, AnAddressThatIsInUseForAMomentIsWaitedFor) {
  const test::Failing used(test::Call::bind, EADDRINUSE, 3);
  const Listener listener(parsed("127.0.0.1:0"), {});
  EXPECT_EQ(used.failed(), 3U);
  connect_to(parsed(listener.address()));
}

TEST(ListenerTest, AddressInUseIsSaid) {
  const Listener first(parsed("127.0.0.1:0"), {});
  const auto error = error_of([&] { Listener(parsed(first.address()), {}); });
  EXPECT_EQ(error.code().value(), EADDRINUSE);
  EXPECT_NE(std::string(error.what()).find(first.address()), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("Address already in use"), std::string::npos) << error.what();
}

// A restarted server gets its port back at once, though old connections linger in TIME_WAIT.
TEST(ListenerTest, PortIsFreeAfterAServerThatHungUpFirst) {
  std::string address;
  {
    const Listener listener(parsed("127.0.0.1:0"), {});
    address = listener.address();
    const Fd peer = connect_to(parsed(address));
    Accepted accepted = listener.accept(0);
    accepted.socket.close();
  }
  const Listener again(parsed(address), {});
  EXPECT_EQ(again.address(), address);
}

TEST(ListenerTest, ClosedRefuses) {
  Listener listener(parsed("127.0.0.1:0"), {});
  listener.close();
  EXPECT_EQ(error_of([&] { connect_to(parsed(listener.address())); }).code().value(), ECONNREFUSED);
}

TEST(ListenerTest, UnixSocketsFileComesAndGoes) {
  const test::TemporaryFolder folder;
  {
    const Listener listener(socket_in(folder, "s"), {});
    EXPECT_EQ(listener.address(), "unix:" + folder.file("s"));
    EXPECT_TRUE(std::filesystem::is_socket(folder.file("s")));
    connect_to(socket_in(folder, "s"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("s")));
}

TEST(ListenerTest, LeavesAPathThatBelongsToSomebodyElseByNow) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s");
  {
    const Listener listener(socket_in(folder, "s"), {});
    std::filesystem::rename(path, folder.file("moved"));
    std::ofstream(path) << "precious";
  }
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
  std::filesystem::remove(path);
  std::optional<Listener> first(std::in_place, socket_in(folder, "s"), SocketOptions{});
  std::filesystem::remove(path);
  const Listener second(socket_in(folder, "s"), {});
  first.reset();
  connect_to(socket_in(folder, "s"));
}

TEST(ListenerTest, StaleUnixSocketIsReplaced) {
  const test::TemporaryFolder folder;
  const Endpoint endpoint = socket_in(folder, "s");
  {
    const Fd dead(checked(::socket(AF_UNIX, SOCK_STREAM, 0), "socket()"));
    checked(::bind(dead.get(), endpoint.raw(), endpoint.size), "bind()");
  }
  ASSERT_TRUE(std::filesystem::exists(folder.file("s")));
  const Listener listener(endpoint, {});
  connect_to(endpoint);
}

TEST(ListenerTest, LiveUnixSocketIsNotTaken) {
  const test::TemporaryFolder folder;
  const Listener first(socket_in(folder, "s"), {});
  EXPECT_EQ(error_of([&] { Listener(socket_in(folder, "s"), {}); }).code().value(), EADDRINUSE);
  connect_to(socket_in(folder, "s"));
}

// Whether somebody lives there is asked without waiting for an answer.
TEST(ListenerTest, LiveUnixSocketWithAFullQueueIsNotWaitedFor) {
  const test::TemporaryFolder folder;
  const Endpoint endpoint = socket_in(folder, "s");
  const Listener first(endpoint, {.backlog = 0});
  const Fd queued = connect_to(endpoint);
  EXPECT_EQ(error_of([&] { Listener(endpoint, {}); }).code().value(), EADDRINUSE);
}

TEST(ListenerTest, OtherFilesAreLeftAlone) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("precious")) << "data";
  EXPECT_EQ(error_of([&] { Listener(socket_in(folder, "precious"), {}); }).code().value(), EEXIST);
  EXPECT_EQ(std::filesystem::file_size(folder.file("precious")), 4U);
}

TEST(ListenerTest, FolderThatIsNotThereIsSaid) {
  const test::TemporaryFolder folder;
  const auto error = error_of([&] { Listener(socket_in(folder, "no/such"), {}); });
  EXPECT_EQ(error.code().value(), ENOENT);
  EXPECT_NE(std::string(error.what()).find("no/such"), std::string::npos) << error.what();
}

TEST(AcceptOutcomeTest, TellsTheMachinesTroubleFromThePeers) {
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM})
    EXPECT_EQ(accept_outcome(error), AcceptOutcome::busy) << error;
  for (const int error : {EAGAIN, EINTR, ECONNABORTED, EPROTO, EPERM, EHOSTUNREACH, ENETDOWN})
    EXPECT_EQ(accept_outcome(error), AcceptOutcome::none) << error;
  for (const int error : {EBADF, EINVAL, ENOTSOCK, EFAULT})
    EXPECT_EQ(error_of([&] { accept_outcome(error); }).code().value(), error);
}

}  // namespace
}  // namespace joust
