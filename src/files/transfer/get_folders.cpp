// SPDX-License-Identifier: MIT
//
// The directories of a tree that is fetched. They are made before the files, and their owner may write to
// them until all files are stored.
#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <thread>
#include <unordered_set>

#include "base/printable.hpp"
#include "files/store/name.hpp"
#include "files/transfer/get.hpp"
#include "files/transfer/send.hpp"

namespace joust::transfer {
namespace {

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
std::unordered_set<std::string_view> ways_to(const std::vector<GetItem>& items) {
  std::unordered_set<std::string_view> ways;
  for (const GetItem& item : items) {
    std::string_view folder = split_name(item.file).folder;
    while (!folder.empty() && ways.insert(folder).second) folder = split_name(folder).folder;
  }
  return ways;
}

}  // namespace

void GetTransfer::make_folders() {
  constexpr std::size_t kTogether = 256;  // folders that the disk takes as a group
  const std::unordered_set<std::string_view> ways = ways_to(plan_.items);
  std::vector<std::shared_ptr<StoredEntry>> waiting;
  const auto settle = [&](const std::string& last) {
    for (const auto& entry : waiting)
      if (const auto settled = wait_for_disk(*entry); !settled)
        fail(fmt::format("{}: {}", printable(last), error_name(settled.error().error)));
    waiting.clear();
  };
  for (std::size_t i = 0; i < plan_.folders.size(); ++i) {
    const RemoteItem& folder = plan_.folders[i];
    const bool is_way = ways.contains(folder.name);
    auto made = storage_.make_folder(folder.name, {.mode = folder.mode | kOwnersPermissions,
                                                   .overwrites = plan_.wishes.overwrites,
                                                   .synced = plan_.wishes.synced && !is_way});
    if (!made) {
      std::string why = fmt::format("{}/{}: {}", printable(plan_.folder), printable(folder.name),
                                    error_name(made.error().error));
      if (!made.error().text.empty()) why += " (" + made.error().text + ")";
      fail(why);
      continue;
    }
    const bool by_this = !(*made)->was_there();
    if (by_this && !is_way) ++count().folders;
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
