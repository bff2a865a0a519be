// SPDX-License-Identifier: MIT
#include "files/store/upload/tree_storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/limits.hpp"
#include "files/store/disk/named_entry.hpp"
#include "files/store/file_version.hpp"
#include "files/store/name.hpp"

namespace joust {
namespace {

constexpr std::size_t kDigestsKept = 1024;
// Limits of the files that wait for the disk. Beyond the first number, connections are not read from. Files
// that have arrived by then are accepted up to the second number.
constexpr std::size_t kMostWaiting = 512, kMostTaken = 4 * kMostWaiting;

// Sending the file again does not help: equal bytes are not sent again.
constexpr std::string_view kNotTaken =
    "the disk has failed to take it before: see to the disk, then remove it or send it with --overwrite";

constexpr std::string_view kNoDirectories = "there are no directories here";

std::unexpected<FileRefusal> refuse(FileError error, std::string_view text = {}) {
  return std::unexpected(FileRefusal{error, std::string(text)});
}

// `what` is the subject of the sentence: the entry that has the name of a directory, or of a part of its
// path.
std::unexpected<FileRefusal> no_directory(FileError error, std::string_view what) {
  return refuse(error, std::string(what) + " is no directory: move it away, or choose another place");
}

std::unexpected<FileRefusal> no_file(int number) {
  return refuse(error_of(number), number == EISDIR ? "a directory has that name" : "");
}

std::unexpected<FileRefusal> not_made(int number) {
  const FileError error = error_of(number);
  if (error == FileError::not_permitted || is_shortage(number)) return refuse(error, std::strerror(number));
  if (number == ENOTDIR || number == ELOOP) return no_directory(error, "what is in its way");
  if (error == FileError::not_a_file) return no_file(number);
  return refuse(error, error == FileError::not_found ? "there is no such directory" : "");
}

// The limits that follow from the descriptors of this process: of open uploads, and of complete files that
// wait for the disk. Throw std::system_error.
std::size_t most_uploads_by_descriptors() {
  return descriptors::uploads_of(descriptor_limit().rlim_cur);
}

std::size_t most_waiting_by_descriptors() {
  return descriptors::waiting_of(descriptor_limit().rlim_cur);
}

// Leaves the rest to other programs.
std::uint64_t usual_quota(const Available& available) {
  return available.in_memory ? available.bytes / 2 : available.bytes / 10 * 9;
}

}  // namespace

FileAnswer<std::unique_ptr<UploadSlot>> UploadSlots::take(const Uploader& from) {
  if (auto slot = UploadSlot::take(shares_, from.address, from.connection, Clock::now())) return slot;
  return refused(FileError::busy,
                 fmt::format("open uploads: {} of at most {}", shares_.held(), shares_.limit()));
}

TreeStorage::TreeStorage(std::unique_ptr<FileTree> files, const StorageRules& rules)
    : rules_(rules),
      most_waiting_(std::min(kMostWaiting, most_waiting_by_descriptors())),
      files_(std::move(files)),
      slots_(std::min(rules.most_uploads, most_uploads_by_descriptors())),
      quota_(rules.most_stored ? *rules.most_stored : usual_quota(files_->available())) {}

void TreeStorage::add_sample(const std::string& name, Fd contents) {
  OpenFile file{.file = nullptr, .version = version_of(contents.get()), .settled = true};
  file.file = std::make_shared<SourceFile>(std::move(contents), file.version.size, rules_.read, &*plain_);
  samples_.insert_or_assign(name, std::move(file));
}

FileAnswer<OpenFile> TreeStorage::open(std::string_view name) {
  if (const auto objection = objection_to(name); !objection.empty())
    return refuse(FileError::name_refused, objection);
  const auto sample = samples_.find(name);
  auto file = sample != samples_.end() ? sample->second : open_named(name);
  if (!file) return file;
  const std::lock_guard lock(mutex_);
  if (const auto known = digests_.find(file->version); known != digests_.end()) file->digest = known->second;
  return file;
}

// The files that open() returns are SourceFiles.
bool TreeStorage::is_unchanged(const OpenFile& file) const {
  return version_of(static_cast<const SourceFile&>(*file.file).number()) == file.version;
}

FileAnswer<FolderListing> TreeStorage::list(std::string_view folder, std::size_t most) {
  auto reader = read_folder(folder);
  if (!reader) return std::unexpected(reader.error());
  auto listing = list_folder(**reader, most);
  if (!listing) return refuse(error_of(listing.error()));
  return std::move(*listing);
}

FileAnswer<std::unique_ptr<FolderReader>> TreeStorage::read_folder(std::string_view name) {
  if (const auto objection = objection_to(name); !name.empty() && !objection.empty())
    return refuse(FileError::name_refused, objection);
  auto reader = files_->read_folder(name);
  if (!reader) return refuse(error_of(reader.error()), reader.error() == EPERM ? kNoDirectories : "");
  return std::move(*reader);
}

FileAnswer<OpenFile> TreeStorage::open_named(std::string_view name) {
  auto fd = files_->open(name);
  if (!fd) return no_file(fd.error());
  OpenFile file{.file = nullptr, .version = version_of(fd->get())};
  // The bytes are read after this clock reading. Any later change gets other time stamps if the clock is more
  // than one step past the last change.
  const std::int64_t last_change_ns = std::max(file.version.modified_ns, file.version.changed_ns);
  file.settled = files_->is_immutable() || last_change_ns < wall_clock_ns() - rules_.timestamp_step.count();
  file.file = std::make_shared<SourceFile>(std::move(*fd), file.version.size, rules_.read, &*plain_);
  return file;
}

FileAnswer<std::shared_ptr<Upload>> TreeStorage::upload(const UploadRequest& request) {
  if (const auto objection = objection_to(request.name); !objection.empty())
    return refuse(FileError::name_refused, objection);
  if (request.size > rules_.largest_file)
    return refuse(FileError::too_large, "larger than the server allows");
  if (samples_.contains(request.name)) return refuse(FileError::exists);
  // A file that is sent whole uses one connection, so no other connection looks for its upload.
  if (request.wishes && !request.wishes->resumable) {
    if (commits_.waiting() >= kMostTaken) return refuse(FileError::busy, "too many files wait for the disk");
    return begin(request);
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = uploads_.find({std::string(request.name), request.id}); found != uploads_.end()) {
    if (auto upload = found->second.lock()) {
      if (!upload->same(request)) return refuse(FileError::malformed, "not the upload that was begun");
      upload->joined_by(request.from);
      return upload;
    }
  }
  if (request.begun) return refuse(FileError::not_found, "no such upload was offered, or it was interrupted");
  std::erase_if(uploads_, [](const auto& entry) { return entry.second.expired(); });
  auto upload = begin(request);
  if (upload) uploads_.insert_or_assign({std::string(request.name), request.id}, *upload);
  return upload;
}

// A dry run is discarded, so an existing file does not matter. A request with wishes replaces a file only
// if the wishes ask for that too. A file that is too short to be left behind needs no name, lock or journal.
NewFileRules TreeStorage::rules_for(const UploadRequest& request) {
  if (!request.wishes) return {.existing = request.dry_run ? Existing::replace : rules_.existing};
  const FileWishes& wishes = *request.wishes;
  NewFileRules rules{.existing = wishes.overwrites ? rules_.existing : Existing::keep,
                     .makes_parents = wishes.makes_parents,
                     .quota = &quota_,
                     .modified_ns = wishes.modified_ns,
                     .mode = wishes.mode};
  if (wishes.resumable && request.size >= kLeastKept)
    rules.source = {request.size, wishes.modified_ns, wishes.source};
  return rules;
}

FileAnswer<std::shared_ptr<DiskUpload>> TreeStorage::begin(const UploadRequest& request) {
  auto slot = slots_.take(request.from);
  if (!slot) return std::unexpected(slot.error());
  const NewFileRules rules = rules_for(request);
  auto new_file = files_->create(request.name, rules);
  if (!new_file) return not_made(new_file.error());
  // The interrupted upload of a source that has become small is never resumed, and is removed.
  if (!rules.source && !request.dry_run && kept_.has(request.name)) forget_interrupted(request.name);
  return DiskUpload::begin(std::move(*new_file), std::move(*slot), request,
                           {.write = rules_.write,
                            .quota = &quota_,
                            .plain = &*plain_,
                            .worker = &worker_,
                            .kept = &kept_,
                            .commits = &commits_});
}

FileAnswer<std::shared_ptr<StoredEntry>> TreeStorage::make_folder(std::string_view name,
                                                                  const FileWishes& wishes) {
  if (const auto objection = objection_to(name); !objection.empty())
    return refuse(FileError::name_refused, objection);
  if (commits_.waiting() >= kMostTaken) return refuse(FileError::busy, "too many files wait for the disk");
  auto made =
      samples_.contains(name)
          ? std::unexpected(EEXIST)
          : files_->make_folder(name, {.existing = wishes.overwrites ? rules_.existing : Existing::keep,
                                       .makes_parents = wishes.makes_parents,
                                       .quota = &quota_,
                                       .mode = wishes.mode});
  if (!made && made.error() == EEXIST) return no_directory(FileError::exists, "and");
  if (!made) return not_made(made.error());
  if (!wishes.synced) return *made;
  if (!(*made)->watch()) return refuse(error_of(EIO), kNotTaken);
  (*made)->sync(&commits_);
  return *made;
}

FileAnswer<std::shared_ptr<StoredEntry>> TreeStorage::sync(std::string_view name) {
  if (const auto objection = objection_to(name); !objection.empty())
    return refuse(FileError::name_refused, objection);
  if (commits_.waiting() >= kMostTaken) return refuse(FileError::busy, "too many files wait for the disk");
  if (samples_.contains(name)) return nullptr;
  auto found = files_->find(name);
  if (!found) return no_file(found.error());
  const std::shared_ptr<NamedEntry>& file = *found;
  if (!file) return nullptr;
  if (!file->watch()) return refuse(error_of(EIO), kNotTaken);
  file->sync(&commits_);
  return file;
}

// Its share is given back when its files are gone: one that goes on right now keeps both.
void TreeStorage::forget_interrupted(std::string_view name) {
  if (!samples_.contains(name) && files_->remove_partial(name)) kept_.take(name);
}

void TreeStorage::remember(const OpenFile& file, const Digest& digest) {
  if (!file.settled) return;
  const std::lock_guard lock(mutex_);
  if (digests_.size() >= kDigestsKept) digests_.clear();
  digests_.insert_or_assign(file.version, digest);
}

}  // namespace joust
