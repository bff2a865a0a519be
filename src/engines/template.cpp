// SPDX-License-Identifier: MIT
//
// template: where a new engine starts. Copy this file, rename it, and change how it waits.
//
//     ppoll --> for each ready socket:  recv --> session --> send
//       ^                                                     |
//       +-------- deadlines <-------- publications <----------+
//
// Good at: being read. Bad at: many connections, because each turn shows the kernel all of them. Left out on
// purpose: several loops (see epoll.cpp), and reading more than once in a turn.
//
// Each step says whether every engine needs it (REQUIRED) or what an engine without it lacks (OPTIONAL).
#include "engines/template.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "engines/loop/loop_core.hpp"
#include "engines/loop/patience.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

constexpr std::size_t kFixed = 3;  // entries before those of the peers: stop, inbox, listener

// OPTIONAL: derive from LoopPeer what your kernel interface must remember of a peer.
using Peer = LoopPeer;

class TemplateLoop {
 public:
  TemplateLoop(const Hosting& hosting, Stop& stop, LoopGroup& group)
      : stop_(stop),
        listener_(hosting.serves() ? hosting.listeners.front() : nullptr),
        patience_(hosting.options.wait),
        buffer_(hosting.limits.read_bytes),
        core_(hosting, stop, group, 0) {}
  void run();

 private:
  void begin_connect(Peer& peer, const Endpoint& to);
  void wait();
  void dispatch();
  void accept_peers();
  void serve(Peer& peer, bool readable);
  void begin_drain();

  Stop& stop_;
  Listener* listener_;  // until the stop
  Patience patience_;
  std::vector<std::byte> buffer_;
  std::vector<pollfd> entries_;
  LoopCore<Peer> core_;
};

// REQUIRED, in this order. Only the steps are yours; their bookkeeping is LoopCore's.
void TemplateLoop::run() {
  const auto serve_peer = [this](Peer& peer) { serve(peer, false); };
  while (!core_.over()) {
    // OPTIONAL: role dial. Without it set .dials = false in the descriptor.
    core_.start_dials(SOCK_NONBLOCK, [this](Peer& peer, const Endpoint& to) { begin_connect(peer, to); });
    wait();
    dispatch();
    core_.fire_deadlines(serve_peer);
    core_.pass_publications(serve_peer);
    core_.sweep();  // last, because entries_ still speaks of peers that have left
  }
}

// OPTIONAL: role dial.
void TemplateLoop::begin_connect(Peer& peer, const Endpoint& to) {
  const int result = ::connect(peer.socket.get(), to.raw(), to.size);
  if (result < 0 && errno == EINPROGRESS) return;  // ppoll will say POLLOUT
  if (core_.finish_dial(peer, result < 0 ? errno : 0)) serve(peer, false);
}

// REQUIRED: sleep until something is ready or core_.due(). OPTIONAL: --wait spin and adaptive,
// by Patience; without them say so in .wait_ignored.
void TemplateLoop::wait() {
  const bool accepts = listener_ != nullptr && !core_.accepting_paused();
  entries_.clear();  // a negative descriptor is passed over
  entries_.push_back({.fd = core_.draining() ? -1 : stop_.fd(), .events = POLLIN, .revents = 0});
  entries_.push_back({.fd = core_.inbox().waker().fd(), .events = POLLIN, .revents = 0});
  entries_.push_back({.fd = accepts ? listener_->fd() : -1, .events = POLLIN, .revents = 0});
  for (const auto& peer : core_.peers()) {
    int events = POLLOUT;  // connecting
    if (peer->connection)
      events =
          (peer->connection->wants_input() ? POLLIN : 0) | (peer->connection->has_output() ? POLLOUT : 0);
    // A peer with nothing to wait for must not wake the loop again and again with its hang-up.
    entries_.push_back(
        {.fd = events != 0 ? peer->socket.get() : -1, .events = static_cast<short>(events), .revents = 0});
  }
  const timespec timeout = to_timespec(patience_.next_wait(core_.due(), core_.now()));
  const int ready = ::ppoll(entries_.data(), entries_.size(), &timeout, nullptr);
  core_.read_clock();
  if (ready > 0) patience_.found_work(core_.now());
}

// REQUIRED: tell each peer what its socket is ready for.
void TemplateLoop::dispatch() {
  for (std::size_t i = kFixed; i < entries_.size(); ++i) {
    if (entries_[i].revents == 0) continue;
    Peer& peer = *core_.peers()[i - kFixed];
    if (peer.connection)
      serve(peer, (entries_[i].revents & ~POLLOUT) != 0);  // an end or an error is read like bytes
    else if (core_.finish_dial(peer, connect_result(peer.socket.get())))
      serve(peer, false);
  }
  if (entries_[1].revents != 0) core_.inbox().take();  // with one loop only to say that it is awake
  if (entries_[2].revents != 0) accept_peers();
  if (entries_[0].revents != 0) begin_drain();
}

// OPTIONAL: role serve. Without it set .serves = false in the descriptor.
void TemplateLoop::accept_peers() {
  core_.accept_peers(*listener_, SOCK_NONBLOCK, [this](Fd socket) {
    Peer& peer = core_.add(std::move(socket));
    core_.open(peer);
    serve(peer, false);  // it may have the first word
  });
}

// REQUIRED: read once if there is something, write what there is, end our direction when the session is done.
// One read is the quota that keeps a fast peer from starving the others: ppoll repeats what is left.
void TemplateLoop::serve(Peer& peer, bool readable) {
  StreamConnection& connection = *peer.connection;
  if (readable && connection.wants_input())
    receive_ready(peer.socket.get(), connection, buffer_, false, core_.now());
  while (connection.has_output() && send_ready(peer.socket.get(), connection, core_.now())) {
  }
  if (connection.wants_shutdown()) end_stream(peer.socket.get(), connection, core_.now());
  core_.settle(peer);
}

// REQUIRED: the stop. Who waits in the queue is let in, what has arrived is answered, then sessions are told.
void TemplateLoop::begin_drain() {
  if (listener_ != nullptr && !core_.accepting_paused()) accept_peers();
  if (listener_ != nullptr) std::exchange(listener_, nullptr)->close();
  core_.end_dealing();  // with several loops the others wait for this before they drain: see epoll.cpp
  core_.begin_drain([this](Peer& peer) { serve(peer, true); });
}

// REQUIRED: may be called again and again, and on several threads at once: no globals.
void run(const Hosting& hosting, Stop& stop) {
  LoopGroup group(1);
  TemplateLoop(hosting, stop, group).run();
}

// REQUIRED: what people and scenarios may ask of the engine; see joust/engine.hpp for what else there is. A
// real engine writes `extern const Engine kName{...}` here, and adds kName to table.cpp instead of the
// function below.
constexpr Engine kTemplate{
    .name = "template",
    .summary = "one loop around ppoll, to start a new engine from",
    .threads = "one",
    .wait_ignored = {},
    .knobs = {},
    .run = run,
};

}  // namespace

const Engine& template_engine() {
  return kTemplate;
}

}  // namespace joust
