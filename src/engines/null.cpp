// SPDX-License-Identifier: MIT
//
// null: no sockets. Client and server sessions are in one process and exchange bytes directly.
//
//     for each pair:  client output --> server session;  server output --> client session
//
// Good for: measuring the cost of joust itself. Its throughput with a load is the ceiling of that load: near
// this ceiling the load generator is the bottleneck. Only the operating system is left out: sessions,
// framing, verification, schedules, clock and histogram all run. It cuts no messages, loses nothing and waits
// only for deadlines.
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/system/events.hpp"
#include "connection/stream_connection.hpp"
#include "connection/tally.hpp"
#include "connection/timer_queue.hpp"
#include "engines/engine.hpp"
#include "engines/loop/dials.hpp"
#include "engines/loop/waiting.hpp"
#include "net/stop.hpp"

namespace joust {
namespace {

constexpr std::size_t kPairsPerTurn = 512;  // they share one time stamp, as the sockets of one epoll_wait do

struct Pair : Timed {
  std::unique_ptr<Session> client;
  std::unique_ptr<Session> server;
  bool client_told = false;  // the client knows that the other side has finished
  bool server_told = false;

  bool over() const { return client_told && server_told; }
};

constexpr std::size_t kReadAtOnce = 64 << 10;  // bytes of a file

// Passes one segment on, or as much of it as `to` takes now. Files are read through a buffer and not kept.
std::size_t carry_segment(const Segment& segment, Session& from, Session& to, Time now) {
  if (!segment.in_file()) return deliver(segment.bytes, to, now);
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kReadAtOnce);
  const FileRange& range = segment.file;
  const auto read =
      range.file->read_at(range.offset, {buffer.get(), std::min<std::uint64_t>(range.size, kReadAtOnce)});
  if (!read || *read == 0)
    from.files()->on_source_failed(read ? 0 : read.error(), now);
  else
    return deliver({buffer.get(), *read}, to, now);
  return 0;
}

// Passes on all output of `from` that `to` wants. Returns true when something moved.
bool carry(Session& from, Session& to, bool& told, std::atomic<std::uint64_t>& bytes, Time now) {
  std::array<Segment, 16> segments;
  bool moved = false;
  while (const std::size_t count = from.output(segments)) {
    const bool unheard = to.finished() && to.want() == Want::nothing;
    std::uint64_t taken = 0;
    for (const Segment& segment : std::span(segments).first(count)) {
      if (segment.in_file() && &segment != segments.data())
        break;  // the failed range is the first of the output
      const std::uint64_t part = unheard ? segment.size() : carry_segment(segment, from, to, now);
      taken += part;
      if (part < segment.size()) break;
    }
    if (taken == 0 && !segments[0].in_file()) break;
    if (taken == 0 && to.want() == Want::nothing) break;
    from.consumed(taken);
    from.released(taken);
    bytes.fetch_add(taken, std::memory_order_relaxed);
    moved = true;
  }
  if (told || !from.finished() || from.output(segments) > 0) return moved;
  to.on_peer_finished(now);
  return told = true;
}

// A service's publications, and the count that its sessions know.
class Published {
 public:
  Published(Service& service, Waker& waker) : publications_(service.publications()), waker_(waker) {
    if (publications_ != nullptr) publications_->subscribe(waker_);
  }
  ~Published() {
    if (publications_ != nullptr) publications_->unsubscribe(waker_);
  }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  // Returns true once after each change of the count.
  bool news() {
    const std::uint64_t count = publications_ != nullptr ? publications_->count() : 0;
    return std::exchange(told_, count) != count;
  }

 private:
  Publications* const publications_;
  Waker& waker_;
  std::uint64_t told_ = 0;
};

class NullRun {
 public:
  NullRun(const Hosting& hosting, Stop& stop)
      : hosting_(hosting), stop_(stop), wait_strategy_(Wait::block, hosting.options.paced) {}

