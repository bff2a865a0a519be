// SPDX-License-Identifier: MIT
//
// What the server says of the files that a connection brings.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "transfer/bring_session.hpp"

namespace joust::transfer {
namespace {

// A server may still hold what a lost connection has begun, or have no place for more. It may need its idle
// limit, a minute, to notice that a connection is gone.
constexpr Duration kAskAgain = std::chrono::milliseconds(250);
constexpr unsigned kMostAttempts = 400;

std::string with_remedy(std::string words, FileError error) {
  if (error == FileError::exists) words += "; --overwrite replaces files, --skip-existing leaves them";
  return words;
}

// After a lost answer, of a server from which nothing can be fetched.
std::string untold(const std::string& name) {
  return printable(name) +
         ": is there, but the server does not tell whether it is this file: the connection was lost before "
         "its "
         "answer; --overwrite sends it again";
}

}  // namespace

void BringSession::take(const file::Message& message, Time now) {
  now_ = now;
  if (std::holds_alternative<file::Working>(message.body)) return;
  // The server ends the connection. Who is too slow is told so in the answer of what is under way, which may
  // be no reason for it.
  const auto* error = std::get_if<file::Error>(&message.body);
  if (error != nullptr && (message.request == 0 || error->refusal.error == FileError::too_slow))
    return lose(words_of("connection", error->refusal), now);
  if (!pending_.empty()) return take_of_whole(message, now);
  if (work_.task != Task::none && !waiting_ && message.request == request_)
    return take_of_large(message, now);
  lose("an answer nobody asked for", now);
}

void BringSession::take_of_whole(const file::Message& message, Time now) {
  if (message.request != pending_.front().request) return lose("an answer nobody asked for", now);
  const Pending pending = std::move(pending_.front());
  pending_.pop_front();
  if (const auto* error = std::get_if<file::Error>(&message.body))
    return refused_whole(pending, error->refusal);
  if (const auto* stored = std::get_if<file::Stored>(&message.body);
      stored != nullptr && stored->complete && stored->digest == pending.digest)
    return bring_.stored(pending.work, pending.digest);
  if (const auto* offered = std::get_if<file::Offered>(&message.body); offered != nullptr && offered->skipped)
    return bring_.skipped(pending.work);
  const auto* facts = std::get_if<file::Facts>(&message.body);
  const std::string& name = bring_.item(pending.work.item).name;
  if (pending.asked && facts != nullptr)
    return facts->digest == pending.digest ? bring_.stored(pending.work, pending.digest)
                                           : refused_whole({.work = pending.work}, {FileError::exists, ""});
  pending_.push_front(pending);  // still asked for: to lose an idle connection costs no retry
  lose(printable(name) + ": a frame that is no answer", now);
}

// A file that was brought again after a lost connection may be the one that is there.
void BringSession::refused_whole(const Pending& pending, const FileRefusal& refusal) {
  const std::string& name = bring_.item(pending.work.item).name;
  // By time: whichever connection is free asks again, and with many of them that is soon.
  if (refusal.error == FileError::busy &&
      (pending.work.give_up_at == Time{} || now_ < pending.work.give_up_at)) {
    Bring::Work later = pending.work;
    later.again = later.again || pending.asked;
    if (later.give_up_at == Time{}) later.give_up_at = now_ + kMostAttempts * kAskAgain;
    go_on_at_ = std::max(go_on_at_, now_ + kAskAgain);
    return bring_.put_off(later);
  }
  if (refusal.error == FileError::exists && pending.work.again && !pending.asked) {
    Pending asked = pending;
    asked.work.again = false;
    asked.asked = true;
    asked.request = ++request_;
    outgoing().message({request_, file::Query{name, true}});
    pending_.push_back(std::move(asked));
    return;
  }
  if (pending.asked && refusal.error == FileError::not_permitted)
    return bring_.failed(pending.work, untold(name));
  bring_.failed(pending.work, with_remedy(words_of(name, refusal), refusal.error));
}

void BringSession::take_of_large(const file::Message& message, Time now) {
  if (const auto* error = std::get_if<file::Error>(&message.body)) return refused_large(error->refusal, now);
  const auto* stored = std::get_if<file::Stored>(&message.body);
  if (const auto* facts = std::get_if<file::Facts>(&message.body); facts != nullptr && asked_) {
    const Bring::Work work = std::exchange(work_, {});
    if (facts->digest && facts->digest == work.large->digest()) return bring_.stored(work, *facts->digest);
    const std::string& name = bring_.item(work.item).name;
    return bring_.failed(work, with_remedy(words_of(name, {FileError::exists, ""}), FileError::exists));
  }
  if (const auto* offered = std::get_if<file::Offered>(&message.body);
      offered != nullptr && work_.task == Task::offer && offered->there <= work_.large->version().size) {
    const Bring::Work work = std::exchange(work_, {});
    return offered->skipped ? bring_.skipped(work) : bring_.offered(work, *offered);
  }
  if (stored != nullptr && work_.task == Task::range && !sending_ &&
      stored->range.offset == work_.range.offset && stored->range.size == work_.range.size)
    return bring_.finished(std::exchange(work_, {}));
  if (stored != nullptr && work_.task == Task::seal && stored->complete &&
      stored->digest == work_.large->digest()) {
    const Bring::Work work = std::exchange(work_, {});
    return bring_.stored(work, *stored->digest);
  }
  lose("a frame that is no answer", now);
}

void BringSession::refused_large(const FileRefusal& refusal, Time now) {
  if (std::exchange(sending_, false))  // the rest of the range is not wanted
    outgoing().message({request_, file::Error{{FileError::given_up, ""}}});
  left_ = {};
  const bool held = refusal.error == FileError::busy || refusal.error == FileError::overlap;
  if (held && ++attempts_ < kMostAttempts) {
    waiting_ = true;
    again_at_ = now + kAskAgain;
    return;
  }
  // The file that is there may be this one.
  if (refusal.error == FileError::exists && work_.large->may_be_stored && !std::exchange(asked_, true)) {
    outgoing().message({++request_, file::Query{bring_.item(work_.item).name, true}});
    return;
  }
  const Bring::Work work = std::exchange(work_, {});
  if (refusal.error == FileError::not_found && work.task != Task::offer) return bring_.offer_again(work);
  const std::string& name = bring_.item(work.item).name;
  if (asked_ && refusal.error == FileError::not_permitted) return bring_.failed(work, untold(name));
  bring_.failed(work, with_remedy(words_of(name, refusal), refusal.error));
}

}  // namespace joust::transfer
