// SPDX-License-Identifier: MIT
#include "files/transfer/get.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "files/store/disk/directory_tree.hpp"
#include "files/store/name.hpp"
#include "files/store/upload/tree_storage.hpp"
#include "files/transfer/send.hpp"

namespace joust::transfer {
namespace {

// The file system's own limits count here, and no other. The kernel moves the bytes, where the engine lets
// it, while another core digests the stored ones.
constexpr StorageRules kRules{.existing = Existing::replace,
                              .largest_file = UINT64_MAX,
                              .most_stored = UINT64_MAX,
                              .write = FileWrite::splice};

// Limit of the files under way, if the descriptors suffice.
constexpr std::uint64_t kMostActive = 64;
std::size_t most_active() {
  return std::clamp<std::uint64_t>(descriptors::uploads_of(descriptor_limit().rlim_cur), 1, kMostActive);
}

constexpr auto kFolderPause = std::chrono::milliseconds(2);

// Blocks the caller until the disk has the entry: nothing else is done meanwhile.
FileAnswer<void> wait_for_disk(StoredEntry& entry) {
  for (;;) {
    const auto is_there = entry.is_on_disk();
    if (!is_there) return std::unexpected(is_there.error());
    if (*is_there) return {};
    std::this_thread::sleep_for(kFolderPause);
  }
}

// Returns the folders that contain a file of the plan, directly or further below.
std::unordered_set<std::string_view> parents_of(const std::vector<GetItem>& items) {
  std::unordered_set<std::string_view> parents;
  for (const GetItem& item : items) {
    std::string_view folder = split_name(item.file).folder;
    while (!folder.empty() && parents.insert(folder).second) folder = split_name(folder).folder;
  }
  return parents;
}

}  // namespace

GetTransfer::GetTransfer(GetPlan plan)
    : Transfer(plan.most_retries),
      plan_(std::move(plan)),
      limit_(plan_.bytes_per_s),
      storage_(std::make_unique<DirectoryTree>(plan_.folder), kRules),
      most_active_(most_active()),
      left_(plan_.items.size()) {
  for (const GetItem& item : plan_.items)
    if (item.facts) count().total += item.facts->size;
  for (const std::string& why : plan_.missing) fail(why);
  if (left_ == 0) end();
}

std::unique_ptr<Session> GetTransfer::open(const ConnectionInfo& /*info*/) {
  return get_session(*this);
}

std::uint64_t GetTransfer::kept() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t kept = kept_;
  for (const auto& file : active_) kept += file->kept();
  return kept;
}

std::optional<Digest> GetTransfer::fetched() const {
  const std::lock_guard lock(mutex_);
  return fetched_;
}

std::optional<file::Facts> GetTransfer::facts() const {
  const std::lock_guard lock(mutex_);
  return active_.empty() ? std::nullopt : active_.front()->facts();
}

// Returns the number of connections for so many bytes, which is no more than the number of ranges.
std::size_t GetTransfer::connections_for(std::uint64_t bytes) const {
  return std::clamp<std::uint64_t>(RangesLeft::most_of(bytes), 1, plan_.connections(bytes));
}

// Takes work of the files under way first. Begins another file if all of them wait for something.
GetTransfer::Work GetTransfer::next(const void* session, bool only_small) {
  const std::lock_guard lock(mutex_);
  if (first_ == nullptr) first_ = session;
  for (std::size_t i = 0;; ++i) {
    if (i == active_.size()) {
      if (next_ == plan_.items.size() || i >= most_active_) return {};
      if (only_small && !FileDownload::is_listed(plan_.items[next_])) return {};
      active_.push_back(std::make_shared<FileDownload>(*this, plan_.items[next_++]));
    }
    if (only_small && !active_[i]->is_listed()) continue;
    Work work = active_[i]->next(session == first_);
    if (work.task == FileDownload::Task::none) continue;
    work.of = active_[i];
    return work;
  }
}

