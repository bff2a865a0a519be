// SPDX-License-Identifier: MIT
//
// template: where a new engine starts. Copy this file, rename it, and change how it waits.
//
//     epoll_wait --> for each ready socket:  recv --> session --> send
//          ^                                                      |
//          +---- deadlines <---- publications <---- unfinished ---+
//
// Good at: being read. Every duty of docs/howto/add-an-engine.md is fulfilled in this file, at the place that
// bears its number. Bad at: speed, because each change of mind costs a system call. An engine that is told
// when sockets are ready writes less than this: it derives from ReadyLoop (loop/ready_loop.hpp), which has
// the steps below once for all of them; poll.cpp shows that. Left out on purpose: splice.
#include "engines/template.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/check.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

constexpr unsigned kSendsPerTurn = 16;
constexpr int kEventsPerTurn = 256;
constexpr std::uint32_t kEnd = EPOLLHUP | EPOLLERR;

// OPTIONAL: derive from LoopPeer what your kernel interface must remember of a peer.
struct TemplatePeer : LoopPeer {
  using LoopPeer::LoopPeer;
  std::uint32_t watched = 0;  // what the kernel was asked for
  bool readable = false;      // the kernel said so, and the last recv has not come up short
  bool full = false;          // the last send has come up short
  bool hung_up = false;       // the kernel repeats it for as long as it is asked
};

class TemplateLoop : public LoopCore<TemplatePeer> {
 public:
  TemplateLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  std::span<const epoll_event> wait();
  void dispatch(const epoll_event& event);
  void ready(TemplatePeer& peer, std::uint32_t events);
  void connect(TemplatePeer& peer) override;
  void serve(TemplatePeer& peer) override;
  void receive(TemplatePeer& peer);
  void note_plain_files();
  void flush(TemplatePeer& peer);
  void resume_unfinished();
  void stop_by_and_by();
  void watch(TemplatePeer& peer);
  bool let_go(TemplatePeer& peer) override;
  void watch_listeners();
  void control(int operation, int fd, std::uint32_t events, void* tag);

  bool stopping_ = false;
  bool accepting_ = false;          // the listeners are watched
  bool splice_missed_ = false;      // a file was to be filled by the kernel
  Queue<TemplatePeer> unfinished_;  // those whose quota of this turn is used up
  std::vector<std::byte> buffer_;
  std::array<epoll_event, kEventsPerTurn> events_{};
  Fd epoll_{checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1()")};
};

TemplateLoop::TemplateLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index), buffer_(hosting.limits.read_bytes) {
  control(EPOLL_CTL_ADD, stop.fd(), EPOLLIN, &stop);
  control(EPOLL_CTL_ADD, inbox().waker().fd(), EPOLLIN, &inbox());
  for (Listener* const listener : listeners()) control(EPOLL_CTL_ADD, listener->fd(), 0, listener);
}

// REQUIRED, in this order. Only the steps are yours; their bookkeeping is LoopCore's.
void TemplateLoop::run() {
  while (!over()) {
    start_dials(SOCK_NONBLOCK);  // OPTIONAL: role dial. Without it set .dials = false in the descriptor.
    watch_listeners();
    for (const epoll_event& event : wait()) dispatch(event);
    resume_unfinished();
    fire_deadlines();     // duty 11
    pass_publications();  // duty 9
    if (stopping_) stop_by_and_by();
    sweep();  // duty 21; last, because the events of this turn speak of peers that leave
  }
}

