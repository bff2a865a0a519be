// SPDX-License-Identifier: MIT
//
// The server's long tasks: digests of whole files, made in slices by deadlines.
#include <utility>

#include "files/protocol/server_session.hpp"

namespace joust::file {
namespace {

constexpr unsigned kMostDigests = 4;  // at the same time: each takes a millisecond of its loop's time
constexpr std::uint64_t kWithoutTurn = 1 << 20;  // bytes: reading fewer takes less time than waiting
constexpr Duration kLookForTurn = std::chrono::milliseconds(20);
constexpr Duration kTurn = std::chrono::milliseconds(50);  // if others wait for a turn
constexpr Duration kLookForDisk = std::chrono::milliseconds(2);
constexpr Duration kWorkingEvery = std::chrono::seconds(1);

}  // namespace

FileRefusal lost_source(int error) {
  if (error == 0) return {FileError::shrunk, "the file has become shorter"};
  return {error_of(error), "the file cannot be read"};
}

// Digests of long files wait for a slot, because many digests would delay all peers of their loop. The last
// slot is for uploads, so that queries cannot keep uploads from their end.
bool ServerSession::has_turn() {
  if (has_turn_) return true;
  const unsigned most = upload_ ? kMostDigests : kMostDigests - 1;
  unsigned others = server_.digests.load();
  while (others < most && !has_turn_) has_turn_ = server_.digests.compare_exchange_weak(others, others + 1);
  if (!has_turn_) ++server_.turns_refused;
  return has_turn_;
}

void ServerSession::end_turn() {
  if (std::exchange(has_turn_, false)) --server_.digests;
}

// True if the slice may be made now. Digests of endless files must not delay others for ever: a session that
// has had a turn for a while tries for the next one later than the waiting sessions.
bool ServerSession::takes_turn(Time now) {
  const bool had_it = has_turn_;
  const bool gives_it = had_it && now >= turn_ends_ && server_.turns_refused != refused_before_;
  if (gives_it) end_turn();
  due_ = gives_it ? now + 2 * kLookForTurn : has_turn() ? now : now + kLookForTurn;
  if (has_turn_ && !had_it) {
    turn_ends_ = now + kTurn;
    refused_before_ = server_.turns_refused;
  }
  if (!has_turn_) still_working(request_, 0, now);
  return has_turn_;
}

void ServerSession::digest_slice(Time now) {
  if (source_.version.size - digest_->done() > kWithoutTurn && !takes_turn(now)) return;
  const std::uint64_t before = digest_->done();
  const auto through = digest_->advance(*source_.file);
  server_.bytes_digested += digest_->done() - before;
  if (!through) {
    refuse(lost_source(through.error()));
    return answered();
  }
  if (!*through) return still_working(request_, digest_->done(), now);
  const Digest digest = digest_->value();
  server_.storage.remember(source_, digest);
  tell(source_, digest, now);
  answered();
}

// Most of an upload was digested on arrival, unless its last ranges arrived first.
void ServerSession::check_slice(Time now) {
  if (upload_->left_to_check() > kWithoutTurn && !takes_turn(now)) return;
  const auto check = upload_->check();
  if (!check) {
    if (!upload_->over()) keep(upload_, true, range_.size);  // it can be sealed again after a shortage
    refuse(check.error());
    return answered();
  }
  const Stored stored{
      .range = range_, .complete = true, .digest = check->digest, .request_check = request_check_};
  if (check->waits) end_turn();
  if (check->waits && is_whole_) {
    wait_for_disk({.answer = {request_, stored}, .upload = std::move(upload_)}, now);
    return answered();
  }
  if (check->waits) due_ = now + kLookForDisk;
  if (!check->digest) return still_working(request_, check->checked, now);
  answer({request_, stored});
  answered();
}

// Reports progress: a digest takes time, and silence would look like a dead server. The oldest waiting
// request gets the report first.
void ServerSession::still_working(std::uint32_t request, std::uint64_t done, Time now) {
  if (now - said_working_ < kWorkingEvery || outgoing_.waiting() > 0) return;
  said_working_ = now;
  if (waiting_.empty())
    outgoing_.message({request, Working{done}});
  else
    outgoing_.message({waiting_.front().answer.request, Working{}});
}

}  // namespace joust::file
