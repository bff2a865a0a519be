// SPDX-License-Identifier: MIT
#include "connection/stream_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/units.hpp"

namespace joust {
namespace {

std::size_t store(Bytes chunk, SessionFiles& files, Time now) {
  const FileRange range = files.store();
  const Bytes part = chunk.first(std::min<std::uint64_t>(chunk.size(), range.size));
  const auto written = range.file->write_at(range.offset, part);
  if (written)
    files.on_stored(*written, part.first(*written), now);
  else
    files.on_store_failed(written.error(), now);
  return written.value_or(0);
}

}  // namespace

std::size_t deliver(Bytes chunk, Session& session, Time now) {
  std::size_t taken = 0;
  while (taken < chunk.size()) {
    const Want want = session.want();
    if (want == Want::nothing) break;
    const Bytes rest = chunk.subspan(taken);
    taken += want == Want::file ? store(rest, *session.files(), now) : session.on_bytes(rest, now);
  }
  return taken;
}

namespace {

// The size of one read of a file: large enough that the system call is cheap beside the copying, and small
// enough to stay in the cache until it is sent.
constexpr std::size_t kReadAhead = 256 << 10;

// The least input that counts as progress at once. Smaller pieces count when they are answered: see Shares.
constexpr std::size_t kMuch = 1 << 10;

// The least memory of any connection, in bytes: this object, its session and the engine's data.
constexpr std::size_t kOfConnection = 2 << 10;

}  // namespace

StreamConnection::StreamConnection(std::unique_ptr<Session> session, const Limits& limits, Tally& tally,
                                   Time now, std::shared_ptr<ConnectionPlace> place)
    : place_(std::move(place)),
      session_(std::move(session)),
      files_(session_->files()),
      last_progress_(now),
      limits_(limits),
      tally_(tally) {
  session_->on_open(now);
  ask();
  account_for_memory();
  tally_.opened.fetch_add(1, std::memory_order_relaxed);  // not counted if on_open() throws
}

StreamConnection::~StreamConnection() {
  tally_.received.fetch_add(received_, std::memory_order_relaxed);
  tally_.sent.fetch_add(sent_, std::memory_order_relaxed);
  if (!counted_ && !session_->complaint().empty()) tally_.violated(session_->complaint());
}

// Passes as much of `chunk` to the session as it wants.
std::size_t StreamConnection::offer(Bytes chunk, Time now) {
  std::size_t taken = 0;
  if (answers_.want == Want::bytes) taken = session_->on_bytes(chunk, now);
  if (taken < chunk.size()) taken += deliver(chunk.subspan(taken), *session_, now);
  ask();
  // After our shutdown, bytes that the session does not want are discarded.
  return shut_ ? chunk.size() : taken;
}

// Ends a failed connection when the session wants no more of the bytes that the peer has sent before it
// closed.
void StreamConnection::end_without_input(Time now) {
  if (send_error_ != 0 && !over() && !wants_input()) failed({Stage::send, send_error_, {}}, now);
}

void StreamConnection::received(Bytes chunk, Time now) {
  received_ += chunk.size();
  if (ended_) return;
  last_progress_ = now;
  if (chunk.size() >= kMuch) place_.made_progress(now);
  largest_read_ = std::max(largest_read_, static_cast<std::uint32_t>(chunk.size()));
  offer_held(now);
  const std::size_t taken = held_.empty() ? offer(chunk, now) : 0;
  held_.insert(held_.end(), chunk.begin() + static_cast<std::ptrdiff_t>(taken), chunk.end());
  account_for_memory();
  end_without_input(now);
}

void StreamConnection::account_for_memory() {
  if (!place_) return;
  const std::size_t ahead = ahead_ && ahead_->bytes ? kReadAhead : 0;
  // The largest read counts, because many engines read into a buffer of the connection's own, or on a stack
  // of its own.
  place_.uses_memory(kOfConnection + largest_read_ + held_.capacity() + ahead + answers_.memory);
}

void StreamConnection::offer_held(Time now) {
  if (!held_.empty()) {
    held_taken_ += offer(Bytes(held_).subspan(held_taken_), now);
    if (held_taken_ == held_.size()) {
      held_.clear();
      held_taken_ = 0;
    }
  }
  if (held_.empty() && peer_finished_ && !told_finished_) {
    told_finished_ = true;
    session_->on_peer_finished(now);
    ask();
  }
}

void StreamConnection::peer_finished(Time now) {
  if (ended_) return;
  if (is_broken_off()) return failed(gave_way(), now);
  // After a reset that a send has reported, a read finds the end of the stream.
  if (send_error_ != 0) return failed({Stage::send, send_error_, {}}, now);
  peer_finished_ = true;
  last_progress_ = now;
  offer_held(now);
}

void StreamConnection::sent(std::size_t n, Time now) {
  faulted_ = false;
  sent_ += n;
  if (ended_) return;
  last_progress_ = now;
  place_.made_progress(now);  // the peer has taken bytes
  // The read-ahead is always the first output.
  if (ahead_) ahead_->skip(n);
  session_->consumed(n);
  session_->released(n);
  ask();
  if (!held_.empty()) offer_held(now);
  account_for_memory();
}

void StreamConnection::shut_down(Time now) {
  shut_ = true;
  shut_at_ = now;
  offer_held(now);
  account_for_memory();
}

void StreamConnection::failed(const Failure& reported, Time now) {
  if (ended_) return;
  ended_ = true;
  const Failure failure = is_broken_off() ? gave_way() : reported;
  // A protocol error by the peer takes precedence over a later failure of the connection.
  if (session_->complaint().empty()) {
    counted_ = true;
    tally_.failed(failure);
  }
  session_->on_failure(failure, now);
}

// Handles a failed send. Output in a mapping of a file that has shrunk no longer exists: the session then has
// other output. A peer that has closed may have sent an answer before, which is still to be read.
void StreamConnection::send_failed(int error, Time now) {
  if (error == EFAULT && !std::exchange(faulted_, true)) return;
  const bool has_gone = error == ECONNRESET || error == EPIPE;
  if (!has_gone || shut_ || !wants_input()) return failed({Stage::send, error, {}}, now);
  send_error_ = error;
  shut_at_ = now;
}

void StreamConnection::on_time(Time now) {
  if (ended_) return;
  if (now >= answers_.deadline) {
    session_->on_deadline(now);
    ask();
    last_progress_ = now;  // the session itself works, so the connection is not idle
    offer_held(now);
    end_without_input(now);
    account_for_memory();
  }
  if (shut_) {
    // The peer got all output and had time to end too, so this is no failure.
    if (now >= shut_at_ + limits_.linger) ended_ = true;
  } else if (send_error_ != 0 && now >= shut_at_ + limits_.linger) {
    failed({Stage::send, send_error_, {}}, now);
  } else if (now >= last_progress_ + limits_.idle) {
    failed({Stage::timeout, 0, "no byte moved for the idle limit of " + format_duration(limits_.idle)}, now);
  }
}

void StreamConnection::drain(Time now) {
  if (ended_) return;
  session_->on_drain(now);
  ask();
  offer_held(now);
  end_without_input(now);
  account_for_memory();
}

void StreamConnection::refresh(Time now) {
  if (ended_) return;
  session_->on_published(now);
  ask();
  offer_held(now);
  end_without_input(now);
  account_for_memory();
}

void StreamConnection::stored(std::size_t n, Bytes seen, Time now) {
  received_ += n;
  last_progress_ = now;
  place_.made_progress(now);
  files_->on_stored(n, seen, now);
  ask();
  account_for_memory();
}

void StreamConnection::store_failed(int error, Time now) {
  files_->on_store_failed(error, now);
  ask();
}

void StreamConnection::source_failed(int error, Time now) {
  files_->on_source_failed(error, now);
  ask();
}

std::size_t StreamConnection::output(std::span<iovec> into, Time now) {
  if (sends_nothing()) return 0;
  // The fast path: nearly every output is one piece. The array for several costs its initialization with
  // zeros.
  std::array<Segment, 2> few;
  const auto most_of = [&](std::span<Segment> room) {
    return room.first(std::min(into.size(), room.size()));
  };
  if (const std::size_t count = session_->output(most_of(few)); count < few.size())
    return pieces_of(std::span(few).first(count), into, now);
  std::array<Segment, 16> many;
  const std::size_t count = session_->output(most_of(many));
  return pieces_of(std::span(many).first(count), into, now);
}

std::size_t StreamConnection::pieces_of(std::span<const Segment> segments, std::span<iovec> into, Time now) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool in_file = segments[i].in_file();
    if (in_file && i > 0) return i;  // the next call begins with it
    const Bytes bytes = in_file ? read_ahead(segments[i].file, now) : segments[i].bytes;
    if (in_file && bytes.empty()) return output(into, now);  // the read has failed: ask again
    into[i] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    if (in_file) return 1;
  }
  return segments.size();
}

