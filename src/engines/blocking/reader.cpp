// SPDX-License-Identifier: MIT
// Needs Linux.
#include "engines/blocking/reader.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/check.hpp"
#include "base/signals.hpp"
#include "base/system/process.hpp"
#include "engines/blocking/parent.hpp"

namespace joust {
namespace {

void raise(const Fd& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event.get(), &one, sizeof one);
}

void lower(const Fd& event) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got =
      retry_interrupted([&] { return ::read(event.get(), &count, sizeof count); });
}

// Closes all other descriptors, so that the child does not keep other connections open.
void close_all_but(std::array<int, 3> kept) {
  std::ranges::sort(kept);
  unsigned from = STDERR_FILENO + 1;
  const auto close_up_to = [&](unsigned last) {
    if (from > last || ::syscall(SYS_close_range, from, last, 0) == 0) return;
    const auto most = std::min<long>(last, ::sysconf(_SC_OPEN_MAX));  // before Linux 5.9
    for (long number = from; number <= most; ++number) ::close(static_cast<int>(number));
  };
  for (const int number : kept) {
    if (static_cast<unsigned>(number) > from) close_up_to(static_cast<unsigned>(number) - 1);
    from = std::max(from, static_cast<unsigned>(number) + 1);
  }
  close_up_to(~0U);
}

}  // namespace

Reader::Reader(int socket)
    : filled_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd() of the reading process")),
      emptied_(checked(::eventfd(0, EFD_CLOEXEC), "eventfd() of the reading process")) {
  checked(::fcntl(socket, F_SETFL, 0), "fcntl(F_SETFL)");
  const pid_t parent = ::getpid();
  {
    const SignalsBlocked blocked;
    pid_ = checked(::fork(), "fork() of the reading process");
    if (pid_ == 0) read(socket, parent);
  }
  process_ = open_process(pid_);
  if (!process_.is_open()) {
    const int error = errno;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    throw std::system_error(error, std::generic_category(), "pidfd_open() of the reading process");
  }
  raise(emptied_);  // the parent's side is complete: the child may begin
}

Reader::~Reader() {
  if (!process_.is_open()) return;
  signal_process(process_, SIGKILL);
  reap();
}

// The work of the child. It receives nothing before the parent's side is complete, because bytes would be
// lost if that failed.
void Reader::read(int socket, pid_t parent) {
  end_with_parent();
  if (::getppid() != parent) ::_exit(0);  // the parent died before that
  take_childs_signals();
  close_all_but({socket, filled_.get(), emptied_.get()});
  lower(emptied_);
  for (;;) {
    const std::span<std::byte> room = ring_->room();
    if (room.empty()) {
      if (ring_->writer_may_sleep()) lower(emptied_);  // sleeps until the ring has room
      continue;
    }
    const ssize_t n = ::recv(socket, room.data(), room.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n > 0 ? ring_->put(static_cast<std::size_t>(n)) : ring_->end(n < 0 ? errno : 0)) raise(filled_);
    if (n <= 0) ::_exit(0);
  }
}

void Reader::take(std::size_t n) {
  if (ring_->take(n)) raise(emptied_);
}

void Reader::woken() {
  lower(filled_);
}

int Reader::reap() {
  siginfo_t end{};
  const int result =
      retry_interrupted([&] { return ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED); });
  process_.close();
  return result < 0 ? 0 : end.si_status;  // the child exits with 0
}

}  // namespace joust
