// SPDX-License-Identifier: MIT
#include "base/system/events.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/check.hpp"

#if __has_include(<sys/eventfd.h>)
#include <sys/eventfd.h>
#else

#endif

namespace joust {

OpenPipe open_pipe(int flags) {
  std::array<int, 2> ends{};
#ifndef __APPLE__
  if (::pipe2(ends.data(), flags) != 0) return {};
#else
  if (::pipe(ends.data()) != 0) return {};
  for (const int end : ends) {
    ::fcntl(end, F_SETFD, (flags & O_CLOEXEC) != 0 ? FD_CLOEXEC : 0);
    ::fcntl(end, F_SETFL, flags & O_NONBLOCK);
  }
#endif
  return {Fd(ends[0]), Fd(ends[1])};
}

#if __has_include(<sys/eventfd.h>)

EventDescriptor::EventDescriptor()
    : readable_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd()")) {}

void EventDescriptor::raise() const {
  const std::uint64_t one = 1;
  // Fails only by overflow, and then the descriptor is readable anyway.
  [[maybe_unused]] const ssize_t written = ::write(readable_.get(), &one, sizeof one);
}

void EventDescriptor::clear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t read = ::read(readable_.get(), &count, sizeof count);
}

#else

EventDescriptor::EventDescriptor() {
  auto [from, into] = open_pipe(O_CLOEXEC | O_NONBLOCK);
  if (!into.is_open()) checked(-1, "pipe()");
  readable_ = std::move(from);
  written_ = std::move(into);
}

void EventDescriptor::raise() const {
  // Fails only in a full pipe, and then the descriptor is readable anyway.
  [[maybe_unused]] const ssize_t written = ::write(written_.get(), "", 1);
}

void EventDescriptor::clear() const {
  std::array<char, 64> bytes;
  while (::read(readable_.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
  }
}

#endif

}  // namespace joust
