// SPDX-License-Identifier: MIT
#include "transfer/fetch_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.hpp"

namespace joust::transfer {
namespace {

constexpr Duration kLookForDisk = std::chrono::milliseconds(2);
constexpr unsigned kMostChecks = 40;  // to give the file its name

}  // namespace

FetchSession::~FetchSession() {
  give_back_work();
}

bool FetchSession::busy() const {
  return work_.task == Task::ask || work_.task == Task::digest || (work_.task == Task::range && !waiting_);
}

void FetchSession::fell_silent() {
  if (work_.task == Task::digest) fetch_.digest_missed();
}

std::optional<Time> FetchSession::due() const {
  if (waiting_) return go_on_at_;
  const bool here = work_.task == Task::recall || work_.task == Task::compare || work_.task == Task::check;
  return here ? std::optional(next_slice_) : std::nullopt;
}

void FetchSession::give_back_work() {
  if (work_.task != Task::none)
    fetch_.give_back(work_, work_.range.size - std::min(work_.range.size, left_.size + behind_.size));
  done();
}

void FetchSession::proceed(Time now) {
  while (work_.task == Task::none && may_have_work() && !fetch_.over()) {
    work_ = fetch_.next(is_first_);
    if (work_.task == Task::none) return;
    begin(now);
  }
  if (waiting_ && now >= go_on_at_) ask_for_part(now);
  next_slice_ = now;
  if (work_.task == Task::recall) recall();
  if (work_.task == Task::compare) compare();
  if (work_.task == Task::check) check();
}

void FetchSession::begin(Time now) {
  alive(now);
  found_ = false;
  const std::string& name = fetch_.plan().name;
  if (work_.task == Task::digest) greet();  // tells who ignores the question from who is not there
  if (work_.task == Task::ask || work_.task == Task::digest)
    outgoing().message({++request_, file::Query{name, work_.task == Task::digest}});
  if (work_.task == Task::check && !work_.into->over())
    if (const auto sealed = work_.into->seal(fetch_.expected()); !sealed) {
      done();  // without a seal a check would expect no digest
      return fetch_.give_up(sealed.error().text);
    }
  if (work_.task == Task::range) begin_range(now);
}

void FetchSession::begin_range(Time now) {
  const Fetch::Work work = work_;
  auto taken = work.into->take(work.range);
  if (!taken) done();
  if (taken) taken = work.into->make_room(work.range);
  if (taken) {
    behind_ = work.range;
    return take_part(now);
  }
  fetch_.give_up(fmt::format("{}: {} ({})", printable(fetch_.plan().file), error_name(taken.error().error),
                             taken.error().text));
}

// The server sends as fast as it can, so under a limit it is asked for no more than may come at once.
void FetchSession::take_part(Time now) {
  RateLimit& limit = fetch_.limit();
  part_ = behind_;
  if (limit.applies()) part_.size = std::min(part_.size, limit.portion(kRangeBytes));
  behind_ = {part_.end(), behind_.size - part_.size};
  left_ = part_;
  go_on_at_ = limit.applies() ? limit.reserve(part_.size, now) : now;
  waiting_ = go_on_at_ > now;
  if (!waiting_) ask_for_part(now);
}

void FetchSession::ask_for_part(Time now) {
  alive(now);
  waiting_ = found_ = false;
  outgoing().message({++request_, file::Fragment{part_, fetch_.plan().name}});
}

void FetchSession::recall() {
  const Upload::Recall recall = work_.into->recall();
  if (!recall.complete) return;
  done();
  fetch_.recalled(recall);
}

void FetchSession::compare() {
  const Fetch::Compared so_far = fetch_.compare();
  if (so_far == Fetch::Compared::completely) done();
  if (so_far == Fetch::Compared::but_for_the_disk) next_slice_ += kLookForDisk;
}

void FetchSession::check() {
  const auto check = work_.into->check();
  if (check && check->waits) next_slice_ += kLookForDisk;
  if (check && !check->digest) return;
  // Something that the name takes is short: descriptors, or memory.
  if (!check && check.error().error == FileError::busy && ++attempts_ < kMostChecks &&
      work_.into->seal(fetch_.expected())) {
    next_slice_ += kAskAgain;
    return;
  }
  done();
  fetch_.checked(check);
}

void FetchSession::take(const file::Message& message, Time now) {
  if (!busy() || message.request != request_) return lose("an answer nobody asked for", now);
  if (const auto* error = std::get_if<file::Error>(&message.body)) {
    // Zeros have come for what the server could not read.
    if (work_.task == Task::range && found_) work_.into->distrust(work_.range);
    if (error->refusal.error == FileError::busy)
      return lose(words_of(fetch_.plan().name, error->refusal), now);
    if (error->refusal.error == FileError::beyond_end || error->refusal.error == FileError::shrunk)
      return changed_on_server();
    const bool is_file = error->refusal.error != FileError::not_a_file;
    return fetch_.give_up(words_of(fetch_.plan().name, error->refusal) +
                          (is_file ? "" : "; get takes the path of a file"));
  }
  if (std::holds_alternative<file::Working>(message.body)) return;
  if (const auto* facts = std::get_if<file::Facts>(&message.body)) return take_facts(*facts, now);
  if (const auto* data = std::get_if<file::Data>(&message.body)) return take_data(*data, now);
  if (const auto* end = std::get_if<file::End>(&message.body)) return take_end(*end, now);
  lose("a frame that is no answer", now);
}

void FetchSession::take_facts(const file::Facts& facts, Time now) {
  if (found_) return lose("a frame that is no answer", now);
  if (work_.task == Task::ask) {
    is_first_ = true;
    done();
    return fetch_.learned(facts);
  }
  const auto known = fetch_.facts();
  if (facts.size != known->size || facts.modified_ns != known->modified_ns) return changed_on_server();
  found_ = true;
  if (work_.task != Task::digest) return;
  done();
  if (!facts.digest) return fetch_.give_up_digest("gives no");
  fetch_.learned_digest(*facts.digest);
}

// Nothing that has come can be gone on with.
void FetchSession::changed_on_server() {
  fetch_.forget();
  fetch_.give_up(fmt::format("{}: the file has changed on the server meanwhile; fetch it again",
                             printable(fetch_.plan().name)));
}

void FetchSession::take_data(const file::Data& data, Time now) {
  if (work_.task != Task::range || !found_ || data.size == 0 || data.size > left_.size)
    return lose("bytes nobody asked for", now);
  receive_data(data.size);
}

void FetchSession::take_end(const file::End& end, Time now) {
  if (work_.task != Task::range || !found_ || left_.size > 0 || end.size != part_.size)
    return lose("the answer ends too early", now);
  if (behind_.size > 0) return take_part(now);
  const ByteRange range = work_.range;
  work_.into->finish(range);
  done();
  fetch_.finished(range);
}

FileRange FetchSession::store() const {
  return {&work_.into->file(), left_.offset, data_left()};
}

void FetchSession::on_stored(std::size_t n, Bytes seen, Time now) {
  work_.into->stored({left_.offset, n}, seen);
  left_ = {left_.offset + n, left_.size - n};
  data_stored(n);
  fetch_.moved(n);
  alive(now);
}

void FetchSession::on_store_failed(int error, Time /*now*/) {
  receive_data(0);
  fetch_.give_up(
      fmt::format("{}: cannot be written: {}", printable(fetch_.plan().file), std::strerror(error)));
}

}  // namespace joust::transfer
