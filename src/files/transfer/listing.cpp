// SPDX-License-Identifier: MIT
#include "files/transfer/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "files/store/name.hpp"
#include "files/transfer/transfer_session.hpp"

namespace joust::transfer {

namespace {

// Orders "/" before all other characters, so that a directory is followed by its entries.
bool is_before(const RemoteItem& one, const RemoteItem& other) {
  const auto rank = [](char c) { return c == '/' ? 0U : 1U + static_cast<unsigned char>(c); };
  return std::ranges::lexicographical_compare(one.name, other.name, {}, rank, rank);
}

}  // namespace

std::string RemoteTree::remote_name(std::string_view below) const {
  return joined(top_, below);
}

std::string RemoteTree::display_name(const std::string& folder) const {
  const std::string name = remote_name(folder);
  return name.empty() ? "the server's directory" : printable(name);
}

std::string RemoteTree::words_on(const std::string& folder, std::string_view what) const {
  return fmt::format("the server's list of {} is not to be trusted: {}",
                     remote_name(folder).empty() ? "its directory" : display_name(folder), what);
}

std::string RemoteTree::objection_to_entry(const std::string& folder, const FolderEntry& entry) const {
  std::string_view why = objection_to(entry.name);
  if (why.empty() && entry.name.contains('/')) why = "the name has more than one part";
  const std::string below = joined(folder, entry.name);
  if (why.empty()) why = objection_to(remote_name(below));
  if (!why.empty()) return words_on(folder, fmt::format("it has '{}': {}", printable(entry.name), why));
  if (static_cast<std::size_t>(std::ranges::count(below, '/')) < limits_.depth) return {};
  return fmt::format("{}: more than {} directories in one another", display_name(folder), limits_.depth);
}

std::string RemoteTree::objection_to_size(const std::string& folder, std::size_t entries,
                                          std::uint64_t name_bytes) const {
  if (entries > limits_.entries)
    return fmt::format("{}: more than {} files and directories; take its directories one by one",
                       display_name(folder), grouped(limits_.entries));
  if (name_bytes > limits_.name_bytes)
    return fmt::format("{}: names of more than {}; take its directories one by one", display_name(folder),
                       format_bytes(static_cast<double>(limits_.name_bytes)));
  return {};
}

std::string RemoteTree::check_part(const std::string& folder, std::span<const FolderEntry> part,
                                   Incoming& incoming) {
  for (const FolderEntry& entry : part) {
    if (auto objection = objection_to_entry(folder, entry); !objection.empty()) return objection;
    const std::uint64_t bytes = joined(folder, entry.name).size();
    ++incoming.entries;
    ++incoming_.entries;
    incoming.name_bytes += bytes;
    incoming_.name_bytes += bytes;
  }
  return objection_to_size(folder, items_.size() + incoming_.entries, name_bytes_ + incoming_.name_bytes);
}

void RemoteTree::forget(Incoming& incoming) {
  incoming_.entries -= incoming.entries;
  incoming_.name_bytes -= incoming.name_bytes;
  incoming = {};
}

std::string RemoteTree::add(const std::string& folder, std::vector<FolderEntry> entries) {
  std::ranges::sort(entries, {}, &FolderEntry::name);
  const auto twice = std::ranges::adjacent_find(entries, {}, &FolderEntry::name);
  if (twice != entries.end())
    return words_on(folder, fmt::format("it has '{}' twice", printable(twice->name)));
  for (FolderEntry& entry : entries) {
    if (auto objection = objection_to_entry(folder, entry); !objection.empty()) return objection;
    entry.name = joined(folder, entry.name);
    name_bytes_ += entry.name.size();
    if (entry.is_folder) entry.size = 0;
    if (entry.size > limits_.bytes - bytes_)
      return words_on(folder, fmt::format("the files have more than {} bytes", grouped(limits_.bytes)));
    bytes_ += entry.size;
    items_.push_back(std::move(entry));
  }
  return objection_to_size(folder, items_.size(), name_bytes_);
}

std::vector<RemoteItem> RemoteTree::take_sorted() {
  std::ranges::sort(items_, is_before);
  return std::exchange(items_, {});
}

namespace {

// One connection that lists directories, several of them without waiting for answers.
class ListSession : public TransferSession {
 public:
  explicit ListSession(Listing& listing) : TransferSession(listing), listing_(listing) {}
  ~ListSession() override;

