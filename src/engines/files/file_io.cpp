// SPDX-License-Identifier: MIT
#include "engines/files/file_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/check.hpp"
#include "base/system/events.hpp"
#include "base/system/files.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostIdle = 8;  // pipes kept for reuse
constexpr Duration kTryAgain = std::chrono::seconds(1);

// Asks for the largest pipe that the user may have, and returns its size.
std::size_t widen(int pipe) {
  constexpr std::array kSizes{PipePool::kPipeBytes, PipePool::kPipeBytes / 4, PipePool::kLeastBytes};
  for (const std::size_t size : kSizes)
    if (::fcntl(pipe, F_SETPIPE_SZ, static_cast<int>(size)) >= 0) break;
  const int bytes = ::fcntl(pipe, F_GETPIPE_SZ);
  return bytes < 0 ? 0 : static_cast<std::size_t>(bytes);
}

constexpr std::size_t kMostHandedOn = 64 << 10;
constexpr std::size_t kMostSent = 1 << 20;  // bytes of one call, so that a fast reader delays others less

bool is_full_or_empty(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

// Returns true for errors that a retry cannot change: the kernel has no such transfer for this file or
// socket, or a seccomp profile forbids it (EPERM).
bool cannot(int error) {
  return error == EINVAL || error == EPERM || error == ENOSYS || error == EOPNOTSUPP || error == EOVERFLOW;
}

// Makes a blocking socket non-blocking for a while. A recv() that already sleeps on it goes on sleeping.
class NonBlocking {
 public:
  explicit NonBlocking(int socket) : socket_(socket) { ::fcntl(socket, F_SETFL, O_NONBLOCK); }
  ~NonBlocking() { ::fcntl(socket_, F_SETFL, 0); }
  NonBlocking(const NonBlocking&) = delete;
  NonBlocking& operator=(const NonBlocking&) = delete;

 private:
  int socket_;
};

}  // namespace

PipePool::PipePool(Tally& tally) : tally_(tally) {
  idle_.reserve(kMostIdle);
}

bool PipePool::is_open() const {
  if (refused_.load(std::memory_order_relaxed)) return false;
  return !closed_.load(std::memory_order_relaxed) || Clock::now() >= open_again_.load();
}

std::optional<PipePool::Pipe> PipePool::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (lent_ == kMostLent) return std::nullopt;
    ++lent_;
    if (!idle_.empty()) {
      Pipe pipe = std::move(idle_.back());
      idle_.pop_back();
      return pipe;
    }
  }
  auto pipe = make();
  if (!pipe) {
    const std::lock_guard lock(mutex_);
    --lent_;
  }
  return pipe;
}

void PipePool::give_back(Pipe pipe, bool is_empty) {
  const std::lock_guard lock(mutex_);
  --lent_;
  if (is_empty && idle_.size() < kMostIdle) idle_.push_back(std::move(pipe));
}

std::optional<PipePool::Pipe> PipePool::make() {
  if constexpr (!kHasSplice) {
    refuse();
    return std::nullopt;
  }
  auto [from, into] = open_pipe(O_CLOEXEC);
  if (!into.is_open()) {
    close_for_a_while("splice: at times there was no pipe to be had, and files were written from memory");
    return std::nullopt;
  }
  Pipe pipe{std::move(from), std::move(into)};
  pipe.bytes = widen(pipe.into.get());
  if (pipe.bytes < kLeastBytes) {
    close_for_a_while(
        "splice: at times pipes were too small (fs.pipe-user-pages-soft), and files written from memory");
    return std::nullopt;
  }
  if (pipe.bytes < kPipeBytes)
    tally_.note("splice: some pipes are smaller than 1 MiB (fs.pipe-user-pages-soft, fs.pipe-max-size)");
  closed_ = false;
  return pipe;
}

void PipePool::close_for_a_while(std::string_view why) {
  tally_.note(why);
  open_again_ = Clock::now() + kTryAgain;
  closed_ = true;
}

void PipePool::refuse() {
  refused_ = true;
  tally_.note("splice: refused by the kernel, so that files were written from memory");
}

