// SPDX-License-Identifier: MIT
#include "engines/asio/peer.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <utility>

#include "engines/asio/hub.hpp"
#include "engines/asio/run.hpp"
#include "engines/files/file_io.hpp"
#include "engines/loop/open_session.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/loop/waiting.hpp"

namespace joust {
namespace {

// Returns true for errors that are no failure: the operation begins again if it is still wanted.
bool is_no_failure(const AsioError& error) {
  return error == asio::error::operation_aborted || error == asio::error::interrupted ||
         error == asio::error::would_block;
}

}  // namespace

AsioPeer::AsioPeer(AsioHub& hub, AsioSocket socket)
    : hub_(hub), socket_(std::move(socket)), buffer_(std::min(kFirstRead, hub.hosting().limits.read_bytes)) {}

void AsioPeer::tell(News news, AsioReserve& reserve) {
  // A publication that comes while the news is on its way is found when the news arrives.
  if (news != News::published || !published_.exchange(true)) pass_on(news, AsioAllocator<void>(reserve));
}

void AsioPeer::hear(News news) noexcept {
  if (news == News::end) return close();
  take_step([&](Time now) {
    if (news == News::established)
      return open_session(hub_.hosting(), socket_.native_handle(), connection_, now);
    if (news == News::published) {
      published_.exchange(false);  // acquires the publications made before it was set
      telling_ = true;
      return connection_->refresh(now);
    }
    stopping_ = true;
    read_until_ = connection_->bytes_received() + hub_.hosting().limits.read_bytes_per_turn;
    socket_.cancel();  // ends the read in progress; settle() then checks for input that has arrived
  });
}

template <typename Step>
void AsioPeer::take_step(Step&& step) noexcept {
  if (closed_) return;
  try {
    const Time now = Clock::now();
    hub_.found_work();
    step(now);
    settle(now);
    if (connection_->ended()) return close();
    go_on();
  } catch (const std::exception& error) {
    break_off(error);
  }
}

void AsioPeer::look_again() noexcept {
  take_step([](Time /*now*/) {});
}

// Acts on the session's state after a change: passes on the stop, prepares output, and ends the stream.
void AsioPeer::settle(Time now) {
  if (stopping_ && !reading_ && !may_have_more()) {
    stopping_ = false;
    connection_->drain(now);
  }
  if (!writing_) prepare_output(now);
  if (!connection_->wants_shutdown()) return;
  // A session that fails withdraws its output. The write in progress would wait for a peer that does not
  // read.
  if (writing_)
    cancel_all(socket_);
  else if (count_ == 0 && !from_file_)
    end_stream(socket_.native_handle(), *connection_, now);
}

// Ends this connection after an exception, which concerns no other connection.
void AsioPeer::break_off(const std::exception& error) noexcept {
  if (closed_) return;
  try {
    if (connection_)
      connection_->failed(failure_of(error), Clock::now());
    else
      hub_.hosting().not_opened(failure_of(error), Clock::now());
  } catch (const std::exception&) {
    // The session threw again. The connection ends all the same, and has been counted.
  }
  close();
}

void AsioPeer::close() noexcept {
  if (std::exchange(closed_, true)) return;
  joust::close(socket_);
  on_closed();
  hub_.left(*this);
}

// Returns true while requests that arrived before the stop are unread. They are answered before the session
// gets the stop.
bool AsioPeer::may_have_more() {
  AsioError error;
  return connection_->wants_input() && connection_->bytes_received() < read_until_ &&
         socket_.available(error) > 0 && !error;
}

AsioPeer::Operation AsioPeer::begin_read() {
  if (!wants_read()) return Operation::none;
  if (watching_) unwatch_.emit(asio::cancellation_type::terminal);
  reading_ = true;
  return file_input_here().wanted(*connection_) > 0 ? Operation::wait : Operation::transfer;
}

void AsioPeer::read(const AsioError& error, std::size_t n) noexcept {
  reading_ = false;
  take_step([&](Time now) {
    if (is_no_failure(error)) return;
    if (error == asio::error::eof) return connection_->peer_finished(now);
    if (error) return connection_->failed({Stage::receive, error.value(), {}}, now);
    found_ = true;
    connection_->received(std::span(buffer_).first(n), now);
    // A peer that sends more than the buffer holds gets a larger one; thousands of others need none.
    if (n == buffer_.size()) buffer_.resize(std::min(4 * n, hub_.hosting().limits.read_bytes));
  });
}

void AsioPeer::readable(const AsioError& error) noexcept {
  reading_ = false;
  take_step([&](Time now) {
    const std::size_t most = error ? 0 : file_input_here().wanted(*connection_);
    if (most == 0) return;  // cancelled, or the session wants no bytes for a file any more
    found_ = true;
    file_input_here().receive_ready(socket_.native_handle(), *connection_, most, false, now);
  });
}

bool AsioPeer::begin_watch() {
  if (reading_ || watching_ || hung_up_ || !is_open() || connection_->wants_input()) return false;
  return watching_ = true;
}

void AsioPeer::watched(const AsioError& error) noexcept {
  watching_ = false;
  take_step([&](Time now) {
    if (error) return;
    hung_up_ = true;
    if (const int reset = connect_result(socket_.native_handle()); reset != 0)
      connection_->failed({Stage::receive, reset, {}}, now);
  });
}

// Prepares no output while publications are being gathered.
void AsioPeer::prepare_output(Time now) {
  count_ = 0;
  from_file_ = false;
  if (!std::exchange(telling_, false) && hub_.is_batching()) return;
  from_file_ = !no_sendfile_ && connection_->source();
  if (from_file_) return;
  std::array<iovec, 16> output;
  const std::size_t count = connection_->output(output, now);
  for (; count_ < count; ++count_) pieces_[count_] = {output[count_].iov_base, output[count_].iov_len};
}

AsioPeer::Operation AsioPeer::begin_write() {
  const Operation operation = wanted_write();
  if (operation != Operation::none) writing_ = true;
  return operation;
}

void AsioPeer::written(const AsioError& error, std::size_t n) noexcept {
  writing_ = false;
  fell_short_ = n < asio::buffer_size(pieces());
  take_step([&](Time now) {
    if (is_no_failure(error)) return;
    if (error) return connection_->send_failed(error.value(), now);
    connection_->sent(n, now);
  });
}

void AsioPeer::writable(const AsioError& error) noexcept {
  writing_ = false;
  take_step([&](Time now) {
    fell_short_ = false;
    const auto source = error ? std::nullopt : connection_->source();
    if (source) no_sendfile_ = !send_file(socket_.native_handle(), *connection_, *source, now);
  });
}

// In an open loop a deadline must be met within microseconds. So the thread wakes up before the deadline, and
// checks again.
Time AsioPeer::wakes_at() const {
  const auto due = is_open() ? connection_->deadline() : std::nullopt;
  if (!due) return Time::max();
  return lateness_.sleeps_until(hub_.hosting().options.paced ? *due - WaitStrategy::kSpin : *due);
}

void AsioPeer::deadline_passed() noexcept {
  take_step([&](Time now) {
    const Time due = connection_->deadline().value_or(Time::max());
    if (!lateness_.puts_off(due, std::exchange(found_, false), now)) connection_->on_time(now);
  });
}

}  // namespace joust
