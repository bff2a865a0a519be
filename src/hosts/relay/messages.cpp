// SPDX-License-Identifier: MIT
#include "hosts/relay/messages.hpp"

#include <mpi.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace joust::hosts {
namespace {

// Less than a host may take to answer (10 s), and more than a busy machine lets a process wait. A message
// with a body gets more time.
constexpr Duration kLongestSend = std::chrono::seconds(8), kLongestBody = std::chrono::seconds(9);
// Sent at the same time: so many messages, and so many bytes before another one is begun.
constexpr std::size_t kMostSending = 64, kMostSendingBytes = kMostMessageBytes;
constexpr unsigned kLongestLeave_s = 5;

volatile std::sig_atomic_t code_at_alarm = 1;

}  // namespace

// A relay sleeps until bytes come to a socket, so MPI has to use TCP, also between ranks of one machine, and
// whatever else was chosen: in shared memory nothing would wake it. And a send has to be over only when the
// kernel has all of its bytes. Without "put" that is so: with it, MPI may keep the last word of a long
// message.
Messages::Messages() {
  constexpr int kTakesThePlace = 1;
  ::setenv("OMPI_MCA_btl", "self,tcp", kTakesThePlace);
  ::setenv("OMPI_MCA_pml", "ob1", kTakesThePlace);
  ::setenv("OMPI_MCA_btl_tcp_flags", "send,inplace,need-ack,need-csum", kTakesThePlace);
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  expect_head();
}

bool Messages::has_room() const {
  std::size_t bytes = 0;
  for (const Transfer& one : sending_) bytes += one.body.size();
  return sending_.size() + ends_.size() < kMostSending && bytes < kMostSendingBytes;
}

void Messages::send(Frame frame) {
  const auto end_of = [&](std::string why) {
    ends_.push_back({.kind = Frame::Kind::ended, .rank = frame.rank, .body = std::move(why)});
  };
  if (frame.rank < 0 || frame.rank >= size_ || frame.rank == rank_)
    return end_of(fmt::format("there is no rank {} to send to", frame.rank));
  if (const auto lost = lost_.find(frame.rank); lost != lost_.end()) return end_of(lost->second);
  constexpr std::array kinds{Kind::message, Kind::ended, Kind::interrupt};  // by Frame::Kind
  begin(frame.rank, kinds[static_cast<std::size_t>(frame.kind)], std::move(frame.body));
}

void Messages::probe(int rank) {
  if (!is_lost(rank)) begin(rank, Kind::nothing, {});
}

void Messages::send_end(int to) {
  if (!is_lost(to)) begin(to, Kind::end, {});
}

// A synchronous send is over when the other rank expects the bytes, and the kernel has them. A plain one may
// be over while they wait in this process for the next call of MPI, which a relay that sleeps does not make.
void Messages::begin(int to, Kind kind, std::string body) {
  Transfer& made = sending_.emplace_back();
  made.rank = to;
  made.kind = kind;
  made.head = {.kind = static_cast<std::int32_t>(kind), .bytes = static_cast<std::int32_t>(body.size())};
  made.body = std::move(body);
  made.deadline = Clock::now() + (made.body.empty() ? kLongestSend : kLongestBody);
  made.is_possible = MPI_Issend(&made.head, sizeof made.head, MPI_BYTE, to, kHead, MPI_COMM_WORLD,
                                &made.requests[0]) == MPI_SUCCESS;
  if (made.body.empty() || !made.is_possible) return;
  made.is_possible = MPI_Issend(made.body.data(), made.head.bytes, MPI_BYTE, to, kBody, MPI_COMM_WORLD,
                                &made.requests[1]) == MPI_SUCCESS;
}

Messages::Progress Messages::progress_of(Transfer& transfer) {
  if (!transfer.is_possible) return Progress::failed;
  int done = 0;
  if (MPI_Testall(static_cast<int>(transfer.requests.size()), transfer.requests.data(), &done,
                  MPI_STATUSES_IGNORE) != MPI_SUCCESS)
    return Progress::failed;
  if (done != 0) return Progress::done;
  return Clock::now() < transfer.deadline ? Progress::under_way : Progress::failed;
}