// REQUIRED: sleep until something is ready, or next_wait() is over.
std::span<const epoll_event> TemplateLoop::wait() {
  // Duty 12: next_wait() says what --wait asks for. Duty 13: it is long where nothing is due.
  const Duration most = unfinished_.empty() ? next_wait() : Duration::zero();
  const auto most_ms = std::chrono::ceil<std::chrono::milliseconds>(most).count();
  const int ready = ::epoll_wait(epoll_.get(), events_.data(), kEventsPerTurn, static_cast<int>(most_ms));
  const int error = ready < 0 ? errno : 0;
  read_clock();
  // Duty 14: a signal is no event, a shortage no reason to spin, and all else ends the run.
  if (error == ENOMEM) pause_for_shortage();
  if (error != 0 && error != ENOMEM && error != EINTR) checked(ready, "epoll_wait()");
  if (ready > 0) found_work();
  return std::span(events_).first(static_cast<std::size_t>(std::max(ready, 0)));
}

// REQUIRED: tell each part what it is ready for.
void TemplateLoop::dispatch(const epoll_event& event) {
  void* const tag = event.data.ptr;
  if (tag == &stop()) {
    stopping_ = true;
    accepting_ = false;
    for (Listener* const listener : listeners()) control(EPOLL_CTL_DEL, listener->fd(), 0, nullptr);
    return control(EPOLL_CTL_DEL, stop().fd(), 0, nullptr);  // duty 13: it would wake the loop for ever
  }
  if (tag == &inbox()) return admit_dealt();  // another loop has accepted for this one
  for (const Listener* listener : listeners())
    if (tag == listener) return accept_peers(*listener, SOCK_NONBLOCK);  // duty 1
  ready(*static_cast<TemplatePeer*>(tag), event.events);
}

void TemplateLoop::ready(TemplatePeer& peer, std::uint32_t events) {
  if (!peer.connection) return guarded(peer, [&] { finish_dial(peer, connect_result(peer.socket.get())); });
  if ((events & (EPOLLIN | kEnd)) != 0) peer.readable = true;
  if ((events & (EPOLLOUT | kEnd)) != 0) peer.full = false;
  if ((events & kEnd) != 0) peer.hung_up = true;
  // Duty 15: nobody would read the reset of a peer from which nothing is wanted now.
  if ((events & EPOLLERR) != 0 && !peer.connection->wants_input())
    guarded(peer, [&] {
      if (const int error = connect_result(peer.socket.get()); error != 0)
        peer.connection->failed({Stage::receive, error, {}}, now());
    });
  attend(peer);  // duty 17: what serve() throws costs this peer only
}

// OPTIONAL: role dial. Duty 18: report the outcome to finish_dial(), whatever it is. The connect limit, the
// next endpoint and the full queue of a unix socket are LoopCore's. The result of a connect that is in
// progress comes with EPOLLOUT.
void TemplateLoop::connect(TemplatePeer& peer) {
  const Endpoint& to = endpoint_of(peer);
  const int result = ::connect(peer.socket.get(), to.raw(), to.size);
  if (result == 0 || errno != EINPROGRESS) return finish_dial(peer, result == 0 ? 0 : errno);
  watch(peer);
}

// REQUIRED: read, write, end our direction when the session is done. attend() calls it.
void TemplateLoop::serve(TemplatePeer& peer) {
  flush(peer);
  receive(peer);
  if (!peer.connection->ended()) watch(peer);
}

// Duty 4: a fast peer is read from up to its quota, then others have their turn. Duty 5: a session that wants
// nothing is not read for.
void TemplateLoop::receive(TemplatePeer& peer) {
  StreamConnection& connection = *peer.connection;
  const std::uint64_t quota = connection.bytes_received() + hosting().limits.read_bytes_per_turn;
  while (peer.readable && connection.wants_input()) {
    if (connection.bytes_received() >= quota) return unfinished_.push(peer);
    if (connection.store()) note_plain_files();
    peer.readable = receive_ready(peer.socket.get(), connection, buffer_, peer.hung_up, now());
    flush(peer);
  }
}

// Duty 8: OPTIONAL: FilePipe (files/file_io.hpp) moves a file's bytes inside the kernel. An engine that does
// without says so, because the results would otherwise seem to be those of splice.
void TemplateLoop::note_plain_files() {
  if (!std::exchange(splice_missed_, true))
    hosting().tally.note("template: no splice, files are written from the read buffer");
}

