// SPDX-License-Identifier: MIT
#include "hosts/relay/messages.hpp"

#include <mpi.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace joust::hosts {
namespace {

// Less than a host may take to answer: other ranks wait meanwhile. A body that is under way gets more time.
constexpr Duration kLongestSend = std::chrono::seconds(4), kLongestBody = std::chrono::seconds(8);
constexpr unsigned kLongestLeave_s = 5;

volatile std::sig_atomic_t code_at_alarm = 1;

enum class Progress { under_way, done, failed };

Progress progress_of(MPI_Request& request) {
  int done = 0;
  if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return Progress::failed;
  return done != 0 ? Progress::done : Progress::under_way;
}

// Sleeps a part of the time that has been waited for already, and a millisecond at most.
void pause(Time since) {
  constexpr Duration kShortest = std::chrono::microseconds(20), kLongest = std::chrono::milliseconds(1);
  std::this_thread::sleep_for(std::clamp((Clock::now() - since) / 4, kShortest, kLongest));
}

}  // namespace

// A relay sleeps until bytes come to a socket, so MPI has to use TCP, also between ranks of one machine, and
// whatever else was chosen: in shared memory nothing would wake it.
Messages::Messages() {
  constexpr int kTakesThePlace = 1;
  ::setenv("OMPI_MCA_btl", "self,tcp", kTakesThePlace);
  ::setenv("OMPI_MCA_pml", "ob1", kTakesThePlace);
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  expect_head();
}

// A posted receive, in place of a probe: MPI_Test looks at it once more after it has read from the network,
// and MPI_Iprobe does not.
void Messages::expect_head() {
  MPI_Irecv(&head_, sizeof head_, MPI_BYTE, MPI_ANY_SOURCE, kHead, MPI_COMM_WORLD, &next_);
}

// Returns false if the bytes were not taken in time. A synchronous send is over when the other rank has them:
// a plain one may be over while a part of the bytes waits in this process for the next call of MPI, which a
// relay that sleeps does not make. Meanwhile this rank takes in what comes: the other one may be sending too.
bool Messages::send_bytes(std::string bytes, int to, Tag tag) {
  const std::string& kept = sent_.emplace_back(std::move(bytes));
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Issend(kept.data(), static_cast<int>(kept.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &request) !=
      MPI_SUCCESS)
    return false;
  const Time begin = Clock::now();
  Progress progress = progress_of(request);
  for (; progress == Progress::under_way && Clock::now() < begin + kLongestSend;
       progress = progress_of(request)) {
    take_heads();
    pause(begin);
  }
  if (progress != Progress::done) return false;
  sent_.pop_back();
  return true;
}

bool Messages::send_head(int to, Kind kind, std::size_t bytes) {
  const Head head{.kind = static_cast<std::int32_t>(kind), .bytes = static_cast<std::int32_t>(bytes)};
  std::string text(sizeof head, '\0');
  std::memcpy(text.data(), &head, sizeof head);
  return send_bytes(std::move(text), to, kHead);
}

std::expected<void, std::string> Messages::send(const Frame& frame) {
  if (frame.rank >= size_ || frame.rank == rank_)
    return std::unexpected(fmt::format("there is no rank {} to send to", frame.rank));
  const Kind kind = frame.kind == Frame::Kind::message ? Kind::message : Kind::ended;
  if (send_head(frame.rank, kind, frame.body.size()) &&
      (frame.body.empty() || send_bytes(frame.body, frame.rank, kBody)))
    return {};
  return std::unexpected("its relay takes no messages");
}

bool Messages::reaches(int rank) {
  return send_head(rank, Kind::nothing, 0);
}

void Messages::send_end(int to) {
  send_head(to, Kind::end, 0);
}

void Messages::take_heads() {
  for (;;) {
    int has_come = 0;
    MPI_Status status;
    if (MPI_Test(&next_, &has_come, &status) != MPI_SUCCESS || has_come == 0) return;
    const Head head = head_;
    expect_head();
    expect_body(head, status.MPI_SOURCE);
  }
}

void Messages::expect_body(const Head& head, int from) {
  const Kind kind{head.kind};
  if (kind == Kind::end && from == 0) end_has_come_ = true;
  if (kind != Kind::message && kind != Kind::ended) return;
  Arriving& message = arriving_.emplace_back();
  message.frame = {.kind = kind == Kind::message ? Frame::Kind::message : Frame::Kind::ended, .rank = from};
  message.deadline = Clock::now() + kLongestBody;
  message.is_possible = head.bytes >= 0 && static_cast<std::size_t>(head.bytes) <= kMostMessageBytes;
  if (!message.is_possible || head.bytes == 0) return;
  message.frame.body.resize(static_cast<std::size_t>(head.bytes));
  MPI_Irecv(message.frame.body.data(), head.bytes, MPI_BYTE, from, kBody, MPI_COMM_WORLD, &message.request);
}

std::optional<Frame> Messages::receive() {
  take_heads();
  if (arriving_.empty()) return std::nullopt;
  Arriving& message = arriving_.front();
  const Time begin = Clock::now();
  Progress progress = message.is_possible ? progress_of(message.request) : Progress::failed;
  for (; progress == Progress::under_way && Clock::now() < message.deadline;
       progress = progress_of(message.request)) {
    take_heads();
    pause(begin);
  }
  if (progress != Progress::done) {
    const int from = message.frame.rank;
    given_up_.splice(given_up_.end(), arriving_, arriving_.begin());
    return Frame{.kind = Frame::Kind::ended, .rank = from, .body = "the rest of its message did not come"};
  }
  Frame frame = std::move(message.frame);
  arriving_.pop_front();
  return frame;
}

void Messages::leave(int exit_code) {
  code_at_alarm = exit_code;
  struct sigaction action {};
  action.sa_handler = [](int) { ::_exit(code_at_alarm); };
  ::sigaction(SIGALRM, &action, nullptr);
  ::alarm(kLongestLeave_s);
  MPI_Cancel(&next_);
  MPI_Request_free(&next_);
  MPI_Finalize();
  ::alarm(0);
}

}  // namespace joust::hosts
