// SPDX-License-Identifier: MIT
#include "engines/files/file_io.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/check.hpp"

namespace joust {
namespace {

constexpr std::size_t kPipeBytes = 1 << 20;
constexpr std::size_t kMostRead = 64 << 10;

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

// The kernel has no such way for this file or socket, whatever is tried again.
bool cannot(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EOVERFLOW;
}

// sendfile() has no flags: neither MSG_DONTWAIT, for sockets that block, nor MSG_NOSIGNAL. This lends it
// both. Who sleeps in recv() on the socket meanwhile goes on sleeping.
class AsIfFlagged {
 public:
  explicit AsIfFlagged(int socket) : socket_(socket), flags_(::fcntl(socket, F_GETFL)) {
    if ((flags_ & O_NONBLOCK) == 0) ::fcntl(socket, F_SETFL, flags_ | O_NONBLOCK);
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~AsIfFlagged() {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    if ((flags_ & O_NONBLOCK) == 0) ::fcntl(socket_, F_SETFL, flags_);
  }
  AsIfFlagged(const AsIfFlagged&) = delete;
  AsIfFlagged& operator=(const AsIfFlagged&) = delete;

  void swallow_signal() const {
    const timespec none{};
    ::sigtimedwait(&pipe_, nullptr, &none);
  }

 private:
  int socket_, flags_;
  sigset_t pipe_, before_;
};

// The bytes, or the negative errno.
ssize_t sendfile_now(int socket, const FileRange& source) {
  const AsIfFlagged flagged(socket);
  auto offset = static_cast<off_t>(source.offset);
  const ssize_t n =
      retry_interrupted([&] { return ::sendfile(socket, source.file->descriptor(), &offset, source.size); });
  if (n >= 0) return n;
  const int error = errno;
  if (error == EPIPE) flagged.swallow_signal();
  return -error;
}

}  // namespace

std::optional<bool> send_file(int socket, StreamConnection& connection, const FileRange& source, Time now) {
  const ssize_t n = sendfile_now(socket, source);
  if (n > 0) {
    connection.sent(static_cast<std::size_t>(n), now);
    return true;  // fewer than asked for says nothing of the socket: the file may be shorter
  }
  const auto error = static_cast<int>(-n);
  if (would_block(error)) return false;
  if (cannot(error)) return std::nullopt;
  if (error == 0 || error == EIO)
    connection.source_failed(error, now);
  else
    connection.failed({Stage::send, error, {}}, now);
  return true;
}

bool FilePipe::make() {
  std::array<int, 2> ends{};
  if (refused_ || ::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  from_ = Fd(ends[0]);
  into_ = Fd(ends[1]);
  // More than the usual 64 KiB where the user may have it.
  ::fcntl(into_.get(), F_SETPIPE_SZ, static_cast<int>(kPipeBytes));
  return true;
}

std::size_t FilePipe::wanted(const StreamConnection& connection) {
  const auto range = connection.store();
  if (!range || refused_) return 0;
  if (!from_.is_open() && !make()) {
    refused_ = true;
    return 0;
  }
  return std::min<std::uint64_t>(range->size, kPipeBytes);
}

bool FilePipe::receive_ready(int socket, StreamConnection& connection, std::size_t most, Time now) {
  const ssize_t n = fill(socket, most);
  const int error = errno;
  if (n > 0) empty(connection, now);
  if (n > 0 || refused_) return true;
  if (n == 0)
    connection.peer_finished(now);
  else if (!would_block(error))
    connection.failed({Stage::receive, error, {}}, now);
  return false;
}

ssize_t FilePipe::fill(int socket, std::size_t most) {
  // Without SPLICE_F_NONBLOCK: whether to wait is the socket's to say, and the pipe is empty.
  const ssize_t n = ::splice(socket, nullptr, into_.get(), nullptr, most, SPLICE_F_MOVE);
  if (n > 0) held_ = static_cast<std::size_t>(n);
  if (n < 0 && cannot(errno)) {
    refused_ = true;
    errno = EAGAIN;
  }
  return n;
}

void FilePipe::empty(StreamConnection& connection, Time now) {
  while (held_ > 0) {
    const auto range = connection.store();
    if (range && !refused_)
      store(connection, *range, now);
    else
      hand_on(connection, now);
  }
}

void FilePipe::store(StreamConnection& connection, const FileRange& range, Time now) {
  auto offset = static_cast<off_t>(range.offset);
  const std::size_t most = std::min<std::uint64_t>(held_, range.size);
  const ssize_t n = retry_interrupted(
      [&] { return ::splice(from_.get(), nullptr, range.file->descriptor(), &offset, most, SPLICE_F_MOVE); });
  if (n > 0) {
    held_ -= static_cast<std::size_t>(n);
    connection.stored(static_cast<std::size_t>(n), now);
  } else if (n < 0 && cannot(errno)) {
    refused_ = true;
  } else {
    connection.store_failed(n < 0 ? errno : ENOSPC, now);
  }
}

void FilePipe::hand_on(StreamConnection& connection, Time now) {
  std::array<std::byte, kMostRead> buffer;
  const ssize_t n = checked(
      retry_interrupted([&] { return ::read(from_.get(), buffer.data(), std::min(held_, buffer.size())); }),
      "read(pipe)");
  held_ -= static_cast<std::size_t>(n);
  // A connection that is over hears of nothing any more.
  if (!connection.ended()) connection.received(std::span(buffer).first(static_cast<std::size_t>(n)), now);
}

}  // namespace joust