// Duty 6: send in order, and end our direction behind the last byte. Duty 7: a fast reader is sent to up to
// its quota. Duty 10: while publications are being gathered nobody is sent a part of them.
void TemplateLoop::flush(TemplatePeer& peer) {
  if (is_gathering()) return;
  unsigned sends = 0;
  while (!peer.full && peer.connection->has_output()) {
    if (++sends > kSendsPerTurn) return unfinished_.push(peer);
    peer.full = !send_ready(peer.socket.get(), *peer.connection, now());
  }
  if (peer.connection->wants_shutdown()) end_stream(peer.socket.get(), *peer.connection, now());
}

void TemplateLoop::resume_unfinished() {
  Queue<TemplatePeer> unfinished;
  unfinished.take_all(unfinished_);
  while (TemplatePeer* peer = unfinished.pop()) attend(*peer);
}

// REQUIRED: the stop. First loop 0 lets in whoever waits in the queue; then each loop answers what has
// arrived, and tells its sessions to finish.
void TemplateLoop::stop_by_and_by() {
  if (draining()) return;
  end_accepting(SOCK_NONBLOCK);  // duty 19
  if (!may_drain()) return;
  admit_dealt();
  for (const auto& peer : peers()) peer->readable = true;  // duty 20: to see what has arrived meanwhile
  begin_drain();
}

// Asks the kernel for what this peer can use now, and for nothing else, or the loop would never sleep
// (duty 13). A hang-up is reported whatever is asked for, again and again; so a peer that has hung up and
// has nothing to wait for is not watched (duty 16).
void TemplateLoop::watch(TemplatePeer& peer) {
  std::uint32_t events = EPOLLOUT;  // connecting
  if (peer.connection)
    events = (peer.connection->wants_input() ? EPOLLIN : 0U) | (peer.full ? EPOLLOUT : 0U) | EPOLLERR;
  if (events == EPOLLERR && peer.hung_up) events = 0;
  if (events == peer.watched) return;
  const int change = peer.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  control(events == 0 ? EPOLL_CTL_DEL : change, peer.socket.get(), events, &peer);
  peer.watched = events;
}

// Duty 21: where another process has a copy of the socket (a child has one until it calls exec), close()
// alone would leave the watch in place, and with it the address of a peer that is gone.
bool TemplateLoop::let_go(TemplatePeer& peer) {
  if (peer.watched != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer.socket.get(), nullptr);
  return true;
}

// Duty 2: a name may stand for several addresses. Duty 3: a queue that must not be emptied now, for want of
// descriptors, must not wake the loop either. To change a watch takes no memory of the kernel.
void TemplateLoop::watch_listeners() {
  const bool accepts = !stopping_ && !listeners().empty() && !accepting_paused();
  if (listeners().empty() || accepting_ == accepts) return;
  for (Listener* const listener : listeners())
    control(EPOLL_CTL_MOD, listener->fd(), accepts ? EPOLLIN : 0U, listener);
  accepting_ = accepts;
}

void TemplateLoop::control(int operation, int fd, std::uint32_t events, void* tag) {
  epoll_event event{.events = events, .data = {.ptr = tag}};
  checked(::epoll_ctl(epoll_.get(), operation, fd, &event), "epoll_ctl({}, {})", operation, fd);
}

// REQUIRED: what people and scenarios may ask of the engine; see engines/engine.hpp for what else there is.
// run() may be called again and again, and on several threads at once: no globals. A real engine writes
// `extern const Engine kName{...}` here, and adds kName to table.cpp instead of the function below.
constexpr Engine kTemplate{
    .name = "template",
    .summary = "one loop around epoll_wait, to start a new engine from",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .run = run_loops<TemplateLoop>,
};

}  // namespace

const Engine& template_engine() {
  return kTemplate;
}

}  // namespace joust
