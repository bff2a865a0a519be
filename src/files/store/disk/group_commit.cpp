// SPDX-License-Identifier: MIT
#include "files/store/disk/group_commit.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <optional>

#include "base/check.hpp"
#include "base/system/start_writing.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostOfGroup = 256;  // the first file of a group is answered with the last

// Uses the answer for the first file of a folder for the files that follow in that folder.
class OncePerFolder {
 public:
  using Folder = std::pair<dev_t, ino_t>;

  template <typename Ask>
  int ask(const Folder& folder, Ask question) {
    if (last_ != folder) answer_ = question();
    last_ = folder;
    return answer_;
  }

 private:
  std::optional<Folder> last_{};
  int answer_ = 0;
};

}  // namespace

// Catches a lack of memory here, because a thread has no caller that could.
void GroupCommit::Member::publish_alone() {
  try {
    committed(place().publish(number(), true));
  } catch (const std::bad_alloc&) {
    committed(std::unexpected(ENOMEM));
  }
}

GroupCommit::GroupCommit() {
  group_.reserve(kMostOfGroup);
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
    const std::size_t taken = group_.size();
    commit();
    for (const File& file : group_) file.member->committed(file.result);
    group_.clear();  // may hold the last references
    count_ -= taken;
  }
}

bool GroupCommit::gather() {
  const std::lock_guard lock(mutex_);
  while (!ending_ && !waiting_.empty() && group_.size() < kMostOfGroup) {
    if (auto member = waiting_.front().lock())
      group_.push_back({.member = std::move(member)});
    else
      --count_;
    waiting_.pop_front();
  }
  running_ = !group_.empty();
  return running_;
}

// Runs a step for each file that has no error yet. The error of a step becomes the file's result, as does a
// lack of memory: this thread has no caller that could catch it.
template <typename Step>
void GroupCommit::each_that_goes_on(Step step) {
  for (File& file : group_) {
    if (!file.result) continue;
    try {
      if (const int error = ending_ ? ECANCELED : step(file); error != 0)
        file.result = std::unexpected(error);
    } catch (const std::bad_alloc&) {
      file.result = std::unexpected(ENOMEM);
    }
  }
}

// Runs each step for all files before the next one. Mode and time of a file are set before its sync, and its
// name after it.
void GroupCommit::commit() {
  each_that_goes_on([](const File& file) {
    const int error = file.member->place().complete(file.member->number());
    if (error == 0 && file.member->number() >= 0) start_writing(file.member->number());
    return error;
  });
  each_that_goes_on([](const File& file) {
    const int fd = file.member->number();
    if (fd < 0 || retry_interrupted([&] { return ::fsync(fd); }) == 0) return 0;
    const int error = errno;
    file.member->place().abandon();  // as publish() does then
    return error;
  });
  find_folders();
  take_names();
  sync_folders();
}

void GroupCommit::find_folders() {
  each_that_goes_on([](File& file) {
    const int folder = file.member->place().folder();
    struct stat facts {};
    if (folder >= 0 && ::fstat(folder, &facts) != 0) return errno;
    file.folder = {facts.st_dev, facts.st_ino};
    return 0;
  });
  std::ranges::sort(group_, {}, &File::folder);
}

// Checks a folder once, just before the names of all files in it.
void GroupCommit::take_names() {
  OncePerFolder confirmed;
  each_that_goes_on([&](File& file) {
    NewFile& place = file.member->place();
    const auto look = [&] { return place.confirm_folder(); };
    if (const int error = place.has_name() ? 0 : confirmed.ask(file.folder, look); error != 0) return error;
    file.result = place.take_name(file.member->number());
    return 0;
  });
}

// Syncs each folder once. The disk may have refused a name: all files in the folder get the error.
void GroupCommit::sync_folders() {
  OncePerFolder synced;
  each_that_goes_on([&](const File& file) {
    const int fd = file.member->number();
    return synced.ask(file.folder, [&] { return file.member->place().sync_folder(fd); });
  });
}

}  // namespace joust
