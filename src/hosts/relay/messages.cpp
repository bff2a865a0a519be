// SPDX-License-Identifier: MIT
#include "hosts/relay/messages.hpp"

#include <mpi.h>
#include <unistd.h>

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <list>
#include <thread>
#include <utility>

namespace joust::hosts {
namespace {

enum Tag : int { kHead = 1, kBody = 2 };  // of MPI

// Less than a host may take to answer: other ranks wait meanwhile. A body that is under way gets more time.
constexpr Duration kLongestSend = std::chrono::seconds(4), kLongestBody = std::chrono::seconds(8);
constexpr unsigned kLongestLeave_s = 5;

volatile std::sig_atomic_t code_at_alarm = 1;

// The bytes of transfers that were given up: MPI may read or write them as long as it runs. A rank gives up
// a few for each other rank at most, because that one counts as lost from then on.
std::list<std::string> given_up;

// Returns whether the transfer was over in time.
bool is_over(MPI_Request& request, Duration patience) {
  constexpr Duration kPause = std::chrono::milliseconds(1);
  const Time deadline = Clock::now() + patience;
  for (int done = 0;;) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
}

// Returns false if the bytes were not taken in time.
bool send_bytes(std::string bytes, int to, int tag) {
  const std::string& kept = given_up.emplace_back(std::move(bytes));
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Isend(kept.data(), static_cast<int>(kept.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &request) !=
          MPI_SUCCESS ||
      !is_over(request, kLongestSend))
    return false;
  given_up.pop_back();
  return true;
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

// Returns nothing if the whole body does not come in time.
std::optional<std::string> Messages::receive_body(int from, std::int32_t bytes) {
  if (bytes <= 0) return std::string();
  std::string& kept = given_up.emplace_back(static_cast<std::size_t>(bytes), '\0');
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(kept.data(), bytes, MPI_BYTE, from, kBody, MPI_COMM_WORLD, &request);
  if (!is_over(request, kLongestBody)) return std::nullopt;
  std::string body = std::move(kept);
  given_up.pop_back();
  return body;
}

std::optional<Frame> Messages::receive() {
  for (;;) {
    int has_come = 0;
    MPI_Status status;
    if (MPI_Test(&next_, &has_come, &status) != MPI_SUCCESS || has_come == 0) return std::nullopt;
    const Head head = head_;
    expect_head();
    const Kind kind{head.kind};
    if (kind == Kind::end && status.MPI_SOURCE == 0) end_has_come_ = true;
    if (kind != Kind::message && kind != Kind::ended) continue;
    const bool is_possible = head.bytes >= 0 && static_cast<std::size_t>(head.bytes) <= kMostMessageBytes;
    auto body = is_possible ? receive_body(status.MPI_SOURCE, head.bytes) : std::nullopt;
    if (!body)
      return Frame{.kind = Frame::Kind::ended,
                   .rank = status.MPI_SOURCE,
                   .body = "the rest of its message did not come"};
    return Frame{.kind = kind == Kind::message ? Frame::Kind::message : Frame::Kind::ended,
                 .rank = status.MPI_SOURCE,
                 .body = std::move(*body)};
  }
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
