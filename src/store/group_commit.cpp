// SPDX-License-Identifier: MIT
#include "store/group_commit.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "base/system/start_writing.hpp"
#include "store/directory.hpp"

namespace joust {
namespace {

using Published = std::expected<ReplacedBytes, int>;

int sync_file(int fd) {
  return retry_interrupted([&] { return ::fsync(fd); }) == 0 ? 0 : errno;
}

// The folders of a group, each synced once. The disk may have refused a name: the error is that of all names
// in the folder.
class Folders {
 public:
  int sync(int folder) {
    struct stat facts{};
    if (::fstat(folder, &facts) != 0) return errno;
    const auto [known, is_new] = errors_.try_emplace({facts.st_dev, facts.st_ino}, 0);
    if (is_new) known->second = sync_directory(folder);
    return known->second;
  }

 private:
  std::map<std::pair<dev_t, ino_t>, int> errors_;
};

// Each step for all files before the next one. What a file has beside its bytes comes before its sync, and
// its name after it.
std::vector<Published> commit(std::vector<GroupCommit::File>& group) {
  std::vector<Published> results(group.size());
  const auto each_that_goes_on = [&](auto step) {
    for (std::size_t i = 0; i < group.size(); ++i)
      if (results[i]) step(group[i], results[i]);
  };
  each_that_goes_on([](const GroupCommit::File& file, Published& result) {
    if (const int error = file.place->complete(file.fd); error != 0)
      return void(result = std::unexpected(error));
    start_writing(file.fd);
  });
  each_that_goes_on([](const GroupCommit::File& file, Published& result) {
    const int error = sync_file(file.fd);
    if (error == 0) return;
    file.place->abandon();  // as publish() does then
    result = std::unexpected(error);
  });
  each_that_goes_on(
      [](const GroupCommit::File& file, Published& result) { result = file.place->take_name(file.fd); });
  Folders folders;
  each_that_goes_on([&](const GroupCommit::File& file, Published& result) {
    if (const int error = folders.sync(file.place->folder()); error != 0) result = std::unexpected(error);
  });
  return results;
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
  const std::vector<Published> results = commit(group);
  for (std::size_t i = 0; i < group.size(); ++i) group[i].published(results[i]);
}

}  // namespace joust
