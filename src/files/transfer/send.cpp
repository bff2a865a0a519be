// SPDX-License-Identifier: MIT
#include "files/transfer/send.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/text.hpp"
#include "files/store/file_version.hpp"

namespace joust::transfer {

bool FolderOrder::may_ask(const void* session) {
  if (asked_ > 0 && session_ != session) return false;
  session_ = session;
  ++asked_;
  return true;
}

bool FolderOrder::answered(std::optional<std::size_t> close) {
  --asked_;
  if (close) closed_.push_back(*close);
  return --left_ == 0;
}

std::size_t FolderOrder::begin_to_close(bool has_failed) {
  if (has_failed) closed_.clear();
  last_ = std::exchange(closed_, {});
  return last_.size();
}

std::optional<std::size_t> FolderOrder::next_to_close(const void* session) {
  if (last_.empty() || !may_ask(session)) return std::nullopt;
  const std::size_t item = last_.back();
  last_.pop_back();
  return item;
}

namespace {

Fd duplicate_of(const Fd& fd) {
  return Fd(checked(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0), "fcntl(F_DUPFD_CLOEXEC)"));
}

}  // namespace

LargeSource::LargeSource(std::size_t item, OpenSource source, std::size_t connections)
    : ranges(source.version.size, connections),
      item_(item),
      version_(source.version),
      fd_(std::move(source.fd)),
      file_(std::make_shared<SourceFile>(duplicate_of(fd_), version_.size, FileRead::sendfile)),
      once_(duplicate_of(fd_), version_.size, FileRead::read),
      digest_(version_.size) {}

// Compares size and time only: reading changes neither, and a change of the mode or of the name changes no
// bytes.
bool LargeSource::has_changed() const {
  const FileVersion now = version_of(fd_.get());
  return now.size != version_.size || now.modified_ns != version_.modified_ns;
}

void LargeSource::make_digest(const std::function<void()>& ready) {
  for (bool more = true; more && !stopped_;) {
    for (std::uint64_t end = pace_; digest_.done() >= end; end = pace_) pace_.wait(end);
    const auto through = digest_.advance(once_);
    readable_ = through && *through;
    more = through && !*through;
  }
  digested_.store(true, std::memory_order_release);
  if (!stopped_) ready();
}

void LargeSource::pace_digest(std::uint64_t end) {
  pace_ = end;
  pace_.notify_one();
}

void LargeSource::stop_digest() {
  stopped_ = true;
  pace_digest(UINT64_MAX);
}

namespace {

// Limit of the offers that a server takes and then drops. Without it the server would be asked for ever.
constexpr unsigned kMostForgotten = 8;

constexpr std::uint64_t kDigestAhead = 8 << 20;  // bytes, ahead of the ranges that were handed out

}  // namespace

SendTransfer::SendTransfer(SendPlan plan)
    : Transfer(plan.most_retries),
      plan_(std::move(plan)),
      limit_(plan_.bytes_per_s),
      left_(plan_.items.size()),
      folders_(static_cast<std::size_t>(std::ranges::count_if(plan_.items, &SourceItem::is_folder))) {
  for (const SourceItem& item : plan_.items) count().total += item.version.size;
  for (const std::string& why : plan_.missing) {
    ++count().failed;
    complain(why);
  }
  asks_first_ = plan_.wishes.overwrites;  // most files may be the same
  if (left_ == 0) end();
}

SendTransfer::~SendTransfer() {
  if (large_) large_->stop_digest();
}

std::unique_ptr<Session> SendTransfer::open(const ConnectionInfo& /*info*/) {
  return send_session(*this);
}

std::uint64_t SendTransfer::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_ + (large_ ? large_->ranges.done() : 0);
}

bool SendTransfer::is_in_vain() const {
  const std::lock_guard lock(mutex_);
  return left_ == 0 && !plan_.missing.empty() && counts().failed == plan_.missing.size();
}

std::optional<Digest> SendTransfer::digest() const {
  const std::lock_guard lock(mutex_);
  return digest_;
}

SendTransfer::Work SendTransfer::next(const Asker& asker) {
  const std::lock_guard lock(mutex_);
  if (large_ && !asker.only_whole)
    if (Work work = next_of_large(); work.task != Task::none) return work;
  return next_item(asker);
}

