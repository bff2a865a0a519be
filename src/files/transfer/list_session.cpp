// SPDX-License-Identifier: MIT
#include "files/transfer/list_session.hpp"

#include <utility>

namespace joust::transfer {
namespace {

constexpr std::size_t kMostAsked = 16;  // directories at a time

}  // namespace

ListSession::~ListSession() {
  give_back_work();
}

void ListSession::give_back_work() {
  while (!pending_.empty()) {
    listing_.give_back(std::move(pending_.back().work));
    pending_.pop_back();
  }
}

void ListSession::proceed(Time now) {
  while (pending_.size() < kMostAsked && may_have_work() && !listing_.over()) {
    auto work = listing_.next();
    if (!work) return;
    if (!busy()) alive(now);
    const std::string name = joined(listing_.plan().name, work->folder);
    ++request_;
    if (work->may_be_file)
      outgoing().message({request_, file::Query{name, false}});
    else
      outgoing().message({request_, file::List{name}});
    pending_.push_back({.request = request_, .work = std::move(*work)});
  }
}

void ListSession::take(const file::Message& message, Time now) {
  if (listing_.over()) return;
  const auto* error = std::get_if<file::Error>(&message.body);
  // The server ends the connection, or has no descriptors at present: another connection may have more
  // success.
  if (error != nullptr && (message.request == 0 || error->refusal.error == FileError::too_slow ||
                           error->refusal.error == FileError::busy))
    return lose(words_of("connection", error->refusal), now);
  if (pending_.empty() || message.request != pending_.front().request)
    return lose("an answer without a request", now);
  if (std::holds_alternative<file::Working>(message.body)) return;
  if (error != nullptr) {
    Listing::Work work = std::move(pending_.front().work);
    pending_.pop_front();
    return listing_.refused(std::move(work), error->refusal);
  }
  bool is_answer = false;
  if (const auto* facts = std::get_if<file::Facts>(&message.body)) is_answer = take_facts(*facts);
  if (const auto* part = std::get_if<file::Entries>(&message.body)) is_answer = take_entries(*part);
  if (const auto* listed = std::get_if<file::Listed>(&message.body)) is_answer = take_end(*listed);
  if (!is_answer) lose("a frame that is no answer", now);
}

bool ListSession::take_facts(const file::Facts& facts) {
  Pending& pending = pending_.front();
  if (pending.facts) return false;
  pending.facts = facts;
  if (!pending.work.may_be_file) return true;
  pending_.pop_front();
  listing_.is_a_file(facts);
  return true;
}

bool ListSession::take_entries(const file::Entries& part) {
  Pending& pending = pending_.front();
  if (!pending.facts || pending.work.may_be_file || part.entries.empty()) return false;
  if (listing_.may_go_on(pending.work, part.entries))
    pending.entries.insert(pending.entries.end(), part.entries.begin(), part.entries.end());
  return true;
}

bool ListSession::take_end(const file::Listed& listed) {
  if (!pending_.front().facts || listed.entries != pending_.front().entries.size()) return false;
  Pending pending = std::move(pending_.front());
  pending_.pop_front();
  listing_.listed(std::move(pending.work), *pending.facts, std::move(pending.entries), listed.left_out);
  return true;
}

}  // namespace joust::transfer
