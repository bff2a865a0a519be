// SPDX-License-Identifier: MIT
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/check.hpp"
#include "net/stop.hpp"
#include "net/waker.hpp"

namespace joust {
namespace {

Fd make_event() {
  return Fd(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd()"));
}

void raise_event(int event) {
  const std::uint64_t one = 1;
  // Cannot fail but by overflow, and then the descriptor is readable anyway.
  [[maybe_unused]] const ssize_t written = ::write(event, &one, sizeof one);
}

}  // namespace

Stop::Stop() : event_(make_event()) {}

void Stop::request() {
  level_->fetch_add(1, std::memory_order_acq_rel);
  raise_event(event_.get());
}

Waker::Waker() : event_(make_event()) {}

void Waker::wake() {
  if (!pending_.exchange(true, std::memory_order_acq_rel)) raise_event(event_.get());
}

void Waker::clear() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t read = ::read(event_.get(), &count, sizeof count);
  pending_.exchange(false, std::memory_order_acq_rel);
}

}  // namespace joust