SendTransfer::Work SendTransfer::next_of_large() {
  using Step = LargeSource::Step;
  Work work{.item = large_->item(), .large = large_};
  if (large_->step == Step::to_offer) {
    large_->step = Step::offering;
    large_->id = random_number();
    large_->pace_digest(UINT64_MAX);  // the server may have the file, and is compared with it
    work.task = Task::offer;
  } else if (large_->step == Step::sending) {
    if (const auto range = large_->ranges.take()) {
      work.task = Task::range;
      work.range = *range;
      large_->pace_digest(large_->ranges.any() ? range->end() + kDigestAhead : UINT64_MAX);
    } else if (large_->ranges.complete() && large_->is_digested()) {
      large_->step = Step::sealing;
      work.task = Task::seal;
    }
  }
  work.id = large_->id;
  return work;
}

// The size of the largest file that is sent whole. Such a file is sent at once, so that a rate limit
// restricts its size.
std::uint64_t SendTransfer::largest_whole() const {
  return limit_.applies() ? limit_.portion() : kRangeBytes;
}

SendTransfer::Work SendTransfer::next_item(const Asker& asker) {
  if (!returned_.empty()) {
    if (is_folder(returned_.front()) && !folders_.may_ask(asker.session)) return {};
    Work work = returned_.front();
    returned_.pop_front();
    return work;
  }
  while (next_ < plan_.items.size()) {
    if (plan_.items[next_].is_folder)
      return folders_.may_ask(asker.session) ? Work{.task = Task::whole, .item = next_++} : Work{};
    if (!folders_.are_all_there()) return {};
    if (plan_.items[next_].version.size <= largest_whole()) return {.task = Task::whole, .item = next_++};
    if (asker.only_whole || large_) return {};
    if (begin_large(next_++)) return next_of_large();
  }
  if (const auto item = folders_.next_to_close(asker.session))
    return {.task = Task::whole, .item = *item, .is_last = true};
  return {};
}

bool SendTransfer::begin_large(std::size_t item) {
  std::string why;
  try {
    auto source = open_source(plan_.items[item]);
    if (source) large_ = std::make_shared<LargeSource>(item, std::move(*source), dials());
    if (!source) why = source.error();
  } catch (const std::system_error& error) {
    why = printable(plan_.items[item].path) + ": " + error.what();
  }
  if (!why.empty()) {
    ++count().failed;
    complain(why);
    item_done();
    return false;
  }
  const auto digest = [this, large = large_] { large->make_digest([this] { announce(); }); };
  if (!worker_.take(digest)) digest();
  return true;
}

void SendTransfer::give_back(const Work& work) {
  const std::lock_guard lock(mutex_);
  if (work.task == Task::whole) {
    if (is_folder(work)) folders_.put_off();
    returned_.push_back(work);
    returned_.back().again = true;
    return;
  }
  if (!large_ || !is_current(work)) return;
  if (work.task == Task::offer) large_->step = LargeSource::Step::to_offer;
  if (work.task == Task::range) large_->ranges.give_back(work.range);
  if (work.task == Task::seal) {
    large_->step = LargeSource::Step::to_offer;
    large_->may_be_stored = true;
    large_->compared = false;
  }
}

void SendTransfer::put_off(const Work& work) {
  const std::lock_guard lock(mutex_);
  if (is_folder(work)) folders_.put_off();
  returned_.push_back(work);
}

// Ends the transfer after the last item.
void SendTransfer::item_done() {
  if (--left_ > 0) return;
  left_ = folders_.begin_to_close(count().failed > 0);
  left_ == 0 ? end() : announce();
}

bool SendTransfer::is_current(const Work& work) const {
  return work.large == large_ && work.id == large_->id;
}

void SendTransfer::drop_large(const Work& work) {
  if (large_ != work.large || !large_) return;
  large_->stop_digest();
  large_.reset();
}

void SendTransfer::stored(const Work& work, const Digest& digest) {
  if (work.task == Task::whole) moved(plan_.items[work.item].version.size);
  progressed();
  {
    const std::lock_guard lock(mutex_);
    digest_ = digest;
    if (work.large) drop_large(work);
    item_done();
  }
  ++count().files;
  if (work.large) announce();
}