  void run() {
    for (std::size_t i = 0; i < hosting_.dials; ++i) open();
    while (!pairs_.empty() && !stop_.at_once()) {
      if (stop_.requested()) drain();
      if (to_clients_.news()) tell(&Pair::client);
      if (to_servers_.news()) tell(&Pair::server);
      bool moved = false;
      for (std::size_t first = 0; first < pairs_.size(); first += kPairsPerTurn)
        moved |= turn(std::span(pairs_).subspan(first, std::min(kPairsPerTurn, pairs_.size() - first)));
      std::erase_if(pairs_, [this](const auto& pair) { return remove_ended(*pair); });
      while (vacancies_.take(Clock::now())) open();
      moved |= fire_deadlines();
      if (!moved) rest();
    }
  }

 private:
  void open() {
    auto pair = std::make_unique<Pair>();
    pair->client = hosting_.service.open({});
    pair->server = hosting_.answering->open({});
    hosting_.tally.opened.fetch_add(1);
    pair->server->on_open(Clock::now());
    pair->client->on_open(Clock::now());
    pairs_.push_back(std::move(pair));
  }

  void tell(const std::unique_ptr<Session> Pair::*side) {
    const Time now = Clock::now();
    for (const auto& pair : pairs_) ((*pair).*side)->on_published(now);
  }

  bool turn(std::span<std::unique_ptr<Pair>> pairs) {
    const Time now = Clock::now();
    bool moved = false;
    for (const auto& pair : pairs) {
      moved |= carry(*pair->client, *pair->server, pair->server_told, hosting_.tally.sent, now);
      moved |= carry(*pair->server, *pair->client, pair->client_told, hosting_.tally.received, now);
      for (const Session* session : {pair->client.get(), pair->server.get()})
        if (const auto due = session->deadline()) timers_.arm(*pair, *due);
    }
    return moved;
  }

  bool remove_ended(Pair& pair) {
    if (!pair.over()) return false;
    timers_.remove(pair);
    if (!draining_) vacancies_.add();
    return true;
  }

  bool fire_deadlines() {
    const Time now = Clock::now();
    bool fired = false;
    due_.clear();  // collects all first: deadlines that become due meanwhile belong to the next turn
    while (Timed* due = timers_.pop_due(now)) due_.push_back(due);
    for (Timed* due : due_) {
      Pair& pair = static_cast<Pair&>(*due);
      for (Session* session : {pair.client.get(), pair.server.get()}) {
        const auto deadline = session->deadline();
        if (!deadline || now < *deadline) continue;
        session->on_deadline(now);
        fired = true;
      }
      for (const Session* session : {pair.client.get(), pair.server.get()})
        if (const auto deadline = session->deadline()) timers_.arm(pair, *deadline);
    }
    return fired;
  }

  // A stop ends the load, not the server, which answers what is in flight and ends when its peer has
  // finished.
  void drain() {
    if (std::exchange(draining_, true)) return;
    vacancies_.abandon();
    const Time now = Clock::now();
    for (const auto& pair : pairs_) pair->client->on_drain(now);
  }

  void rest() {
    const Time now = Clock::now();
    const timespec timeout = to_timespec(wait_strategy_.next_wait(timers_.next(), now));
    std::array<pollfd, 2> events{pollfd{stop_.fd(), POLLIN, 0}, pollfd{waker_.fd(), POLLIN, 0}};
    if (stop_.requested()) events[0].fd = -1;
    ::ppoll(events.data(), events.size(), &timeout, nullptr);
    waker_.clear();
  }

  const Hosting& hosting_;
  Stop& stop_;
  const WaitStrategy wait_strategy_;
  bool draining_ = false;
  Waker waker_;
  Published to_clients_{hosting_.service, waker_};
  Published to_servers_{*hosting_.answering, waker_};
  TimerQueue timers_;
  std::vector<Timed*> due_;
  Vacancies vacancies_{hosting_.service, 0};
  std::vector<std::unique_ptr<Pair>> pairs_;
};

void run(const Hosting& hosting, Stop& stop) {
  NullRun(hosting, stop).run();
}

}  // namespace

extern const Engine kNull{
    .name = "null",
    .summary = "no sockets: the service answers in this process; the ceiling of a load",
    .serves = false,
    .dials = true,
    .in_process = true,
    .threads = "one",
    .wait_ignored = "there is nothing to wait for but deadlines",
    .no_file_ring = "it has no sockets",
    .knobs = {},
    .run = run,
};

}  // namespace joust