void GetTransfer::gone(const void* session) {
  const std::lock_guard lock(mutex_);
  if (first_ == session) first_ = nullptr;
}

void GetTransfer::renew(const FileDownload& file) {
  count().total -= file.item().facts->size;
  {
    const std::lock_guard lock(mutex_);
    for (auto& one : active_)
      if (one.get() == &file)
        one = std::make_shared<FileDownload>(*this,
                                             GetItem{.name = file.item().name, .file = file.item().file});
  }
  announce();
}

void GetTransfer::skipped(const FileDownload& file, std::uint64_t bytes) {
  ++count().skipped;
  count().total -= bytes;
  progressed();
  done(file);
}

void GetTransfer::fetched(const FileDownload& file, const Digest& digest) {
  {
    const std::lock_guard lock(mutex_);
    fetched_ = digest;
  }
  ++count().files;
  done(file);
}

void GetTransfer::failed(const FileDownload& file, const std::string& why, std::uint64_t kept) {
  {
    const std::lock_guard lock(mutex_);
    kept_ += kept;
  }
  fail(why);
  done(file);
}

void GetTransfer::fail(const std::string& why) {
  ++count().failed;
  complain(why);
}

void GetTransfer::done(const FileDownload& file) {
  bool was_last = false;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(active_, [&](const auto& one) { return one.get() == &file; });
    was_last = --left_ == 0;
  }
  was_last ? end() : announce();
}

void GetTransfer::make_folders() {
  constexpr std::size_t kTogether = 256;  // folders that the disk takes as a group
  const std::unordered_set<std::string_view> parents = parents_of(plan_.items);
  std::vector<std::shared_ptr<StoredEntry>> waiting;
  const auto settle = [&](const std::string& last) {
    for (const auto& entry : waiting)
      if (const auto settled = wait_for_disk(*entry); !settled)
        fail(fmt::format("{}: {}", printable(last), error_name(settled.error().error)));
    waiting.clear();
  };
  for (std::size_t i = 0; i < plan_.folders.size(); ++i) {
    const RemoteItem& folder = plan_.folders[i];
    const bool is_parent = parents.contains(folder.name);
    auto made = storage_.make_folder(folder.name, {.mode = folder.mode | kOwnersPermissions,
                                                   .overwrites = plan_.wishes.overwrites,
                                                   .synced = plan_.wishes.synced && !is_parent});
    if (!made) {
      std::string why = fmt::format("{}/{}: {}", printable(plan_.folder), printable(folder.name),
                                    error_name(made.error().error));
      if (!made.error().text.empty()) why += " (" + made.error().text + ")";
      fail(why);
      continue;
    }
    const bool by_this = !(*made)->was_there();
    if (by_this && !is_parent) ++count().folders;
    if ((by_this || plan_.wishes.overwrites) && (folder.mode & kOwnersPermissions) != kOwnersPermissions)
      closed_.push_back(i);
    waiting.push_back(std::move(*made));
    if (waiting.size() == kTogether) settle(folder.name);
  }
  if (!waiting.empty()) settle(plan_.folders.back().name);
}

// Closes the deepest folder first: no process may pass through a closed one. If something has failed, all
// folders stay open for the next attempt.
void GetTransfer::close_folders() {
  if (count().failed > 0) return;
  for (; !closed_.empty(); closed_.pop_back()) {
    const RemoteItem& folder = plan_.folders[closed_.back()];
    const auto made = storage_.make_folder(
        folder.name, {.mode = folder.mode, .overwrites = true, .synced = plan_.wishes.synced});
    const auto settled = made ? wait_for_disk(**made) : std::unexpected(made.error());
    if (!settled)
      fail(fmt::format("{}/{}: its mode cannot be set: {}", printable(plan_.folder), printable(folder.name),
                       error_name(settled.error().error)));
  }
}

}  // namespace joust::transfer
