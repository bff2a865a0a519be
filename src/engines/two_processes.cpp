// SPDX-License-Identifier: MIT
// Needs Linux: its parent process watches the others through pidfds, which only Linux has
//
// two-processes: every connection has a process that reads and a process that writes. Bytes pass from the
// reader to the writer through a ring in shared memory; the session lives in the writer.
//
//     reader  recv --> ring
//                       |
//     writer  ppoll --> ring --> session --> send
//               ^                             |
//               +-----------------------------+
//
// Good at: reading goes on while the other process computes or sends. Bad at: nearly all else. A message
// needs two processes to run and one more copy: on one core it is slower than any engine with one process.
//
// As a client, all writers are one process, because a load's records are in one: it has a reader for each
// connection. As a server, blocking/parent.cpp forks the writer of each connection, which forks its reader. A
// reader's death fails its connection; that of a writer takes its reader along (PR_SET_PDEATHSIG). What a
// session does not want waits in the ring. Left out on purpose: splice, as a file's bytes come there too.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/signals.hpp"
#include "engines/blocking/blocking_read.hpp"
#include "engines/blocking/parent.hpp"
#include "engines/blocking/reader.hpp"
#include "engines/loop/loop_core.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"
#include "net/socket_options.hpp"

namespace joust {
namespace {

// A peer of the writing process.
struct RingPeer : LoopPeer {
  using LoopPeer::LoopPeer;
  std::unique_ptr<Reader> reader;  // none while connecting
  bool writable = true;            // no send has found the socket full
  bool has_hung_up = false;
  bool connecting = false;  // connect() goes on; its end shows at the socket

  bool has_news() const { return connection && reader->has_news() && connection->wants_input(); }
  bool may_sleep() { return !live() || !connection->wants_input() || reader->may_sleep(); }
  // Returns true if wanted input has arrived, or is on its way through the reader.
  bool awaits_input() const {
    return live() && connection->wants_input() && (reader->has_news() || unread_bytes(socket.get()) > 0);
  }
};

constexpr unsigned kSendsPerTurn = 16;
constexpr Duration kLook = std::chrono::milliseconds(1);  // after a stop, for input on its way
constexpr Duration kMostLooking = std::chrono::milliseconds(100);
constexpr std::size_t kFixed = 2;  // the first entries of ppoll: the stop, the inbox

// The writer of one connection of a server, or of all connections of a client.
class WritingProcess : public LoopCore<RingPeer> {
 public:
  using Peer = RingPeer;
  using LoopCore::LoopCore;
  void run() { run_until(std::atomic<bool>(false)); }
  void prepare(int socket) { prepared_ = std::make_unique<Reader>(socket); }
  void serve_socket(Fd socket, const std::atomic<bool>& ending);  // serves one connection, prepared before

 private:
  // The object that an entry of ppoll after the first ones watches.
  enum class Source : std::uint8_t { ring, socket, process };
  struct Awaited {
    Peer* peer;
    Source source;
  };

  void run_until(const std::atomic<bool>& ending);
  Duration next_wait();
  void wait();
  void add_entries(Peer& peer);
  void dispatch();
  void take_events(Peer& peer, Source source, short events);
  void note_socket(Peer& peer, short events);
  void connect(Peer& peer) override;
  void tell(Peer& peer, News news) override;
  bool take_reader(Peer& peer);
  void serve(Peer& peer) override;
  bool receive(Peer& peer);
  bool flush(Peer& peer);
  bool let_go(Peer& peer) override;
  void stop_by_and_by();

