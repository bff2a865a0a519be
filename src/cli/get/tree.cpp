// SPDX-License-Identifier: MIT
#include "cli/get/tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/digest.hpp"
#include "base/fd.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "cli/common/output.hpp"
#include "files/transfer/get.hpp"
#include "files/transfer/listing.hpp"
#include "files/transfer/send.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;

// The least weight of a file. A file takes some time however small it is, so that many files need several
// connections.
constexpr std::uint64_t kLeastWeight = 256 << 10;  // bytes

// The top directory. It is created, and gets its mode when its content is complete.
class Top {
 public:
  // Creates the directory if it does not exist. Throws UsageError.
  Top(std::string path, std::uint32_t mode, const FileWishes& wishes) : path_(std::move(path)), mode_(mode) {
    struct stat facts {};
    const bool is_there = ::stat(path_.c_str(), &facts) == 0;
    if (is_there && !S_ISDIR(facts.st_mode))
      refuse("is no directory; move it away, or choose another directory (-o)");
    if (!is_there && ::mkdir(path_.c_str(), 0700) != 0) refuse(std::strerror(errno));
    gets_mode_ = !is_there || wishes.overwrites;
    set_mode(mode_ | transfer::kOwnersPermissions);
    if (!is_there && wishes.synced) sync_name();
  }
  void close() const { set_mode(mode_); }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw UsageError(fmt::format("-o {}: {}", printable(path_), why));
  }
  void set_mode(std::uint32_t mode) const {
    if (gets_mode_ && ::chmod(path_.c_str(), mode & kPermissionBits) != 0) refuse(std::strerror(errno));
  }
  void sync_name() const {
    const fs::path above = fs::path(path_).has_parent_path() ? fs::path(path_).parent_path() : ".";
    const Fd fd(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.is_open() && ::fsync(fd.get()) != 0) refuse(std::strerror(errno));
  }

  const std::string path_;
  const std::uint32_t mode_;
  bool gets_mode_ = false;
};

std::uint64_t weight_of(const std::vector<transfer::GetItem>& items) {
  std::uint64_t bytes = 0;
  for (const transfer::GetItem& item : items) bytes += std::max(item.facts->size, kLeastWeight);
  return bytes;
}

}  // namespace

transfer::GetPlan TreeGet::plan(std::vector<transfer::RemoteItem> items) const {
  transfer::GetPlan plan{.folder = output,
                         .server = checksum(as_bytes(remote.address)),
                         .wishes = common.wishes(),
                         .connections = [this](std::uint64_t bytes) { return common.dials(bytes); },
                         .bytes_per_s = common.limit,
                         .most_retries = static_cast<unsigned>(common.client.retries)};
  for (transfer::RemoteItem& item : items) {
    if (item.is_folder) {
      plan.folders.push_back(std::move(item));
      continue;
    }
    const file::Facts facts{.size = item.size, .modified_ns = item.modified_ns, .mode = item.mode};
    plan.items.push_back(
        {.name = transfer::joined(remote.path, item.name), .file = item.name, .facts = facts});
  }
  return plan;
}

// Prints the files that would be fetched. Does not check which of them exist here already.
int TreeGet::rehearse(const transfer::GetPlan& plan, std::vector<std::string> missing) const {
  std::string text;
  std::uint64_t bytes = 0;
  for (const transfer::RemoteItem& folder : plan.folders)
    text += fmt::format("directory  {0} -> {1}/{2}\n", printable(transfer::joined(remote.path, folder.name)),
                        printable(output), printable(folder.name));
  for (const transfer::GetItem& item : plan.items) {
    bytes += item.facts->size;
    text += fmt::format("{}  {} -> {}/{}\n", grouped(item.facts->size), printable(item.name),
                        printable(output), printable(item.file));
  }
  if (!common.json.empty())
    complain(common.program, fmt::format("--json {}: a dry run writes no result", common.json));
  print_list(text + fmt::format("{}, {}: nothing was fetched\n", counted(plan.items.size(), "file"),
                                format_data(static_cast<double>(bytes))));
  for (const std::string& why : missing) complain(common.program, why);
  return missing.empty() ? kOk : kRunError;
}

std::optional<int> TreeGet::run() const {
  const std::string& address = remote.address;
  transfer::Listing listing(
      {.name = remote.path, .recursive = true, .most_retries = static_cast<unsigned>(common.client.retries)});
  const auto listed = common.client.run(listing, address, {.first = 1}, ProgressMeter::Kind::none);
  if (!listing.over() || !listing.facts())
    return common.tell(listing, listed, {"get", "fetched", counted_files(0, 0)}, address);
  if (listing.is_file()) return std::nullopt;
  std::vector<std::string> notes;
  if (const std::uint64_t left_out = listing.left_out(); left_out > 0)
    notes.push_back(
        fmt::format("left out: {} on the server: links, devices, or names that cannot be asked for",
                    counted(left_out, "name")));
  for (const std::string& note : notes) complain(common.program, note);
  transfer::GetPlan fetched = plan(listing.take_items());
  if (common.dry_run) return rehearse(fetched, listing.complaints());
  fetched.missing = listing.complaints();
  const Top top(output, listing.facts()->mode.value_or(0755), fetched.wishes);
  transfer::GetTransfer getting(std::move(fetched));
  getting.make_folders();
  auto run = common.dial(getting, address, {.first = common.dials(weight_of(getting.plan().items))});
  run.seconds += listed.seconds;
  const transfer::Counts& counts = getting.counts();
  if (!run.interrupted) getting.close_folders();
  if (!run.interrupted && counts.failed == 0) top.close();
  return common.tell(getting, run,
                     {"get", "fetched", counted_files(counts.files, counts.folders), std::nullopt, notes},
                     address);
}

}  // namespace joust
