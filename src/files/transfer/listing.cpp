// SPDX-License-Identifier: MIT
#include "files/transfer/listing.hpp"

#include <utility>

#include "files/transfer/list_session.hpp"

namespace joust::transfer {

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
  tree_.forget(work.coming);
  left_.push_front(std::move(work));
}

bool Listing::may_go_on(Work& work, std::span<const FolderEntry> part) {
  std::string objection;
  {
    const std::lock_guard lock(mutex_);
    objection = tree_.look_at(work.folder, part, work.coming);
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
    tree_.forget(work.coming);
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
  const std::string name = tree_.name_there(work.folder);
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
