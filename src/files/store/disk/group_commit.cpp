// SPDX-License-Identifier: MIT
#include "files/store/disk/group_commit.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "base/system/files.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostOfGroup = 256;  // the first file of a group is answered with the last

// True if what is known of the folder of one file holds for that of the other. Their handle is one, because
// both hold it open.
bool shares_folder(const NewFile& one, const NewFile& other) {
  return one.folder() >= 0 && one.folder() == other.folder() && one.folder_path() == other.folder_path();
}

}  // namespace

void publish(std::span<Publication> files, bool synced, const std::atomic<bool>* ending) {
  // Runs a step for each file that has no error yet. A lack of memory is an error of the file as well: a
  // thread has no caller that could catch it.
  const auto each = [&](auto step) {
    for (Publication& one : files) {
      if (!one.result) continue;
      try {
        const int error = ending != nullptr && *ending ? ECANCELED : step(one);
        if (error != 0) one.result = std::unexpected(error);
      } catch (const std::bad_alloc&) {
        one.result = std::unexpected(ENOMEM);
      }
    }
  };
  // Mode and time of a file are set before its sync.
  each([&](const Publication& one) {
    const int error = one.file->complete(one.fd);
    if (error == 0 && synced && one.fd >= 0 && files.size() > 1) start_writing(one.fd);
    return error;
  });
  // The kernel reports such an error once and then treats the pages as written: a later attempt would read
  // from memory what the disk does not have.
  each([&](const Publication& one) {
    if (!synced || one.fd < 0 || retry_interrupted([&] { return ::fsync(one.fd); }) == 0) return 0;
    const int error = errno;
    one.file->abandon();
    return error;
  });
  // A folder is confirmed just before its files get their names, once for those that share its handle and its
  // path. The answer for another path says nothing: a folder that was renamed meanwhile is reached by one of
  // two paths only.
  const NewFile* confirmed = nullptr;
  each([&](Publication& one) {
    const bool is_known =
        one.file->has_name() || (confirmed != nullptr && shares_folder(*confirmed, *one.file));
    if (const int error = is_known ? 0 : one.file->confirm_folder(); error != 0) return error;
    if (!one.file->has_name()) confirmed = one.file;
    one.result = one.file->take_name(one.fd);
    return 0;
  });
  if (!synced) return;
  // A folder that is on the disk is synced for the other files in it too. An error is the file's own: it may
  // be one of its path.
  const NewFile* on_disk = nullptr;
  each([&](Publication& one) {
    if (on_disk != nullptr && shares_folder(*on_disk, *one.file)) return 0;
    struct stat facts {};
    if (one.file->folder() >= 0 && ::fstat(one.file->folder(), &facts) != 0) return errno;
    const std::pair folder{facts.st_dev, facts.st_ino};
    if (std::ranges::find(files, std::optional(folder), &Publication::synced_folder) != files.end()) return 0;
    const int error = one.file->sync_folder(one.fd);
    if (error == 0) one.synced_folder = folder;
    if (error == 0) on_disk = one.file;
    return error;
  });
}

std::expected<ReplacedBytes, int> publish(NewFile& file, int fd, bool synced) {
  Publication one{.file = &file, .fd = fd};
  publish(std::span(&one, 1), synced);
  return one.result;
}

void GroupCommit::Member::publish_alone() {
  committed(publish(new_file(), number(), true));
}

GroupCommit::GroupCommit() {
  members_.reserve(kMostOfGroup);
  files_.reserve(kMostOfGroup);
}

GroupCommit::~GroupCommit() {
  ending_ = true;
}

bool GroupCommit::add(const std::shared_ptr<Member>& file) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(file);
  try {
    running_ = running_ || worker_.take([this] { run(); });
  } catch (const std::bad_alloc&) {
    running_ = false;
  }
  if (running_)
    ++count_;
  else
    waiting_.pop_back();
  return running_;
}

void GroupCommit::run() {
  while (gather()) {
    const std::size_t taken = members_.size();
    publish(files_, true, &ending_);
    for (std::size_t i = 0; i < taken; ++i) members_[i]->committed(files_[i].result);
    files_.clear();
    members_.clear();  // may hold the last references
    count_ -= taken;
  }
}

bool GroupCommit::gather() {
  const std::lock_guard lock(mutex_);
  while (!ending_ && !waiting_.empty() && members_.size() < kMostOfGroup) {
    if (auto member = waiting_.front().lock()) {
      files_.push_back({.file = &member->new_file(), .fd = member->number()});
      members_.push_back(std::move(member));
    } else {
      --count_;
    }
    waiting_.pop_front();
  }
  running_ = !members_.empty();
  return running_;
}

}  // namespace joust
