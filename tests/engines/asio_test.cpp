// SPDX-License-Identifier: MIT
//
// What only the engines on Boost.Asio have to promise.
#include <gtest/gtest.h>

#include <sys/un.h>

#include <future>
#include <stdexcept>

#include "engines/few_descriptors.hpp"
#include "engines/running.hpp"
#include "net/listener.hpp"

namespace joust::test {
namespace {

class AsioEngines : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (engine().unavailable && !engine().unavailable().empty()) GTEST_SKIP() << engine().unavailable();
  }
  static const Engine& engine() { return *find_engine(GetParam()); }
};

// Several threads see both requests, and the second one may get to the hub before the first.
TEST_P(AsioEngines, EndWhenTheSecondRequestIsSeenFirst) {
  HandlerService echo = echo_service();
  const Listeners listeners(*resolve("127.0.0.1:0"), {});
  const EngineOptions options;
  const Limits limits;
  Tally tally;
  Stop stop;
  const auto raise = [&] {
    const std::uint64_t one = 1;
    checked(::write(stop.at_once_fd(), &one, sizeof one), "write()");
  };
  engine().run({.service = echo,
                .options = options,
                .limits = limits,
                .tally = tally,
                .listeners = listeners.all(),
                .on_ready = raise},
               stop);
}

// A context takes its descriptors when it is first used, which must not be when a peer has come.
TEST(AsioContexts, HaveTheirDescriptorsBeforeTheyServe) {
  const Engine& engine = *find_engine("asio-coroutines");
  if (engine.unavailable && !engine.unavailable().empty()) GTEST_SKIP() << engine.unavailable();
  HandlerService echo = echo_service();
  const Listeners listeners(*resolve("127.0.0.1:0"), {});
  const EngineOptions options{.threads = 8};
  const Limits limits;
  Tally tally;
  Stop stop;
  const Hosting hosting{.service = echo,
                        .options = options,
                        .limits = limits,
                        .tally = tally,
                        .listeners = listeners.all(),
                        .on_ready = [&] { stop.request(); }};
  const DescriptorsLeft few(10);
  EXPECT_THROW(engine.run(hosting, stop), std::system_error);
  EXPECT_FALSE(stop.requested()) << "it was ready";
}

// Its redial() throws, when the first connection has ended and others are still being dialled.
class Thrower : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo&) override { return std::make_unique<Silent>(); }
  std::optional<Redial> redial(Time) override { throw std::logic_error("asked"); }

 private:
  class Silent : public Session {
   public:
    std::size_t on_bytes(Bytes chunk, Time) override { return chunk.size(); }
    void on_peer_finished(Time) override { finished_ = true; }
    void on_drain(Time) override { finished_ = true; }
    std::size_t output(std::span<Segment>) const override { return 0; }
    bool finished() const override { return finished_; }
    void consumed(std::size_t) override {}
    void released(std::size_t) override {}

   private:
    bool finished_ = false;
  };
};

// Operations of one context have handlers of another one.
TEST_P(AsioEngines, LeaveNothingBehindAfterAnException) {
  const std::string path = "/tmp/joust-asio-" + std::to_string(::getpid());
  const auto where = *resolve("unix:" + path);
  const Fd listener(checked(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
  checked(::bind(listener.get(), where.front().raw(), where.front().size), "bind()");
  checked(::listen(listener.get(), 0), "listen()");
  Thrower service;
  Dialling client(service, "unix:" + path, 6);
  client.options.threads = 3;
  auto run = std::async(std::launch::async, [&] { engine().run(client.hosting, client.stop); });
  Fd(checked(::accept(listener.get(), nullptr, nullptr), "accept()")).close();
  EXPECT_THROW(run.get(), std::logic_error);
  ::unlink(path.c_str());
}

INSTANTIATE_TEST_SUITE_P(Engines, AsioEngines, testing::Values("asio-pool", "asio-coroutines"));

}  // namespace
}  // namespace joust::test
