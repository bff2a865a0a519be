// SPDX-License-Identifier: MIT
// Needs libuv: libuv not found at build time: script/setup loops && script/build
//
// libuv: the event loop of Node.js; it reads and writes for its user, and calls back with the result.
//
//     uv_run --> for each socket that is ready:  read --> session --> uv_try_write, else uv_write
//        ^                                                                                  |
//        +---- deadlines <---- publications <---- the unfinished <---- written <------------+
//
// Good at: programs for many systems, in the way of Node.js; the library picks the calls of each. It waits
// with epoll on Linux, level-triggered. Bad at: large transfers, because each read takes 64 KiB at most and
// files are copied through user space; timers count in milliseconds. While nothing is wanted from a peer it
// is not read, and so its reset goes unnoticed. The library ends the process if the kernel refuses to wait or
// to watch a socket. Output that the socket takes at once is sent by uv_try_write, and the rest by one
// uv_write, whose memory is the session's until it has been sent. Left out on purpose: uv_listen and
// uv_accept, because without descriptors the library closes those who connect; the listeners are polled
// (uv_poll) and accepted from as elsewhere.
#include <sys/un.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <system_error>

#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/poller.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

constexpr std::size_t kPieces = 16;
constexpr std::size_t kMostWritten = 64 << 10;  // bytes of one write, so that its progress shows
constexpr unsigned kMostSends = 4;              // to one peer, before the others have their turn
constexpr unsigned kMostTurnsOfStop = 100;      // in which a stop reads what has arrived before it

void succeed(int result, const char* call) {
  if (result < 0) throw std::system_error(-result, std::generic_category(), call);
}

class LibuvLoop;

struct UvPeer : LoopPeer {
  using LoopPeer::LoopPeer;

  uv_handle_t* handle() { return reinterpret_cast<uv_handle_t*>(&tcp); }
  uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&tcp); }
  int fd() {
    uv_os_fd_t number = -1;
    ::uv_fileno(handle(), &number);
    return number;
  }

  LibuvLoop* loop = nullptr;
  // The library's handle, from open() to its last call back. A unix socket has one of the other kind.
  union {
    uv_tcp_t tcp{};
    uv_pipe_t pipe;
  };
  bool is_open = false, is_closing = false;
  uv_connect_t connecting{};
  uv_write_t write{};
  std::size_t writing = 0;  // bytes of the write in flight; 0: there is none
  bool reading = false;
  std::uint64_t turn = 0;  // that of the last read,
  std::size_t read = 0;    // and the bytes read in it
};

void open_session(const Hosting& hosting, UvPeer& peer, Time now) {
  open_session(hosting, peer.fd(), peer.connection, now);
}

// A descriptor that is polled. It is closed by the library, later than it is let go.
struct Poll {
  uv_poll_t handle{};
  LibuvLoop* loop = nullptr;
  const Listener* listener = nullptr;
  bool polls = false, is_closing = false;
};

class LibuvLoop : public LoopCore<UvPeer> {
 public:
  using Peer = UvPeer;

  LibuvLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  ~LibuvLoop() override;
  void run();
  using LoopCore::found_work;

 private:
  template <typename Step>
  void on_event(Step&& event) noexcept {
    called_back_.step(*this, event);
  }
  void add_polls(Stop& stop);
  void close_loop();
  Poll& add_poll(int fd, const Listener* listener = nullptr);
  void poll(Poll& poll, bool wanted, uv_poll_cb call);
  void wait();
  static void on_connected(uv_connect_t* request, int status);
  static void on_room(uv_handle_t* handle, std::size_t wanted, uv_buf_t* room);
  static void on_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* bytes);
  static void on_written(uv_write_t* request, int status);

  void open(Peer& peer);
  void connect(Peer& peer) override;
  void tell(Peer& peer, News news) override;
  void serve(Peer& peer) override;
  bool let_go(Peer& peer) override;
  void read(Peer& peer, bool wanted);
  void received(Peer& peer, ssize_t size, const uv_buf_t& bytes);
  void send(Peer& peer);
  bool try_write(Peer& peer);
  void stop_by_and_by();
  void note_plain_files();

  CalledBack called_back_;
  bool was_called_ = false;  // in the last wait
  uv_loop_t loop_{};
  uv_timer_t timer_{};
  std::deque<Poll> polls_;  // the stop, the inbox, the listeners
  std::vector<char> buffer_;
  Queue<Peer> unfinished_;
  std::uint64_t turn_ = 0;
  unsigned turns_of_stop_ = 0;
  bool files_noted_ = false;
};