void SendTransfer::skipped(const Work& work) {
  ++count().skipped;
  count().total -= plan_.items[work.item].version.size;
  const std::lock_guard lock(mutex_);
  if (work.large) drop_large(work);
  item_done();
}

// Counts a large file once, although several connections may find that it has failed.
void SendTransfer::failed(const Work& work, const std::string& why, bool stays) {
  complain(why);
  {
    const std::lock_guard lock(mutex_);
    if (work.large && work.large != large_) return;
    if (work.large && stays) kept_ += large_->ranges.done();
    ++count().failed;
    if (is_folder(work)) folder_done(work, false);
    if (work.large) drop_large(work);
    item_done();
  }
  if (work.large) announce();
}

void SendTransfer::offered(const Work& work, const file::Offered& offered) {
  {
    const std::lock_guard lock(mutex_);
    if (!large_ || !is_current(work)) return;
    large_->ranges.begin(offered.there);
    large_->step = LargeSource::Step::sending;
    count_again(offered.there);
    count().discarded += offered.discarded;
  }
  announce();
}

// Counts the bytes of a file that is offered once more. The server has the bytes that were there at first,
// and those that have arrived since. A part of the latter may be lost. Under the lock.
void SendTransfer::count_again(std::uint64_t there) {
  const ByteRange before = std::exchange(large_->counted, {});
  large_->counted.offset = large_->was_offered ? std::min(before.offset, there) : there;
  large_->counted.size = there - large_->counted.offset;
  large_->was_offered = true;
  count().there += large_->counted.offset - before.offset;
  count().moved += large_->counted.size - before.size;
  if (before.size > large_->counted.size) count().lost += before.size - large_->counted.size;
}

// Keeps one time for the large file, however many connections ask, and lose their work to another one.
Time SendTransfer::give_up_at(const Work& work, Time first) {
  const std::lock_guard lock(mutex_);
  if (work.large->give_up_at == Time{}) work.large->give_up_at = first;
  return work.large->give_up_at;
}

void SendTransfer::offer_again(const Work& work) {
  bool goes_on = true;
  {
    const std::lock_guard lock(mutex_);
    if (!large_ || !is_current(work)) return;
    large_->step = LargeSource::Step::to_offer;
    large_->id = 0;
    goes_on = ++large_->forgotten < kMostForgotten;
  }
  if (goes_on) return announce();
  failed(work, printable(plan_.items[work.item].name) +
                   ": the server takes it and then knows nothing of it, again and again");
}

std::optional<std::uint64_t> SendTransfer::digested() const {
  const std::lock_guard lock(mutex_);
  const bool is_awaited = large_ && large_->step == LargeSource::Step::sending && large_->ranges.complete();
  return is_awaited ? std::optional(large_->digested()) : std::nullopt;
}

void SendTransfer::finished(const Work& work) {
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    if (!large_ || !is_current(work)) return;
    moved(work.range.size);
    large_->counted.size += work.range.size;
    large_->ranges.finish(work.range);
    complete = large_->ranges.complete();
    if (large_->ranges.done() > large_->most_done) {
      large_->most_done = large_->ranges.done();
      large_->forgotten = 0;
      large_->give_up_at = {};
      progressed();
    }
  }
  if (complete) announce();
}

// Under the lock. `is_there`: the directory exists with a mode that this transfer has given it.
void SendTransfer::folder_done(const Work& work, bool is_there) {
  if (work.is_last) return folders_.answered_last();
  const SourceItem& item = plan_.items[work.item];
  const bool is_closed = item.is_parent && (item.version.mode & kOwnersPermissions) != kOwnersPermissions;
  if (folders_.answered(is_there && is_closed ? std::optional(work.item) : std::nullopt)) announce();
}

void SendTransfer::folder_is_there(const Work& work, bool by_this) {
  progressed();
  const std::lock_guard lock(mutex_);
  if (by_this && !work.is_last && !plan_.items[work.item].is_parent) ++count().folders;
  folder_done(work, by_this || plan_.wishes.overwrites);
  item_done();
}

}  // namespace joust::transfer
