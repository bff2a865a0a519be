// SPDX-License-Identifier: MIT
#include "files/protocol/server_downloads.hpp"

#include <utility>

namespace joust::file {
namespace {

constexpr std::size_t kLookedAt = 64;           // names in a slice: each takes one call of the file system
constexpr std::uint64_t kMostListed = 1 << 20;  // entries of one directory
constexpr std::uint64_t kMostListUnread = 64 << 10;  // bytes of a list

Facts facts_of(const OpenFile& file, const std::optional<Digest>& digest) {
  return {file.version.size, file.version.modified_ns, digest, file.version.mode};
}

}  // namespace

FileRefusal lost_source(int error) {
  if (error == 0) return {FileError::shrunk, "the file has become shorter"};
  return {error_of(error), "the file cannot be read"};
}

bool Downloads::are_allowed() {
  if (!server_.gives) answers_.refuse({FileError::not_permitted, "this server only receives files"});
  return server_.gives;
}

void Downloads::begin(const Query& query, Time now) {
  ++server_.queries;
  if (!are_allowed()) return;
  if (query.synced && !server_.takes) return answers_.refuse(takes_nothing());
  auto file = server_.storage.open(query.name);
  if (!file) return answers_.refuse(file.error());
  if (query.synced) to_sync_ = query.name;
  if (!query.wants_digest || file->digest) {
    tell(*file, file->digest, now);
    return done();
  }
  digest_.emplace(file->version.size);
  source_ = std::move(*file);
  state_ = State::digesting;
  slices_.begin(now);
}

void Downloads::tell(const OpenFile& file, const std::optional<Digest>& digest, Time now) {
  FileAnswer<std::shared_ptr<StoredEntry>> entry = nullptr;
  if (!to_sync_.empty()) entry = server_.storage.sync(to_sync_);
  answers_.send_when_on_disk(facts_of(file, digest), std::move(entry), now);
}

void Downloads::begin(const Fragment& fragment, Time /*now*/) {
  ++server_.fragments;
  answers_.count_request();
  if (!are_allowed()) return;
  auto file = server_.storage.open(fragment.name);
  if (!file) return answers_.refuse(file.error());
  const std::uint64_t size = file->version.size;
  if (fragment.range.end() > size)
    return answers_.refuse({FileError::beyond_end, "the file has " + std::to_string(size) + " bytes"});
  answers_.send(facts_of(*file, file->digest));
  source_ = std::move(*file);
  left_ = range_ = fragment.range;
  state_ = State::sending;
  send_more();
}

void Downloads::send_more() {
  if (state_ != State::sending) return;
  Outgoing& outgoing = answers_.outgoing();
  left_ = outgoing.data_ahead(answers_.request(), source_.file, left_);
  if (left_.size > 0 || !outgoing.has_room()) return;
  const bool whole = range_.size == source_.version.size;
  answers_.send(End{range_.size, whole ? source_.digest : std::nullopt});
  done();
}

// All frames of a short file may be in the output already; then its request is no longer under way.
void Downloads::source_failed(int error) {
  ++server_.refused;
  const bool latest = answers_.outgoing().source_failed(lost_source(error));
  if (latest && state_ == State::sending) done();
}

void Downloads::begin(const List& list, Time now) {
  ++server_.queries;
  if (!are_allowed()) return;
  auto folder = server_.storage.read_folder(list.name);
  if (!folder) return answers_.refuse(folder.error());
  const FolderEntry& itself = (*folder)->itself();
  answers_.send(Facts{.modified_ns = itself.modified_ns, .mode = itself.mode});
  folder_ = std::move(*folder);
  listed_ = 0;
  state_ = State::listing;
  slices_.begin(now);
}

void Downloads::go_on(Time now) {
  if (state_ == State::digesting) digest_slice(now);
  if (state_ == State::listing) list_slice();
}

void Downloads::digest_slice(Time now) {
  const std::uint64_t before = digest_->done();
  const bool is_long = source_.version.size - before > Slices::kWithoutTurn;
  if (is_long && !slices_.take_turn(false, now)) return;
  const auto through = digest_->advance(*source_.file);
  server_.bytes_digested += digest_->done() - before;
  if (!through) {
    answers_.refuse(lost_source(through.error()));
    return done();
  }
  if (!*through) return answers_.working(digest_->done(), now);
  const Digest digest = digest_->value();
  server_.storage.remember(source_, digest);
  tell(source_, digest, now);
  done();
}

bool Downloads::is_listing_unread() const {
  return state_ == State::listing && answers_.outgoing().cost() > kMostListUnread;
}

void Downloads::list_slice() {
  if (is_listing_unread()) return;
  std::vector<FolderEntry> found;
  const auto looked_at = folder_->read(kLookedAt, found);
  listed_ += found.size();
  send_entries(std::move(found));
  const bool is_too_large = listed_ > kMostListed;
  if (looked_at && *looked_at == kLookedAt && !is_too_large) return;
  if (!looked_at)
    answers_.refuse({error_of(looked_at.error()), "the directory cannot be read"});
  else if (is_too_large)
    answers_.refuse({FileError::too_large, "the directory has more than 1,048,576 entries"});
  else
    answers_.send(Listed{listed_, folder_->left_out()});
  done();
}

// Sends the entries, as many in a frame as fit.
void Downloads::send_entries(std::vector<FolderEntry> found) {
  Entries part;
  std::size_t size = kEntriesHeadBytes;
  for (FolderEntry& entry : found) {
    const std::size_t needed = kEntryHeadBytes + entry.name.size();
    if (size + needed > kLargestBody) {
      answers_.send(std::exchange(part, {}));
      size = kEntriesHeadBytes;
    }
    size += needed;
    part.entries.push_back(std::move(entry));
  }
  if (!part.entries.empty()) answers_.send(std::move(part));
}

void Downloads::done() {
  state_ = State::idle;
  source_ = {};
  digest_.reset();
  to_sync_.clear();
  folder_.reset();
  slices_.end();
}

}  // namespace joust::file