  std::unique_ptr<Reader> prepared_;  // the reader of the connection that is served
  std::vector<pollfd> entries_;
  std::vector<Awaited> awaited_;  // for each entry after the first ones
  Queue<Peer> unfinished_;        // more to take or to send than the turn's quota allows
  std::optional<Time> look_until_;
  unsigned quiet_looks_ = 0;
};

void WritingProcess::serve_socket(Fd socket, const std::atomic<bool>& ending) {
  admit(std::move(socket));
  sweep();  // removes the peer if it has no session
  run_until(ending);
}

void WritingProcess::run_until(const std::atomic<bool>& ending) {
  while (!over() && !ending) {
    start_dials(SOCK_NONBLOCK);
    wait();
    dispatch();
    resume(unfinished_);
    fire_deadlines();
    pass_publications();
    if (stop().requested()) stop_by_and_by();
    sweep();
  }
}

Duration WritingProcess::next_wait() {
  if (!unfinished_.empty()) return Duration::zero();
  for (const auto& peer : peers())
    if (!peer->may_sleep()) return Duration::zero();
  return look_until_ && !draining() ? std::min(kLook, LoopCore::next_wait()) : LoopCore::next_wait();
}

void WritingProcess::wait() {
  const timespec timeout = to_timespec(next_wait());
  entries_.clear();
  awaited_.clear();
  entries_.push_back({.fd = stop().requested() ? -1 : stop().fd(), .events = POLLIN, .revents = 0});
  entries_.push_back({.fd = inbox().waker().fd(), .events = POLLIN, .revents = 0});
  for (const auto& peer : peers()) add_entries(*peer);
  woken(::ppoll(entries_.data(), entries_.size(), &timeout, nullptr), "ppoll()");
}

// While nothing is wanted from the peer, its reader may sleep because the ring is full: only the socket shows
// a reset then. After a reported hang-up the socket is left out, because it would end each further sleep at
// once. (ppoll refuses more entries than a process may have descriptors, so no unused entry is added.)
void WritingProcess::add_entries(Peer& peer) {
  const auto add = [&](Source source, int fd, int events) {
    entries_.push_back({.fd = fd, .events = static_cast<short>(events), .revents = 0});
    awaited_.push_back({&peer, source});
  };
  if (!peer.connection) {
    if (peer.connecting) add(Source::socket, peer.socket.get(), POLLOUT);
    return;
  }
  const bool wants = peer.connection->wants_input();
  if (wants) add(Source::ring, peer.reader->fd(), POLLIN);
  if (!peer.writable || (!wants && !peer.has_hung_up))
    add(Source::socket, peer.socket.get(), peer.writable ? 0 : POLLOUT);
  if (peer.reader->process_fd() >= 0) add(Source::process, peer.reader->process_fd(), POLLIN);
}

// Handles the events of a wait. No peer leaves meanwhile.
void WritingProcess::dispatch() {
  if (entries_[1].revents != 0) admit_dealt();
  for (std::size_t i = 0; i < awaited_.size(); ++i) {
    const Awaited& awaited = awaited_[i];
    const short events = entries_[kFixed + i].revents;
    if (awaited.peer->leaving || (events == 0 && !awaited.peer->has_news())) continue;
    guarded(*awaited.peer, [&] { take_events(*awaited.peer, awaited.source, events); });
  }
}

void WritingProcess::take_events(Peer& peer, Source source, short events) {
  if (!peer.connection) return finish_dial(peer, connect_result(peer.socket.get()));
  if (events != 0 && source == Source::ring) peer.reader->woken();
  if (events != 0 && source == Source::socket) note_socket(peer, events);
  if (events != 0 && source == Source::process)
    if (const int signal = peer.reader->reap(); signal != 0)
      peer.connection->failed({Stage::local, 0, fmt::format("the reading process failed ({})", signal)},
                              now());
  // A reset that the reader has met. While input is wanted, it is reported after the bytes before it.
  if (const int error = peer.reader->ending(); error > 0 && !peer.connection->wants_input())
    peer.connection->failed({Stage::receive, error, {}}, now());
  attend(peer);
}

void WritingProcess::note_socket(Peer& peer, short events) {
  peer.writable = true;
  if ((events & ~POLLOUT) != 0) peer.has_hung_up = true;
  if ((events & POLLERR) == 0 || peer.connection->wants_input()) return;
  if (const int error = connect_result(peer.socket.get()); error != 0)
    peer.connection->failed({Stage::receive, error, {}}, now());
}

void WritingProcess::connect(Peer& peer) {
  const Endpoint& to = endpoint_of(peer);
  const int result = ::connect(peer.socket.get(), to.raw(), to.size);
  peer.connecting = result < 0 && errno == EINPROGRESS;
  if (!peer.connecting) finish_dial(peer, result == 0 ? 0 : errno);
}

void WritingProcess::tell(Peer& peer, News news) {
  if (news != News::established || take_reader(peer)) LoopCore::tell(peer, news);
}

// Returns false if no reader can be made: a dial has failed. A server's reader was prepared before.
bool WritingProcess::take_reader(Peer& peer) {
  set_timeout(peer.socket.get(), SO_SNDTIMEO, kSendTick);  // the socket blocks, for its reader
  try {
    peer.reader = prepared_ ? std::move(prepared_) : std::make_unique<Reader>(peer.socket.get());
  } catch (const std::exception& error) {
    leave(peer);
    const auto [stage, number, why] = failure_of(error);
    const std::string text = fmt::format("{}: {}", hosting().target->name(), why);
    hosting().not_opened({Stage::connect, number, text}, now());
  }
  return peer.reader != nullptr;
}

// The input of one turn is answered by one send, and a peer that sends without end does not delay the others.
void WritingProcess::serve(Peer& peer) {
  const bool has_more = receive(peer);
  if (is_batching()) return;
  if ((flush(peer) || has_more) && !peer.leaving) unfinished_.push(peer);
}

// Passes the content of the ring to the session. Returns true when the quota is used up.
bool WritingProcess::receive(Peer& peer) {
  StreamConnection& connection = *peer.connection;
  const std::uint64_t quota = connection.bytes_received() + hosting().limits.read_bytes_per_turn;
  if (connection.store()) hosting().tally.note("splice is not used: the bytes of a file come through a ring");
  while (connection.wants_input()) {
    if (connection.bytes_received() >= quota) return true;
    const int ending = peer.reader->ending();  // read before the content: bytes are put before the end
    const Bytes content = peer.reader->content();
    if (!content.empty()) {
      const Bytes chunk = content.first(std::min(content.size(), hosting().limits.read_bytes));
      connection.received(chunk, now());
      peer.reader->take(chunk.size());
    } else if (ending == 0) {
      connection.peer_finished(now());
    } else if (ending != Ring::kOpen) {
      connection.failed({Stage::receive, ending, {}}, now());
    } else {
      return false;
    }
  }
  return false;
}

// Returns true when the quota is used up. The socket is blocking, for its reader, and sendfile may wait in it
// for a tick of the kernel. So a client's writer, which serves other peers too, does not use sendfile.
bool WritingProcess::flush(Peer& peer) {
  unsigned sends = 0;
  while (peer.writable && peer.connection->has_output()) {
    if (++sends > kSendsPerTurn) return true;
    const auto& send = hosting().target == nullptr ? send_ready : send_copied;
    peer.writable = send(peer.socket.get(), *peer.connection, now());
  }
  if (peer.connection->wants_shutdown()) end_stream(peer.socket.get(), *peer.connection, now());
  return false;
}

bool WritingProcess::let_go(Peer& peer) {
  peer.reader.reset();  // its copy of the socket would keep the connection open
  return true;
}

// Input that had arrived at the stop may still be on its way through a reader, which cannot be asked. So the
// loop looks until it has found nothing three times in a row, for kMostLooking at most.
void WritingProcess::stop_by_and_by() {
  if (draining()) return;
  if (!look_until_) look_until_ = now() + kMostLooking;
  const bool more = std::ranges::any_of(peers(), [](const auto& peer) { return peer->awaits_input(); });
  quiet_looks_ = more ? 0 : quiet_looks_ + 1;
  if (quiet_looks_ > 2 || now() >= *look_until_) begin_drain();
}

void run(const Hosting& hosting, Stop& stop) {
  const SigpipeBlock block;  // for send_file()
  EngineOptions options = hosting.options;
  options.wait = Wait::block;
  const Hosting writing{.service = hosting.service,
                        .options = options,
                        .limits = hosting.limits,
                        .tally = hosting.tally,
                        .target = hosting.target,
                        .dials = hosting.dials,
                        .vacancies = hosting.vacancies};
  if (!hosting.serves()) return run_loops<WritingProcess>(writing, stop);
  std::optional<LoopGroup> alone;  // exists in a child, like the writer
  std::unique_ptr<WritingProcess> prepared;
  const auto prepare = [&](int socket) {
    prepared = std::make_unique<WritingProcess>(writing, stop, alone.emplace(1), 0);
    prepared->prepare(socket);
  };
  const auto serve = [&](Fd socket, const auto& ending) {
    std::exchange(prepared, nullptr)->serve_socket(std::move(socket), ending);
  };
  ParentProcess(hosting, stop, serve, prepare).run();
}

}  // namespace

extern const Engine kTwoProcesses{
    .name = "two-processes",
    .summary = "a reading and a writing process for every connection, a ring between them",
    .separate_processes = true,
    .files_each = 4,  // its reader's too: the socket, a pidfd, and two to rouse one another
    .own_threads = true,
    .threads = "2 processes per connection",
    .wait_ignored = "its readers sleep in recv, and a spinning writer would keep them from running",
    .not_public = "each connection takes two processes, so strangers could leave none to other programs",
    .no_file_ring = "its reading process receives all bytes into shared memory",
    .unavailable = no_process_descriptors,
    .run = run,
};

}  // namespace joust
