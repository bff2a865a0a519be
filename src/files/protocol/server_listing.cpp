// SPDX-License-Identifier: MIT
//
// Lists a directory: in slices, as digests are made, and no faster than the peer reads.
#include <utility>

#include "files/protocol/server_session.hpp"

namespace joust::file {
namespace {

constexpr std::size_t kLookedAt = 64;            // names in a slice: each takes one call of the file system
constexpr std::uint64_t kMostListed = 1 << 20;   // entries of one directory
constexpr std::uint64_t kMostUnread = 64 << 10;  // bytes of the answer

}  // namespace

void ServerSession::begin(const List& list, Time now) {
  ++server_.queries;
  if (!may_download()) return;
  auto folder = server_.storage.read_folder(list.name);
  if (!folder) return refuse(folder.error());
  const FolderEntry& itself = (*folder)->itself();
  outgoing_.message({request_, Facts{.modified_ns = itself.modified_ns, .mode = itself.mode}});
  folder_ = std::move(*folder);
  listed_ = 0;
  state_ = State::listing;
  due_ = now;
}

bool ServerSession::is_listing_unread() const {
  return state_ == State::listing && outgoing_.cost() > kMostUnread;
}

void ServerSession::list_slice() {
  if (is_listing_unread()) return;
  std::vector<FolderEntry> found;
  const auto looked_at = folder_->read(kLookedAt, found);
  listed_ += found.size();
  send_entries(std::move(found));
  const bool is_too_large = listed_ > kMostListed;
  if (looked_at && *looked_at == kLookedAt && !is_too_large) return;
  if (!looked_at)
    refuse({error_of(looked_at.error()), "the directory cannot be read"});
  else if (is_too_large)
    refuse({FileError::too_large, "the directory has more than 1,048,576 entries"});
  else
    outgoing_.message({request_, Listed{listed_, folder_->left_out()}});
  answered();
}

// Sends the entries, as many in a frame as fit.
void ServerSession::send_entries(std::vector<FolderEntry> found) {
  Entries part;
  std::size_t size = kEntriesHeadBytes;
  for (FolderEntry& entry : found) {
    const std::size_t needed = kEntryHeadBytes + entry.name.size();
    if (size + needed > kLargestBody) {
      outgoing_.message({request_, std::exchange(part, {})});
      size = kEntriesHeadBytes;
    }
    size += needed;
    part.entries.push_back(std::move(entry));
  }
  if (!part.entries.empty()) outgoing_.message({request_, std::move(part)});
}

}  // namespace joust::file