LibuvLoop& loop_of(const uv_handle_t* handle) {
  return *static_cast<UvPeer*>(handle->data)->loop;
}

LibuvLoop::LibuvLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index), buffer_(hosting.limits.read_bytes) {
  succeed(::uv_loop_init(&loop_), "uv_loop_init()");
  ::uv_timer_init(&loop_, &timer_);
  try {
    add_polls(stop);
  } catch (...) {  // there will be no destructor
    close_loop();
    throw;
  }
}

void LibuvLoop::add_polls(Stop& stop) {
  poll(add_poll(stop.fd()), true, [](uv_poll_t* handle, int, int) {
    Poll& own = *static_cast<Poll*>(handle->data);
    ::uv_poll_stop(handle);  // it stays readable
    own.loop->on_event([&] { own.loop->request_stop(); });
  });
  poll(add_poll(inbox().waker().fd()), true, [](uv_poll_t* handle, int, int) {
    Poll& own = *static_cast<Poll*>(handle->data);
    own.loop->on_event([&] { own.loop->admit_dealt(); });
  });
  for (const Listener* listener : listeners()) add_poll(listener->fd(), listener);
}

// The handles are closed in turns of the loop, and the peers outlive that. What is in flight for them is
// called back as cancelled, which is nobody's failure.
LibuvLoop::~LibuvLoop() {
  for (const auto& peer : peers()) peer->leaving = true;
  close_loop();
}

void LibuvLoop::close_loop() {
  const auto close = [](uv_handle_t* handle, void*) {
    if (::uv_is_closing(handle) == 0) ::uv_close(handle, nullptr);
  };
  ::uv_walk(&loop_, close, nullptr);
  while (::uv_loop_close(&loop_) == UV_EBUSY) ::uv_run(&loop_, UV_RUN_ONCE);
}

Poll& LibuvLoop::add_poll(int fd, const Listener* listener) {
  Poll& made = polls_.emplace_back();
  made.loop = this;
  made.listener = listener;
  made.handle.data = &made;
  succeed(::uv_poll_init(&loop_, &made.handle, fd), "uv_poll_init()");
  return made;
}

void LibuvLoop::poll(Poll& poll, bool wanted, uv_poll_cb call) {
  if (std::exchange(poll.polls, wanted) == wanted) return;
  succeed(wanted ? ::uv_poll_start(&poll.handle, UV_READABLE, call) : ::uv_poll_stop(&poll.handle),
          "uv_poll_start()");
}

void LibuvLoop::run() {
  while (!over()) {
    start_dials(SOCK_NONBLOCK);
    for (Poll& each : polls_)
      if (each.listener != nullptr && !is_stopping())
        poll(each, !accepting_paused(), [](uv_poll_t* handle, int, int) {
          Poll& own = *static_cast<Poll*>(handle->data);
          own.loop->on_event([&] {
            if (!own.loop->accepting_paused()) own.loop->accept_peers(*own.listener, SOCK_NONBLOCK);
          });
        });
    wait();
    resume(unfinished_);
    fire_deadlines();
    pass_publications();
    if (is_stopping()) stop_by_and_by();
    sweep();
  }
}

// A timer of the library counts in whole milliseconds from the time that the loop knows. One that is early
// has the loop wait once more.
void LibuvLoop::wait() {
  ++turn_;
  const bool in_hurry = !unfinished_.empty() || (is_stopping() && !draining() && may_drain());
  const Duration most = in_hurry ? Duration::zero() : next_wait();
  if (most > Duration::zero()) {
    const auto most_ms = std::chrono::ceil<std::chrono::milliseconds>(most).count();
    ::uv_update_time(&loop_);
    // uv_run fires timers before it waits: one that is due by then is gone, and the wait would have no end.
    const auto end_wait = [](uv_timer_t* timer) { ::uv_stop(timer->loop); };
    ::uv_timer_start(&timer_, end_wait, static_cast<std::uint64_t>(most_ms), 0);
    ::uv_run(&loop_, UV_RUN_ONCE);
    ::uv_timer_stop(&timer_);
  } else {
    ::uv_run(&loop_, UV_RUN_NOWAIT);
  }
  was_called_ = called_back_.finish(*this);
}