// Returns the beginning of a file's range, at a stable address until it has been sent. Empty if it cannot be
// read.
Bytes StreamConnection::read_ahead(const FileRange& range, Time now) {
  if (!ahead_) ahead_ = std::make_unique<ReadAhead>();
  ReadAhead& ahead = *ahead_;
  const bool known = ahead.size > 0 && ahead.file == range.file && ahead.offset == range.offset;
  if (!known) {
    if (!ahead.bytes) ahead.bytes = std::make_unique_for_overwrite<std::byte[]>(kReadAhead);
    const std::size_t most = std::min<std::uint64_t>(range.size, kReadAhead);
    const auto read = range.file->read_at(range.offset, {ahead.bytes.get(), most});
    ahead.file = range.file;
    ahead.offset = range.offset;
    ahead.begin = 0;
    ahead.size = read.value_or(0);
    if (ahead.size == 0) {
      source_failed(read ? 0 : read.error(), now);
      return {};
    }
  }
  return {ahead.bytes.get() + ahead.begin, std::min<std::uint64_t>(range.size, ahead.size)};
}

void StreamConnection::ReadAhead::skip(std::size_t sent) {
  const std::size_t part = std::min(sent, size);
  offset += part;
  begin += part;
  size -= part;
}

std::optional<FileRange> StreamConnection::source_of_files() const {
  Segment first;
  if (sends_nothing() || session_->output({&first, 1}) == 0) return std::nullopt;
  if (!first.in_file() || first.file.file->descriptor() < 0) return std::nullopt;
  return first.file;
}

std::optional<FileRange> StreamConnection::store_of_files() const {
  if (over() || shut_ || peer_finished_ || !held_.empty() || answers_.want != Want::file) return std::nullopt;
  const FileRange range = files_->store();
  return range.file->filling() == Filling::copy ? std::nullopt : std::optional(range);
}

std::optional<Time> StreamConnection::deadline() const {
  if (shut_) return shut_at_ + limits_.linger;
  const Time last = send_error_ != 0 ? shut_at_ + limits_.linger : last_progress_ + limits_.idle;
  return std::min(answers_.deadline, last);
}

}  // namespace joust
