// SPDX-License-Identifier: MIT
//
// The frames of the engine `coroutines`: how many there are, and that none is left, wherever its coroutines
// wait when a run is ended. The conformance suite tests everything else.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engines/loop/task.hpp"
#include "engines/metronome.hpp"
#include "engines/running.hpp"

namespace joust::test {
namespace {

// Frames belong to the thread of a run, so the run itself has to count them.
std::atomic<std::ptrdiff_t> frames_left;
std::atomic<std::size_t> frames_made;

const Engine& counting_engine() {
  static const Engine engine = [] {
    Engine counting = *find_engine("coroutines");
    counting.run = [](const Hosting& hosting, Stop& stop) {
      const std::ptrdiff_t alive = TaskFrames::alive();
      const std::size_t made = TaskFrames::made();
      find_engine("coroutines")->run(hosting, stop);
      frames_left += TaskFrames::alive() - alive;
      frames_made += TaskFrames::made() - made;
    };
    return counting;
  }();
  return engine;
}

// Echoes, and calls `at_message` with the number of each message, from 0.
class CountedEcho : public Handler {
 public:
  CountedEcho(std::atomic<int>& messages, const std::function<void(int)>& at_message)
      : messages_(messages), at_message_(at_message) {}
  bool on_message(Bytes message, Writer& replies) override {
    at_message_(messages_++);
    replies.send(message);
    return true;
  }

 private:
  std::atomic<int>& messages_;
  const std::function<void(int)>& at_message_;
};

class Coroutines : public testing::Test {
 protected:
  void SetUp() override {
    frames_left = 0;
    frames_made = 0;
    descriptors_ = open_descriptors();
  }
  void TearDown() override { expect_nothing_left(); }

  void expect_nothing_left() const {
    EXPECT_EQ(frames_left, 0);
    EXPECT_EQ(open_descriptors(), descriptors_);
  }
  HandlerService counted_echo(Framing framing = Raw{}) {
    return {framing, [this] { return std::make_unique<CountedEcho>(messages_, at_message_); }};
  }
  // Ends a run at once, so that its coroutines are destroyed where they are.
  static void end(Stop& stop) {
    stop.request();
    stop.request();
  }
  void end_at_each_message(Role role);

  std::atomic<int> messages_ = 0;
  std::function<void(int)> at_message_ = [](int) {};
  std::size_t descriptors_ = 0;
};

TEST_F(Coroutines, AMessageMakesNoFrame) {
  std::size_t made_for_one = 0;
  for (const int messages : {1, 500}) {
    frames_made = 0;
    HandlerService service = echo_service();
    RunningServer server(counting_engine(), service);
    {
      const Fd peer = connect_to(server.address());
      for (int i = 0; i < messages; ++i) {
        send_all(peer, "small");
        EXPECT_EQ(receive(peer, 5), "small");
      }
    }
    server.finish();
    if (messages == 1) made_for_one = frames_made;
    EXPECT_GT(frames_made, 0U);
    EXPECT_EQ(frames_made, made_for_one) << messages << " messages";
  }
}

TEST_F(Coroutines, EndsWhileItAcceptsOnly) {
  HandlerService service = echo_service();
  RunningServer server(counting_engine(), service);
  server.finish_at_once();
}

TEST_F(Coroutines, EndsWhileItReads) {
  HandlerService service = echo_service();
  RunningServer server(counting_engine(), service);
  std::vector<Fd> peers;
  for (int i = 0; i < 20; ++i) {
    peers.push_back(connect_to(server.address()));
    send_all(peers.back(), "x");
    EXPECT_EQ(receive(peers.back(), 1), "x");
  }
  server.finish_at_once();
}

// The peer never reads, so the sender waits for room, and the session takes no more input.
TEST_F(Coroutines, EndsWhileItWrites) {
  HandlerService service = counted_echo(Length4{});
  RunningServer server(counting_engine(), service);
  const Fd peer = connect_to(server.address());
  const std::string frame = std::string("\0\x07\xff\xff", 4) + std::string(0x07ffff, 'x');
  std::thread sender([&] {
    try {
      for (int i = 0; i < 200; ++i) send_all(peer, frame);
    } catch (const std::system_error&) {
      // The server has ended.
    }
  });
  for (int before = 0; before == 0 || before != messages_;) {
    before = messages_;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  server.finish_at_once();
  sender.join();
}

// A listener of TCP with a full backlog lets the connect wait.
TEST_F(Coroutines, EndsWhileItConnects) {
  Fd listener(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
  Endpoint where = resolve("127.0.0.1:0")->front();
  checked(::bind(listener.get(), where.raw(), where.size), "bind()");
  checked(::listen(listener.get(), 0), "listen()");
  checked(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&where.storage), &where.size),
          "getsockname()");
  Metronome service(20, 1);
  Dialling client(service, to_text(where), 20);
  client.limits.connect = std::chrono::seconds(60);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    end(client.stop);
  });
  counting_engine().run(client.hosting, client.stop);
  stopper.join();
}

TEST_F(Coroutines, EndsWhileItsSessionsWaitForADeadline) {
  HandlerService echo = echo_service();
  RunningServer server(counting_engine(), echo);
  Metronome service(10, 1'000'000);
  Dialling client(service, server.address(), 10);
  std::thread stopper([&] {
    while (service.beats_heard < 30) std::this_thread::yield();
    end(client.stop);
  });
  counting_engine().run(client.hosting, client.stop);
  stopper.join();
}

// One side is ended in the handler of message n, for each n until the exchange is over before.
void Coroutines::end_at_each_message(Role role) {
  constexpr int kPeers = 4, kBeats = 6;
  for (int n = 0; n <= kPeers * kBeats; ++n) {
    messages_ = 0;
    std::atomic<Stop*> stop = nullptr;
    at_message_ = [&](int number) {
      if (number == n) end(*stop);
    };
    HandlerService echo = counted_echo();
    RunningServer server(counting_engine(), echo);
    Metronome service(kPeers, kBeats);
    Dialling client(service, server.address(), kPeers);
    stop = role == Role::serve ? &server.stop : &client.stop;
    if (role == Role::serve) client.limits.linger = std::chrono::milliseconds(10);
    counting_engine().run(client.hosting, client.stop);
    server.finish();
    EXPECT_EQ(frames_left, 0) << "ended at message " << n;
  }
}

TEST_F(Coroutines, AServerEndsAtEachMessage) {
  end_at_each_message(Role::serve);
}

TEST_F(Coroutines, AClientEndsAtEachMessage) {
  end_at_each_message(Role::dial);
}

// An exception of the session is thrown inside the receiver, and comes out in the loop.
TEST_F(Coroutines, AnExceptionEndsOneConnectionAndItsFrames) {
  at_message_ = [](int number) {
    if (number == 1) throw std::runtime_error("planted");
  };
  HandlerService service = counted_echo();
  Limits limits;
  limits.linger = std::chrono::milliseconds(10);
  RunningServer server(counting_engine(), service, limits);
  const Fd first = connect_to(server.address());
  send_all(first, "a");
  EXPECT_EQ(receive(first, 1), "a");
  const Fd second = connect_to(server.address());
  send_all(second, "b");
  EXPECT_TRUE(at_end(second));
  send_all(first, "c");
  EXPECT_EQ(receive(first, 1), "c");
  server.finish();
  EXPECT_EQ(server.tally.failures(), 1U);
}

}  // namespace
}  // namespace joust::test