// During a stop, what has arrived is read before the sessions are asked to finish.
void LibuvLoop::stop_by_and_by() {
  if (draining()) return;
  // Before the listeners are closed: another process may share them, and they would stay in the library's
  // set.
  for (Poll& each : polls_)
    if (each.listener != nullptr && !std::exchange(each.is_closing, true))
      ::uv_close(reinterpret_cast<uv_handle_t*>(&each.handle), nullptr);
  end_accepting(SOCK_NONBLOCK);
  if (!may_drain()) return;
  admit_dealt();
  if (turns_of_stop_++ == 0 || (was_called_ && turns_of_stop_ < kMostTurnsOfStop)) return;
  begin_drain();
}

// The life of a peer.

// Passes the descriptor to the library.
void LibuvLoop::open(Peer& peer) {
  const int fd = peer.socket.get();
  peer.loop = this;
  if (::uv_guess_handle(fd) == UV_NAMED_PIPE) {
    succeed(::uv_pipe_init(&loop_, &peer.pipe, 0), "uv_pipe_init()");
    peer.is_open = true;
    peer.handle()->data = &peer;
    succeed(::uv_pipe_open(&peer.pipe, fd), "uv_pipe_open()");
  } else {
    succeed(::uv_tcp_init(&loop_, &peer.tcp), "uv_tcp_init()");
    peer.is_open = true;
    peer.handle()->data = &peer;
    succeed(::uv_tcp_open(&peer.tcp, fd), "uv_tcp_open()");
  }
  static_cast<void>(peer.socket.release());
}

void LibuvLoop::connect(Peer& peer) {
  if (!peer.is_open) open(peer);
  const Endpoint& to = endpoint_of(peer);
  if (to.family() == AF_UNIX) {
    const auto* const address = reinterpret_cast<const sockaddr_un*>(to.raw());
    return ::uv_pipe_connect(&peer.connecting, &peer.pipe, address->sun_path, on_connected);
  }
  const int result = ::uv_tcp_connect(&peer.connecting, &peer.tcp, to.raw(), on_connected);
  if (result < 0) finish_dial(peer, -result);
}

void LibuvLoop::on_connected(uv_connect_t* request, int status) {
  uv_handle_t* const handle = reinterpret_cast<uv_handle_t*>(request->handle);
  LibuvLoop& loop = loop_of(handle);
  Peer& peer = *static_cast<Peer*>(handle->data);
  loop.on_event([&] {
    if (!peer.leaving) loop.guarded(peer, [&] { loop.finish_dial(peer, -status); });
  });
}

void LibuvLoop::tell(Peer& peer, News news) {
  if (news == News::established && !peer.is_open) open(peer);
  LoopCore::tell(peer, news);
}

// The library closes the descriptor, and calls back what is in flight before that.
bool LibuvLoop::let_go(Peer& peer) {
  if (peer.is_open && !std::exchange(peer.is_closing, true))
    ::uv_close(peer.handle(), [](uv_handle_t* handle) { static_cast<Peer*>(handle->data)->is_open = false; });
  return !peer.is_open;
}

// Reading and writing.

void LibuvLoop::serve(Peer& peer) {
  StreamConnection& connection = *peer.connection;
  send(peer);
  if (connection.ended()) return;
  // uv_shutdown would wait for a write that the peer may never read.
  if (connection.wants_shutdown()) end_stream(peer.fd(), connection, now());
  const bool beyond = peer.turn == turn_ && peer.read >= hosting().limits.read_bytes_per_turn;
  read(peer, connection.wants_input() && !beyond);
  if (beyond && connection.wants_input()) unfinished_.push(peer);
}

void LibuvLoop::read(Peer& peer, bool wanted) {
  if (std::exchange(peer.reading, wanted) == wanted) return;
  succeed(wanted ? ::uv_read_start(peer.stream(), on_room, on_read) : ::uv_read_stop(peer.stream()),
          "uv_read_start()");
}

// The bytes are used before the next read.
void LibuvLoop::on_room(uv_handle_t* handle, std::size_t /*wanted*/, uv_buf_t* room) {
  std::vector<char>& buffer = loop_of(handle).buffer_;
  *room = ::uv_buf_init(buffer.data(), static_cast<unsigned>(buffer.size()));
}

