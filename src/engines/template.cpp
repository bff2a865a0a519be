// SPDX-License-Identifier: MIT
// Needs Linux.
//
// template: the starting point of a new engine. Copy this file, rename it, and change how it waits.
//
//     epoll_wait --> for each ready socket:  recv --> session --> send
//          ^                                                      |
//          +---- deadlines <---- publications <---- unfinished ---+
//
// Good at: being read. Each duty of docs/howto/add-an-engine.md is marked by its number where it is
// fulfilled. Bad at: speed, because each change of interest costs a system call. An engine for a readiness
// interface needs less code than this: it derives from ReadyLoop (loop/ready.hpp), which implements the
// steps below; poll.cpp is an example. Left out on purpose: splice.
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

// OPTIONAL: derive from LoopPeer and add the state that your kernel interface needs for a peer.
struct TemplatePeer : LoopPeer {
  using LoopPeer::LoopPeer;
  std::uint32_t watched = 0;  // the events watched
  bool readable = false;      // reported by the kernel, and no recv has come up short since
  bool full = false;          // the last send has come up short
  bool hung_up = false;       // the kernel reports it at every wait
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
  void stop_by_and_by();
  void watch(TemplatePeer& peer);
  bool let_go(TemplatePeer& peer) override;
  void watch_listeners();
  void control(int operation, int fd, std::uint32_t events, void* tag);

  bool stopping_ = false;
  bool accepting_ = false;          // the listeners are watched
  bool splice_missed_ = false;      // splice could have filled a file
  Queue<TemplatePeer> unfinished_;  // peers that have used up this turn's quota
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

// REQUIRED, in this order. LoopCore does the bookkeeping of the steps.
void TemplateLoop::run() {
  while (!over()) {
    start_dials(SOCK_NONBLOCK);  // OPTIONAL: role dial. Without it set .dials = false in the descriptor.
    watch_listeners();
    for (const epoll_event& event : wait()) dispatch(event);
    resume(unfinished_);
    fire_deadlines();     // duty 11
    pass_publications();  // duty 9
    if (stopping_) stop_by_and_by();
    sweep();  // duty 21; last, because events of this turn may refer to peers that leave
  }
}

// REQUIRED: sleep until something is ready, or next_wait() has passed.
std::span<const epoll_event> TemplateLoop::wait() {
  // Duty 12: next_wait() follows --wait. Duty 13: it is long when nothing is due.
  const Duration most = unfinished_.empty() ? next_wait() : Duration::zero();
  const auto most_ms = std::chrono::ceil<std::chrono::milliseconds>(most).count();
  const int ready = ::epoll_wait(epoll_.get(), events_.data(), kEventsPerTurn, static_cast<int>(most_ms));
  const int error = ready < 0 ? errno : 0;
  read_clock();
  // Duty 14: a signal is not an event; a shortage must not make the loop spin; any other error ends the run.
  if (error == ENOMEM) pause_for_shortage();
  if (error != 0 && error != ENOMEM && error != EINTR) checked(ready, "epoll_wait()");
  if (ready > 0) found_work(static_cast<std::size_t>(ready));
  return std::span(events_).first(static_cast<std::size_t>(std::max(ready, 0)));
}

// REQUIRED: pass each event to its owner.
void TemplateLoop::dispatch(const epoll_event& event) {
  void* const tag = event.data.ptr;
  if (tag == &stop()) {
    stopping_ = true;
    accepting_ = false;
    for (Listener* const listener : listeners()) control(EPOLL_CTL_DEL, listener->fd(), 0, nullptr);
    return control(EPOLL_CTL_DEL, stop().fd(), 0, nullptr);  // duty 13: it stays readable for ever
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
  // Duty 15: while nothing is wanted from a peer, no read would report its reset.
  if ((events & EPOLLERR) != 0 && !peer.connection->wants_input())
    guarded(peer, [&] {
      if (const int error = connect_result(peer.socket.get()); error != 0)
        peer.connection->failed({Stage::receive, error, {}}, now());
    });
  attend(peer);  // duty 17: an exception of serve() ends only this peer
}

// OPTIONAL: role dial. Duty 18: report every result to finish_dial(). LoopCore handles the connect limit, the
// next endpoint and a unix socket's full backlog. The result of a connect in progress comes with EPOLLOUT.
void TemplateLoop::connect(TemplatePeer& peer) {
  const Endpoint& to = endpoint_of(peer);
  const int result = ::connect(peer.socket.get(), to.raw(), to.size);
  if (result == 0 || errno != EINPROGRESS) return finish_dial(peer, result == 0 ? 0 : errno);
  watch(peer);
}

// REQUIRED: read, write, and shut down our direction when the session has finished. attend() calls it.
void TemplateLoop::serve(TemplatePeer& peer) {
  flush(peer);
  receive(peer);
  if (!peer.connection->ended()) watch(peer);
}

// Duty 4: a fast peer is read up to its quota, then the others have their turn. Duty 5: no read while the
// session wants nothing.
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

// Duty 8: OPTIONAL: FileInput (files/file_input.hpp) moves a file's bytes inside the kernel or through a
// ring. An engine without it adds a note, because the results would otherwise seem to be those of splice, and
// its descriptor says why it has no ring.
void TemplateLoop::note_plain_files() {
  if (!std::exchange(splice_missed_, true))
    hosting().tally.note("template: no splice, files are written from the read buffer");
}

// Duty 6: send in order, and shut down our direction after the last byte. Duty 7: a fast reader gets a
// bounded number of sends. Duty 10: while publications are being gathered, nothing is sent.
void TemplateLoop::flush(TemplatePeer& peer) {
  if (is_batching()) return;
  unsigned sends = 0;
  while (!peer.full && peer.connection->has_output()) {
    if (++sends > kSendsPerTurn) return unfinished_.push(peer);
    peer.full = !send_ready(peer.socket.get(), *peer.connection, now());
  }
  if (peer.connection->wants_shutdown()) end_stream(peer.socket.get(), *peer.connection, now());
}

// REQUIRED: the stop. First loop 0 accepts the peers left in the queue; then each loop answers the requests
// that have arrived, and tells its sessions to finish.
void TemplateLoop::stop_by_and_by() {
  if (draining()) return;
  end_accepting(SOCK_NONBLOCK);  // duty 19
  if (!may_drain()) return;
  admit_dealt();
  for (const auto& peer : peers()) peer->readable = true;  // duty 20: to read what has arrived
  begin_drain();
}

// Watches only the events that this peer can use now, or the loop would never sleep (duty 13). The kernel
// always reports a hang-up, so a peer that has hung up and has no interest is not watched (duty 16).
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

// Duty 21: close() ends the watch only if no other process has a copy of the socket (a child has one until
// exec). Otherwise the watch would keep the address of the destroyed peer.
bool TemplateLoop::let_go(TemplatePeer& peer) {
  if (peer.watched != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer.socket.get(), nullptr);
  return true;
}

// Duty 2: a host name may have several addresses. Duty 3: while accepting is paused, for example without
// descriptors, the queue must not wake the loop. Changing a watch allocates no kernel memory.
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

// REQUIRED: the descriptor; engines/engine.hpp lists the other fields. run() may be called repeatedly, and on
// several threads at once: no globals. A real engine writes `extern const Engine kName{...}` here, and adds
// kName to table.cpp in place of the function below.
constexpr Engine kTemplate{
    .name = "template",
    .summary = "one loop around epoll_wait, to start a new engine from",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .no_file_ring = "it has recv only",
    .run = run_loops<TemplateLoop>,
};

}  // namespace

const Engine& template_engine() {
  return kTemplate;
}

}  // namespace joust
