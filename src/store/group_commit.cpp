// SPDX-License-Identifier: MIT
#include "store/group_commit.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "base/system/start_writing.hpp"
#include "store/directory.hpp"

namespace joust {
namespace {

int sync_file(int fd) {
  return retry_interrupted([&] { return ::fsync(fd); }) == 0 ? 0 : errno;
}

// The error becomes the file's result, as does a lack of memory: nobody is above this thread to catch it.
template <typename Step>
void each_that_goes_on(std::vector<GroupCommit::File>& group, Step step) {
  for (GroupCommit::File& file : group) {
    if (!file.result) continue;
    try {
      if (const int error = step(file); error != 0) file.result = std::unexpected(error);
    } catch (const std::bad_alloc&) {
      file.result = std::unexpected(ENOMEM);
    }
  }
}

int identify_folder(GroupCommit::File& file) {
  struct stat facts {};
  if (::fstat(file.place->folder(), &facts) != 0) return errno;
  file.folder = {facts.st_dev, facts.st_ino};
  return 0;
}

// The disk may have refused a name: the error is that of all names in the folder.
void sync_folders(std::vector<GroupCommit::File>& group) {
  each_that_goes_on(group, identify_folder);
  std::ranges::sort(group, {}, &GroupCommit::File::folder);
  const GroupCommit::File* before = nullptr;
  int error = 0;
  each_that_goes_on(group, [&](const GroupCommit::File& file) {
    if (before == nullptr || before->folder != file.folder) error = sync_directory(file.place->folder());
    before = &file;
    return error;
  });
}

// Each step for all files before the next one. What a file has beside its bytes comes before its sync, and
// its name after it.
void commit(std::vector<GroupCommit::File>& group) {
  each_that_goes_on(group, [](const GroupCommit::File& file) {
    const int error = file.place->complete(file.fd);
    if (error == 0) start_writing(file.fd);
    return error;
  });
  each_that_goes_on(group, [](const GroupCommit::File& file) {
    const int error = sync_file(file.fd);
    if (error != 0) file.place->abandon();  // as publish() does then
    return error;
  });
  each_that_goes_on(group, [](GroupCommit::File& file) {
    file.result = file.place->take_name(file.fd);
    return 0;
  });
  sync_folders(group);
}

}  // namespace

bool GroupCommit::add(File file) {
  const std::lock_guard lock(mutex_);
  // Whoever adds the first file of a group calls the worker; the others come along.
  if (waiting_.empty() && !worker_.take([this] { commit_those_waiting(); })) return false;
  waiting_.push_back(std::move(file));
  return true;
}

void GroupCommit::commit_those_waiting() {
  std::vector<File> group;
  {
    const std::lock_guard lock(mutex_);
    group.swap(waiting_);
  }
  commit(group);
  for (const File& file : group) file.published(file.result);
}

}  // namespace joust