std::optional<bool> send_file(int socket, StreamConnection& connection, const FileRange& source, Time now) {
  const ssize_t n = retry_interrupted([&] { return call_sendfile(socket, source); });
  return report_sendfile(connection, source, n, errno, now);
}

ssize_t call_sendfile(int socket, const FileRange& source) {
  const std::size_t most = std::min<std::uint64_t>(source.size, kMostSent);
  return send_from_file(socket, source.file->descriptor(), static_cast<off_t>(source.offset), most);
}

std::optional<bool> report_sendfile(StreamConnection& connection, const FileRange& source, ssize_t result,
                                    int error, Time now) {
  if (result > 0) {
    connection.sent(static_cast<std::size_t>(result), now);
    return true;  // a short count does not mean a full socket: the file may have shrunk
  }
  if (result == 0) error = 0;
  if (is_full_or_empty(error) || error == EINTR) return false;
  if (cannot(error)) return std::nullopt;
  if (error != 0 && error != EIO) {
    connection.failed({Stage::send, error, {}}, now);
  } else if (const auto next = connection.source(); next && next->file == source.file) {
    connection.source_failed(error, now);
  }
  return true;
}

std::optional<bool> send_file_at_once(int socket, StreamConnection& connection, const FileRange& source,
                                      Time now) {
  const NonBlocking meanwhile(socket);
  return send_file(socket, connection, source, now);
}

FilePipe::~FilePipe() {
  give_back();
}

void FilePipe::give_back() {
  if (pipe_) pool_.give_back(*std::exchange(pipe_, std::nullopt), held_ == 0);
  held_ = 0;
}

std::size_t FilePipe::wanted(const StreamConnection& connection) const {
  const auto range = connection.store();
  const bool by_pipe = range && range->file->filling() == Filling::splice;
  return by_pipe && pool_.is_open() ? std::min<std::uint64_t>(range->size, PipePool::kPipeBytes) : 0;
}

std::optional<ssize_t> FilePipe::fill(int socket, std::size_t most) {
  give_back();  // an exception may have left bytes in the pipe
  pipe_ = pool_.borrow();
  if (!pipe_) return std::nullopt;
  const ssize_t n =
      ::splice(socket, nullptr, pipe_->into.get(), nullptr, std::min(most, pipe_->bytes), SPLICE_F_MOVE);
  const int error = errno;
  if (n > 0) held_ = static_cast<std::size_t>(n);
  if (n <= 0) give_back();
  if (n < 0 && cannot(error)) {
    pool_.refuse();
    return std::nullopt;
  }
  errno = error;
  return n;
}

void FilePipe::empty(StreamConnection& connection, Time now) {
  while (held_ > 0) {
    const auto range = connection.store();
    if (!range || !store(connection, *range, now)) hand_on(connection, now);
  }
  give_back();
}

// Returns false if the kernel cannot splice from the pipe into the file.
bool FilePipe::store(StreamConnection& connection, const FileRange& range, Time now) {
  auto offset = static_cast<off_t>(range.offset);
  const std::size_t most = std::min<std::uint64_t>(held_, range.size);
  const int from = pipe_->from.get();
  const ssize_t n = retry_interrupted([&] {
    const auto turn = range.file->turn_to_write();
    return ::splice(from, nullptr, range.file->descriptor(), &offset, most, SPLICE_F_MOVE);
  });
  if (n > 0) {
    held_ -= static_cast<std::size_t>(n);
    connection.stored(static_cast<std::size_t>(n), {}, now);
  } else if (n < 0 && cannot(errno)) {
    pool_.refuse();
    return false;
  } else {
    connection.store_failed(n < 0 ? errno : ENOSPC, now);
  }
  return true;
}

void FilePipe::hand_on(StreamConnection& connection, Time now) {
  std::array<std::byte, kMostHandedOn> buffer;
  const std::size_t most = std::min(held_, buffer.size());
  const ssize_t n = checked(retry_interrupted([&] { return ::read(pipe_->from.get(), buffer.data(), most); }),
                            "read(pipe)");
  held_ -= static_cast<std::size_t>(n);
  // a connection that has ended gets no more input
  if (!connection.ended()) connection.received(std::span(buffer).first(static_cast<std::size_t>(n)), now);
}

}  // namespace joust
