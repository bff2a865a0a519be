// SPDX-License-Identifier: MIT
//
// asio-coroutines: Boost.Asio with C++20 coroutines. Each thread (-t) has an io_context of its own, and the
// connections are dealt out to them.
//
//     reader   co_await async_read_some --> session --> write_some, what the socket takes at once
//     writer   co_await async_write_some for the rest, and what others publish; or sleeps
//     keeper   co_await its timer --> deadlines
//
// Good at: being read. A connection is three loops, each in one piece, without a state machine. Bad at: small
// messages. Each co_await costs a pass through the context's queue. Waking the writer costs another pass, and
// two operations of a timer; so the reader sends a reply that the socket takes at once. As in asio-pool, each
// read is tried before it is waited for. A coroutine sleeps on a timer that never expires, and is woken by
// its cancellation: the library has no other event. With one thread for a context no strand is needed.
// asio/peer.hpp determines what is read and written next, for asio-pool too; asio/hub.hpp accepts, dials,
// gathers and stops. Left out on purpose: one coroutine that reads and then writes, as in the library's
// example of an echo server. Two peers that both wait until their output is read would wait for ever.
#include "engines/asio/library.hpp"  // its settings come before other headers of the library

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

#include <exception>
#include <memory>
#include <utility>

#include "engines/asio/hub.hpp"
#include "engines/asio/peer.hpp"
#include "engines/asio/run.hpp"

namespace joust {
namespace {

using AsioTask = asio::awaitable<void, AsioExecutor>;

// A completion token: co_await returns the error with the result, in place of an exception.
constexpr asio::as_tuple_t<asio::deferred_t> kAsioResults;

// Lets a coroutine sleep until it is woken.
class AsioBed {
 public:
  explicit AsioBed(const AsioExecutor& executor) : timer_(executor, Time::max()) {}
  // Returns an awaitable.
  auto sleep() {
    sleeping_ = true;
    return timer_.async_wait(kAsioResults);
  }
  void wake() {
    if (std::exchange(sleeping_, false)) timer_.cancel();
  }

 private:
  AsioTimer timer_;
  bool sleeping_ = false;
};

class AsioCoroutinePeer final : public AsioPeer {
 public:
  AsioCoroutinePeer(AsioHub& hub, AsioSocket socket)
      : AsioPeer(hub, std::move(socket)),
        executor_(this->socket().get_executor()),
        readers_bed_(executor_),
        writers_bed_(executor_),
        timer_(executor_) {
    this->socket().non_blocking(true);
  }

 private:
  AsioTask reader();
  AsioTask writer();
  AsioTask keeper();

  void pass_on(News news, const AsioAllocator<void>& memory) override {
    asio::post(executor_,
               asio::bind_allocator(memory, [this, self = shared_from_this(), news] { hear(news); }));
  }
  void go_on() override;
  void send_at_once();
  void on_closed() noexcept override;
  void spawn(AsioTask (AsioCoroutinePeer::*task)());

  const AsioExecutor executor_;
  AsioBed readers_bed_;
  AsioBed writers_bed_;
  AsioTimer timer_;
  Time wakes_at_ = Time::max();  // the time for which the timer is set
  bool begun_ = false;
  bool reader_sends_ = false;  // when this step is done
};

AsioTask AsioCoroutinePeer::reader() {
  while (is_open()) {
    const Operation operation = begin_read();
    if (operation == Operation::transfer) {
      const auto [error, n] = co_await socket().async_read_some(room(), kAsioResults);
      reader_sends_ = true;
      read(error, n);
      reader_sends_ = false;
      send_at_once();
    } else if (operation == Operation::wait) {
      const auto [error] = co_await socket().async_wait(AsioSocket::wait_read, kAsioResults);
      readable(error);
    } else {
      if (begin_watch())
        socket().async_wait(
            AsioSocket::wait_error,
            asio::bind_cancellation_slot(
                unwatch(), [this, self = shared_from_this()](const AsioError& error) { watched(error); }));
      co_await readers_bed_.sleep();
    }
  }
}

void AsioCoroutinePeer::send_at_once() {
  if (wanted_write() != Operation::transfer) return;
  begin_write();
  AsioError error;
  const std::size_t n = pieces().size() == 1 ? socket().write_some(pieces().front(), error)
                                             : socket().write_some(pieces(), error);
  written(error, n);
}

AsioTask AsioCoroutinePeer::writer() {
  while (is_open()) {
    const Operation operation = begin_write();
    if (operation == Operation::transfer &&
        pieces().size() == 1) {  // send(), which is cheaper than sendmsg()
      const auto [error, n] = co_await socket().async_write_some(pieces().front(), kAsioResults);
      written(error, n);
    } else if (operation == Operation::transfer) {
      const auto [error, n] = co_await socket().async_write_some(pieces(), kAsioResults);
      written(error, n);
    } else if (operation == Operation::wait) {
      const auto [error] = co_await socket().async_wait(AsioSocket::wait_write, kAsioResults);
      writable(error);
    } else {
      co_await writers_bed_.sleep();
    }
  }
}

// Deadlines move with every message, nearly always to later. So the timer expires early, and is set again.
AsioTask AsioCoroutinePeer::keeper() {
  while (is_open()) {
    wakes_at_ = wakes_at();
    timer_.expires_at(wakes_at_);
    const auto [error] = co_await timer_.async_wait(kAsioResults);
    if (!error) deadline_passed();
  }
}

void AsioCoroutinePeer::go_on() {
  if (!std::exchange(begun_, true)) {
    spawn(&AsioCoroutinePeer::reader);
    spawn(&AsioCoroutinePeer::writer);
    return spawn(&AsioCoroutinePeer::keeper);
  }
  if (wants_read()) readers_bed_.wake();
  const Operation write = wanted_write();
  if (write == Operation::wait || (write == Operation::transfer && !reader_sends_)) writers_bed_.wake();
  if (wakes_at() < wakes_at_) timer_.cancel();
}

void AsioCoroutinePeer::on_closed() noexcept {
  readers_bed_.wake();
  writers_bed_.wake();
  timer_.cancel();
}

// The task keeps the peer alive. An exception ends this connection only.
void AsioCoroutinePeer::spawn(AsioTask (AsioCoroutinePeer::*task)()) {
  asio::co_spawn(
      executor_, [this, self = shared_from_this(), task] { return (this->*task)(); },
      [this, self = shared_from_this()](const std::exception_ptr& thrown) {
        try {
          if (thrown) std::rethrow_exception(thrown);
        } catch (const std::exception& error) {
          break_off(error);
        }
      });
}

void run_asio_coroutines(const Hosting& hosting, Stop& stop) {
  run_asio(hosting, stop, hosting.options.threads, [](AsioHub& hub, AsioSocket socket) {
    return std::make_shared<AsioCoroutinePeer>(hub, std::move(socket));
  });
}

}  // namespace

extern const Engine kAsioCoroutines{
    .name = "asio-coroutines",
    .summary = "Boost.Asio: C++20 coroutines, an io_context for each thread",
    .several_loops = true,
    .does_chores = true,
    .threads = "one per context (-t)",
    .wait_errors_ignored = kWaitErrorsIgnored,
    .run = run_asio_coroutines,
};

}  // namespace joust