void Messages::lose(const Transfer& transfer) {
  const char* const why = transfer.kind == Kind::nothing ? "its relay has ended, or cannot be reached"
                                                         : "its relay takes no messages";
  if (lost_.emplace(transfer.rank, why).second)
    ends_.push_back({.kind = Frame::Kind::ended, .rank = transfer.rank, .body = why});
}

void Messages::move_sends() {
  for (auto next = sending_.begin(); next != sending_.end();) {
    const auto one = next++;
    const Progress progress = progress_of(*one);
    if (progress == Progress::done) sending_.erase(one);
    if (progress != Progress::failed) continue;
    lose(*one);
    given_up_.splice(given_up_.end(), sending_, one);
  }
}

// A posted receive, in place of a probe: MPI_Test looks at it once more after it has read from the network,
// and MPI_Iprobe does not.
void Messages::expect_head() {
  MPI_Irecv(&head_, sizeof head_, MPI_BYTE, MPI_ANY_SOURCE, kHead, MPI_COMM_WORLD, &next_);
}

// Another rank may announce bodies that it never sends, and each takes memory here until its deadline.
bool Messages::has_room_for_arrivals() const {
  std::size_t bytes = 0;
  for (const Transfer& one : arriving_) bytes += one.body.size();
  return arriving_.size() < kMostSending && bytes < kMostSendingBytes;
}

void Messages::take_heads() {
  while (has_room_for_arrivals()) {
    if (next_ == MPI_REQUEST_NULL) expect_head();
    int has_come = 0;
    MPI_Status status;
    if (MPI_Test(&next_, &has_come, &status) != MPI_SUCCESS || has_come == 0) return;
    heard_.insert(status.MPI_SOURCE);
    expect_body(head_, status.MPI_SOURCE);
  }
}

void Messages::expect_body(const Head& head, int from) {
  const Kind kind{head.kind};
  if (kind == Kind::end && from == 0) end_has_come_ = true;
  if (kind == Kind::interrupt && from == 0) interrupt_has_come_ = true;
  if ((kind != Kind::message && kind != Kind::ended) || is_lost(from)) return;
  Transfer& made = arriving_.emplace_back();
  made.rank = from;
  made.kind = kind;
  made.deadline = Clock::now() + kLongestBody;
  made.is_possible = head.bytes >= 0 && static_cast<std::size_t>(head.bytes) <= kMostMessageBytes;
  if (!made.is_possible || head.bytes == 0) return;
  made.body.resize(static_cast<std::size_t>(head.bytes));
  made.is_possible = MPI_Irecv(made.body.data(), head.bytes, MPI_BYTE, from, kBody, MPI_COMM_WORLD,
                               &made.requests[1]) == MPI_SUCCESS;
}

// Returns the first message, if it is whole. Those of other ranks wait for it, and for its deadline at most.
std::optional<Frame> Messages::arrived() {
  if (arriving_.empty()) return std::nullopt;
  Transfer& first = arriving_.front();
  const Progress progress = progress_of(first);
  if (progress == Progress::under_way) return std::nullopt;
  Frame frame{.kind = Frame::Kind::ended, .rank = first.rank, .body = "the rest of its message did not come"};
  if (progress == Progress::failed) {
    lost_.emplace(first.rank, frame.body);
    given_up_.splice(given_up_.end(), arriving_, arriving_.begin());
    return frame;
  }
  if (first.kind == Kind::message) frame.kind = Frame::Kind::message;
  frame.body = std::move(first.body);
  arriving_.pop_front();
  return frame;
}

std::optional<Frame> Messages::receive() {
  move_sends();
  auto frame = arrived();
  take_heads();  // at last: MPI may have read a head meanwhile
  if (frame || ends_.empty()) return frame;
  frame = std::move(ends_.front());
  ends_.pop_front();
  return frame;
}

void Messages::leave(int exit_code) {
  code_at_alarm = exit_code;
  struct sigaction action {};
  action.sa_handler = [](int) { ::_exit(code_at_alarm); };
  ::sigaction(SIGALRM, &action, nullptr);
  ::alarm(kLongestLeave_s);
  if (next_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&next_);
    MPI_Request_free(&next_);
  }
  MPI_Finalize();
  ::alarm(0);
}

}  // namespace joust::hosts
