// SPDX-License-Identifier: MIT
//
// asio-pool: Boost.Asio with callbacks. Several threads (-t) run one io_context; a thread that is free runs
// the next handler.
//
//     async_read_some --> read() --> session --> async_write_some --> written() --+
//          ^                                                                      |
//          +---- timers <---- publications, the stop (post) <---------------------+
//
// Good at: programs that use the library anyway; long computations, because other threads go on. Bad at:
// small messages. The library tries each read before it waits, which for a peer that awaits its reply is one
// more system call (EAGAIN), and each handler passes through a queue with a lock. A strand for each
// connection keeps its handlers apart: one at a time, on any thread. Read and write go on at the same time,
// so that no two peers wait for each other to read. For files the library waits for the socket, and sendfile
// or splice moves the bytes: the library's documentation shows this use of native_handle(). asio/peer.hpp
// says what is to be read and written next; asio/hub.hpp accepts, dials, gathers and stops, on a strand of
// its own. Left out on purpose: async_write, which sends all of a buffer before it reports anything to the
// session.
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/asio/hub.hpp"
#include "engines/asio/library.hpp"
#include "engines/asio/peer.hpp"
#include "engines/asio/run.hpp"

namespace joust {
namespace {

class PutOffReads;

// Executor is a strand or, where only one thread runs the context, the executor of the context.
template <typename Executor>
class AsioPoolPeer final : public AsioPeer {
 public:
  AsioPoolPeer(AsioHub& hub, AsioSocket socket, PutOffReads& put_off_reads)
      : AsioPeer(hub, std::move(socket)),
        executor_(this->socket().get_executor()),
        timer_(this->socket().get_executor()),
        put_off_reads_(put_off_reads) {}

  // Begins the read that was put off, unless it has begun since then.
  void read_at_last() {
    read_put_off_ = false;
    if (wants_read()) look_again();
  }

 private:
  void pass_on(News news, const AsioAllocator<void>& memory) override {
    asio::post(executor_,
               asio::bind_allocator(memory, [this, self = shared_from_this(), news] { hear(news); }));
  }
  void go_on() override;
  bool start_write();
  void start_read();
  void put_off_read();
  void set_timer();
  void on_closed() noexcept override { timer_.cancel(); }

  // Returns a handler that runs on the executor and keeps this peer alive.
  template <typename Handler>
  auto here(Handler handler) {
    auto keeping = [self = shared_from_this(), handler](const auto&... results) { handler(results...); };
    if constexpr (std::is_same_v<Executor, AsioStrand>)
      return asio::bind_executor(executor_, std::move(keeping));
    else
      return keeping;
  }
  Executor executor_;
  AsioTimer timer_;
  Time wakes_at_ = Time::max();  // when the timer is to expire
  PutOffReads& put_off_reads_;
  bool read_put_off_ = false;
};

// The reads that are put off in a context that one thread runs. One handler for all of them costs less than
// one for each. A read begins after the handler has passed through the queue at least once: after the results
// that were pending when it was put off. The list does not keep peers alive, and may outlive the context.
class PutOffReads {
 public:
  using Peer = AsioPoolPeer<AsioExecutor>;

  void add(std::weak_ptr<AsioPeer> peer, const AsioExecutor& context) {
    if (!posted_) post(context);
    later_.push_back(std::move(peer));
  }

 private:
  void post(const AsioExecutor& context) {
    asio::post(context, [this, context] { next(context); });
    posted_ = true;
  }

  void next(const AsioExecutor& context) {
    begin_due();
    std::swap(due_, later_);
    posted_ = false;
    if (due_.empty()) return;
    try {
      post(context);
    } catch (const std::bad_alloc&) {
      begin_due();  // too early, which costs a vain try
    }
  }

  void begin_due() {
    for (const auto& entry : due_)
      if (const auto peer = entry.lock()) static_cast<Peer&>(*peer).read_at_last();
    due_.clear();
  }

  std::vector<std::weak_ptr<AsioPeer>> later_, due_;
  bool posted_ = false;
};

template <typename Executor>
void AsioPoolPeer<Executor>::go_on() {
  if (start_write())
    put_off_read();
  else
    start_read();
  if (begin_watch())
    socket().async_wait(
        AsioSocket::wait_error,
        asio::bind_cancellation_slot(unwatch(), here([this](const AsioError& error) { watched(error); })));
  if (wakes_at() < wakes_at_) set_timer();
}

template <typename Executor>
bool AsioPoolPeer<Executor>::start_write() {
  const Operation operation = begin_write();
  const auto handler = [this](const AsioError& error, std::size_t n) { written(error, n); };
  if (operation == Operation::wait)
    socket().async_wait(AsioSocket::wait_write, here([this](const AsioError& error) { writable(error); }));
  else if (operation == Operation::transfer && pieces().size() == 1)  // send(), cheaper than sendmsg()
    socket().async_write_some(pieces().front(), here(handler));
  else if (operation == Operation::transfer)
    socket().async_write_some(pieces(), here(handler));
  return operation != Operation::none;
}

// The result of a write nearly always comes with the next handlers, and go_on() then begins the read. The
// next request may have arrived by that time, which saves the library a vain try. If the socket is full, no
// result comes, and the read must not wait for one. What is posted here runs after the results that are
// pending already.
template <typename Executor>
void AsioPoolPeer<Executor>::put_off_read() {
  if (!wants_read() || read_put_off_) return;
  if constexpr (std::is_same_v<Executor, AsioStrand>)
    asio::post(socket().get_executor(), here([this] { read_at_last(); }));
  else
    put_off_reads_.add(weak_from_this(), executor_);
  read_put_off_ = true;
}

template <typename Executor>
void AsioPoolPeer<Executor>::start_read() {
  const Operation operation = begin_read();
  if (operation == Operation::wait)
    socket().async_wait(AsioSocket::wait_read, here([this](const AsioError& error) { readable(error); }));
  else if (operation == Operation::transfer)
    socket().async_read_some(room(), here([this](const AsioError& error, std::size_t n) {
                               fetch_ahead(this + 1);
                               read(error, n);
                             }));
}

// Deadlines move with every message, nearly always to later. So the timer expires early, and is set again.
template <typename Executor>
void AsioPoolPeer<Executor>::set_timer() {
  wakes_at_ = wakes_at();
  timer_.expires_at(wakes_at_);
  timer_.async_wait(here([this](const AsioError& error) {
    if (error) return;  // cancelled: set to another time
    wakes_at_ = Time::max();
    deadline_passed();
  }));
}

template <typename Executor>
void run_on(const Hosting& hosting, Stop& stop) {
  PutOffReads reads;
  run_asio(hosting, stop, 1, [&](AsioHub& hub, AsioSocket socket) {
    return std::make_shared<AsioPoolPeer<Executor>>(hub, std::move(socket), reads);
  });
}

void run_asio_pool(const Hosting& hosting, Stop& stop) {
  hosting.options.threads == 1 ? run_on<AsioExecutor>(hosting, stop) : run_on<AsioStrand>(hosting, stop);
}

}  // namespace

extern const Engine kAsioPool{
    .name = "asio-pool",
    .summary = "Boost.Asio: callbacks, one io_context run by several threads (-t)",
    .several_loops = true,
    .does_chores = true,
    .threads_share_peers = true,
    .threads = "-t, one io_context",
    .wait_errors_ignored = kWaitErrorsIgnored,
    .run = run_asio_pool,
};

}  // namespace joust