 private:
  // A directory whose answer is awaited, and the part of the answer that has arrived.
  struct Pending {
    std::uint32_t request = 0;
    Listing::Work work{};
    std::optional<file::Facts> facts{};
    std::vector<FolderEntry> entries{};
  };

  void proceed(Time now) override;
  void take(const file::Message& message, Time now) override;
  const std::string& any_name() const override { return listing_.plan().name; }
  void requeue_work() override;
  bool busy() const override { return !pending_.empty(); }

  // Each returns false for a frame that is no answer.
  bool take_facts(const file::Facts& facts);
  bool take_entries(const file::Entries& part);
  bool take_end(const file::Listed& listed);

  Listing& listing_;
  std::deque<Pending> pending_;
  std::uint32_t request_ = 0;
};

constexpr std::size_t kMostAsked = 16;  // directories at a time

ListSession::~ListSession() {
  requeue_work();
}

void ListSession::requeue_work() {
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
      queue().message({request_, file::Query{name, false}});
    else
      queue().message({request_, file::List{name}});
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

}  // namespace

Listing::Listing(const ListPlan& plan)
    : Transfer(plan.most_retries),
      plan_(plan),
      tree_(plan.name, plan.limits),
      left_{Work{.may_be_file = plan.only_kind}} {}

std::unique_ptr<Session> Listing::open(const ConnectionInfo& /*info*/) {
  return std::make_unique<ListSession>(*this);
}

std::optional<Listing::Work> Listing::next() {
  const std::lock_guard lock(mutex_);
  if (left_.empty()) return std::nullopt;
  Work work = std::move(left_.front());
  left_.pop_front();
  return work;
}

void Listing::give_back(Work work) {
  const std::lock_guard lock(mutex_);
  tree_.forget(work.incoming);
  left_.push_front(std::move(work));
}

bool Listing::may_go_on(Work& work, std::span<const FolderEntry> part) {
  std::string objection;
  {
    const std::lock_guard lock(mutex_);
    objection = tree_.check_part(work.folder, part, work.incoming);
  }
  if (!objection.empty()) give_up(objection);
  return objection.empty();
}

void Listing::listed(Work work, const file::Facts& facts, std::vector<FolderEntry> entries,
                     std::uint64_t left_out) {
  std::vector<std::string> folders;
  if (plan_.recursive)
    for (const FolderEntry& entry : entries)
      if (entry.is_folder) folders.push_back(joined(work.folder, entry.name));
  std::string objection;
  {
    const std::lock_guard lock(mutex_);
    tree_.forget(work.incoming);
    objection = tree_.add(work.folder, std::move(entries));
    if (objection.empty()) {
      for (std::string& folder : folders) left_.push_back({.folder = std::move(folder)});
      unlisted_ += folders.size();
      left_out_ += left_out;
      if (is_top(work)) facts_ = facts;
    }
  }
  if (!objection.empty()) return give_up(objection);
  progressed();
  done();
}

void Listing::is_a_file(const file::Facts& facts) {
  {
    const std::lock_guard lock(mutex_);
    facts_ = facts;
    is_file_ = true;
  }
  done();
}

// True if the refusal is an answer to the question for the kind. A server that permits no look at its files
// may have the file or not.
bool Listing::tells_kind(const FileRefusal& refusal) {
  is_folder_ = refusal.error == FileError::not_a_file;
  return is_folder_ || refusal.error == FileError::not_found || refusal.error == FileError::not_permitted;
}

// Asks for a file after the name was refused as a directory: the server refuses files and missing names in
// that way.
void Listing::refused(Work work, const FileRefusal& refusal) {
  if (plan_.only_kind && tells_kind(refusal)) return done();
  const bool may_be_file = refusal.error == FileError::not_found || refusal.error == FileError::not_a_file;
  if (is_top(work) && !work.may_be_file && may_be_file && !plan_.name.empty()) {
    work.may_be_file = true;
    return give_back(std::move(work));
  }
  const std::string name = tree_.remote_name(work.folder);
  const std::string why = words_of(name.empty() ? "the server's directory" : name, refusal);
  if (is_top(work)) return give_up(why);
  ++count().failed;
  complain(why);
  done();
}

void Listing::done() {
  bool was_last = false;
  {
    const std::lock_guard lock(mutex_);
    was_last = --unlisted_ == 0;
  }
  if (was_last) end();
}

// Drops all items: the earlier entries of an untrusted list are of no use either.
void Listing::give_up(const std::string& why) {
  take_items();
  ++count().failed;
  complain(why);
  end();
}

}  // namespace joust::transfer
