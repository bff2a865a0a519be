// SPDX-License-Identifier: MIT
//
// The end of a connection of a load: when its part is done, or when the load is stopped.
#include <utility>

#include "files/protocol/client_session.hpp"

namespace joust::file {
namespace {

constexpr Duration kLookForClose = std::chrono::milliseconds(5);

}  // namespace

// Ends the connection's part of the load. The last connection of a group verifies the file.
void ClientSession::finish_load(Time now) {
  if (verifying_) return verify(now);
  const bool last = leave_group();
  if (last && worth_verifying()) {
    verifying_ = true;
    return verify(now);
  }
  const bool puts = transfers_.options().operation == Operation::put && !stopped_ && !group_.failed;
  const LoadPlan& plan = transfers_.run().plan();
  const bool whole = plan.messages || plan.turns;  // no transfer is cut off by the time
  if (last && puts && whole && group_.stored < group_.done / transfers_.segments())
    return fail(Stage::verify, 0, "the server has every range, and has not said that the file is complete",
                now);
  // The server keeps an incomplete upload only while a connection that sent a range of it is open.
  waiting_ = puts && group_.members > 0;
  next_look_ = now + kLookForClose;
  finished_ = !waiting_;
}

bool ClientSession::worth_verifying() const {
  const Facts* facts = transfers_.facts();
  return transfers_.options().operation == Operation::get && !stopped_ && !group_.failed &&
         facts != nullptr && facts->digest && transfers_.complete(group_);
}

// Verifies after the window, so that digesting does not affect the measurement.
void ClientSession::verify(Time now) {
  const auto closes = transfers_.run().closes();
  if (!closes || now < *closes) {
    next_look_ = now + kLookForClose;
    return;
  }
  next_look_ = now;
  const Facts& facts = *transfers_.facts();
  if (!group_.sink->keeps()) {
    const std::uint64_t most = transfers_.options().requests_per_connection;
    if (!transfers_.is_first_group(group_) || (most > 0 && requests_ >= most)) {
      finished_ = true;
      return;
    }
    getting_again_ = true;
    got_again_ = std::make_unique<DigestedFile>(facts.size);
    return start_download(*got_again_, {0, facts.size}, now);
  }
  if (!digest_) digest_.emplace(facts.size);
  const auto through = digest_->advance(group_.sink->file());
  if (!through) return fail(Stage::verify, through.error(), "reading what was received", now);
  if (*through) check_digest(digest_->value(), now);
}

void ClientSession::check_digest(const Digest& digest, Time now) {
  const Digest& expected = *transfers_.facts()->digest;
  if (digest != expected)
    return fail(Stage::verify, 0, "the digest is " + to_hex(digest) + ", the server's is " + to_hex(expected),
                now);
  if (auto kept = group_.sink->accept(); !kept) return fail(Stage::receive, 0, kept.error().text, now);
  ++transfers_.digested;
  finished_ = true;
}

void ClientSession::on_drain(Time now) {
  phases_.advance(now);
  stopped_ = !phases_.at_rest();  // between turns a stop is the ordinary end
  phases_.stopped(now);
  if (greeting_) return fail(Stage::receive, 0, "stopped before the start", now);
  verifying_ = getting_again_ = false;
  phases_.leave_window(now);
  const bool puts = transfers_.options().operation == Operation::put;
  const bool sent = puts && !sending_ && outgoing_.waiting() == 0;
  if (busy() && !sent) return break_off();
  proceed(now);
}

// Ends the connection in the middle of a request: the server discards an incomplete upload.
void ClientSession::break_off() {
  failed_ = finished_ = true;
  group_.failed = true;
  leave_group();
}

}  // namespace joust::file