void LibuvLoop::on_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* bytes) {
  Peer& peer = *static_cast<Peer*>(stream->data);
  LibuvLoop& loop = *peer.loop;
  loop.on_event([&] {
    if (size == 0 || peer.leaving) return;  // there was nothing to read
    loop.guarded(peer, [&] { loop.received(peer, size, *bytes); });
    loop.attend(peer);
  });
}

void LibuvLoop::received(Peer& peer, ssize_t size, const uv_buf_t& bytes) {
  StreamConnection& connection = *peer.connection;
  if (size == UV_EOF) {
    peer.reading = false;  // the library has stopped by itself
    // It reports a reset that comes behind bytes as an end too; the socket has the error.
    if (const int error = connect_result(peer.fd()); error != 0)
      return connection.failed({Stage::receive, error, {}}, now());
    return connection.peer_finished(now());
  }
  if (size < 0) return connection.failed({Stage::receive, static_cast<int>(-size), {}}, now());
  const auto count = static_cast<std::size_t>(size);
  peer.read = std::exchange(peer.turn, turn_) == turn_ ? peer.read + count : count;
  if (connection.store()) note_plain_files();
  connection.received(std::as_bytes(std::span(bytes.base, count)), now());
}

void LibuvLoop::send(Peer& peer) {
  for (unsigned sends = 0; peer.writing == 0 && !is_batching() && peer.connection->has_output(); ++sends) {
    if (sends == kMostSends) return unfinished_.push(peer);
    if (peer.connection->source()) note_plain_files();
    if (!try_write(peer)) return;
  }
}

// Sends what the socket takes now, and lets the library write the rest of it. Returns false if the connection
// has failed, or reading a file has, so that there is no output now.
bool LibuvLoop::try_write(Peer& peer) {
  std::array<iovec, kPieces> pieces;
  std::array<uv_buf_t, kPieces> buffers;
  const std::size_t count = peer.connection->output(pieces, now());
  std::size_t bytes = 0, used = 0;
  for (; used < count && bytes < kMostWritten; ++used) {
    const std::size_t size = std::min(pieces[used].iov_len, kMostWritten - bytes);
    buffers[used] = ::uv_buf_init(static_cast<char*>(pieces[used].iov_base), static_cast<unsigned>(size));
    bytes += size;
  }
  if (bytes == 0) return false;
  const int result = ::uv_try_write(peer.stream(), buffers.data(), static_cast<unsigned>(used));
  if (result < 0 && result != UV_EAGAIN) {
    peer.connection->send_failed(-result, now());
    return false;
  }
  std::size_t taken = static_cast<std::size_t>(std::max(result, 0));
  if (taken == bytes) {
    peer.connection->sent(taken, now());
    return true;
  }
  peer.writing = bytes;
  std::size_t first = 0;
  for (; taken >= buffers[first].len; ++first) taken -= buffers[first].len;
  buffers[first].base += taken;
  buffers[first].len -= taken;
  succeed(::uv_write(&peer.write, peer.stream(), &buffers[first], static_cast<unsigned>(used - first),
                     on_written),
          "uv_write()");
  return true;
}

void LibuvLoop::on_written(uv_write_t* request, int status) {
  Peer& peer = *static_cast<Peer*>(request->handle->data);
  LibuvLoop& loop = *peer.loop;
  loop.on_event([&] {
    const std::size_t bytes = std::exchange(peer.writing, 0);
    if (peer.leaving) return;  // cancelled
    loop.guarded(peer, [&] {
      if (status == 0) return peer.connection->sent(bytes, loop.now());
      peer.connection->send_failed(-status, loop.now());
    });
    loop.attend(peer);
  });
}

void LibuvLoop::note_plain_files() {
  if (!std::exchange(files_noted_, true))
    hosting().tally.note("libuv sends and stores files through user space");
}

}  // namespace

extern const Engine kLibuv{
    .name = "libuv",
    .summary = "libuv: the event loop of Node.js, which reads and writes for its user",
    .several_loops = true,
    .does_chores = true,
    .threads = "one per loop (-t)",
    .wait_errors_abort = "libuv ends the process if the kernel refuses to wait, or to watch a socket",
    .resets_unseen = "a peer is not read while nothing is wanted from it",
    .no_file_ring = "libuv reads into a buffer that its user gives",
    .no_file_mapping = "libuv writes from memory",
    .keeps = "libuv keeps a pipe for signals",
    .run = run_loops<LibuvLoop>,
};

}  // namespace joust
