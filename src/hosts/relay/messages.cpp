// SPDX-License-Identifier: MIT
#include "hosts/relay/messages.hpp"

#include <mpi.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <list>
#include <thread>
#include <utility>

namespace joust::hosts {
namespace {

// Tags of MPI.
enum Tag : int { kMessage = 1, kEnded = 2, kEnd = 3, kNothing = 4 };

// Less than a host may take to answer: other ranks wait meanwhile.
constexpr Duration kLongestSend = std::chrono::seconds(4);
constexpr unsigned kLongestLeave_s = 5;
constexpr std::size_t kLeastBytes = 1;  // of a message: it begins with a byte, because a body may be empty

volatile std::sig_atomic_t code_at_alarm = 1;

// The bytes of messages that were given up: MPI may read or write them as long as it runs. A rank gives up
// one for each other rank at most, because that one counts as lost from then on.
std::list<std::string> given_up;

// Sends bytes that outlive the call only if it succeeds. Returns false if they were not taken in time.
bool send_bytes(const std::string& bytes, int to, int tag) {
  constexpr Duration kPause = std::chrono::milliseconds(1);
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &request) !=
      MPI_SUCCESS)
    return false;
  const Time deadline = Clock::now() + kLongestSend;
  for (int done = 0;;) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

Messages::Messages() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

std::expected<void, std::string> Messages::send(const Frame& frame) {
  if (frame.rank >= size_ || frame.rank == rank_)
    return std::unexpected(fmt::format("there is no rank {} to send to", frame.rank));
  std::string bytes(kLeastBytes, '\0');
  bytes += frame.body;
  given_up.push_back(std::move(bytes));
  if (!send_bytes(given_up.back(), frame.rank, frame.kind == Frame::Kind::message ? kMessage : kEnded))
    return std::unexpected("its relay takes no messages");
  given_up.pop_back();
  return {};
}

bool Messages::reaches(int rank) {
  static const std::string nothing(1, '\0');
  return send_bytes(nothing, rank, kNothing);
}

std::optional<Frame> Messages::receive() {
  int has_come = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kNothing, MPI_COMM_WORLD, &has_come, &status) == MPI_SUCCESS &&
      has_come != 0) {
    char nothing = 0;
    MPI_Recv(&nothing, 1, MPI_BYTE, status.MPI_SOURCE, kNothing, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (const int tag : {kMessage, kEnded}) {
    if (MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &has_come, &status) != MPI_SUCCESS || has_come == 0)
      continue;
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    length = std::max(length, static_cast<int>(kLeastBytes));
    std::string& bytes = given_up.emplace_back(static_cast<std::size_t>(length), '\0');
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, &request);
    const Time deadline = Clock::now() + kLongestSend;
    int done = 0;
    while (done == 0 && Clock::now() < deadline) {
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (done == 0)
      return Frame{.kind = Frame::Kind::ended,
                   .rank = status.MPI_SOURCE,
                   .body = "the rest of its message did not come"};
    Frame frame{.kind = tag == kMessage ? Frame::Kind::message : Frame::Kind::ended,
                .rank = status.MPI_SOURCE,
                .body = bytes.substr(kLeastBytes)};
    given_up.pop_back();
    return frame;
  }
  return std::nullopt;
}

void Messages::send_end(int to) {
  static const std::string nothing(1, '\0');
  send_bytes(nothing, to, kEnd);
}

bool Messages::end_has_come() {
  int has_come = 0;
  MPI_Status status;
  return MPI_Iprobe(0, kEnd, MPI_COMM_WORLD, &has_come, &status) != MPI_SUCCESS || has_come != 0;
}

void Messages::leave(int exit_code) {
  code_at_alarm = exit_code;
  struct sigaction action {};
  action.sa_handler = [](int) { ::_exit(code_at_alarm); };
  ::sigaction(SIGALRM, &action, nullptr);
  ::alarm(kLongestLeave_s);
  MPI_Finalize();
  ::alarm(0);
}

}  // namespace joust::hosts
