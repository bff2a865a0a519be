// SPDX-License-Identifier: MIT
#include "files/transfer/file_get.hpp"

#include <fmt/format.h>

#include <cstring>
#include <system_error>
#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "files/store/file_version.hpp"
#include "files/transfer/get.hpp"
#include "files/transfer/transfer_session.hpp"

namespace joust::transfer {

std::string output_error(const std::filesystem::path& path) {
  using Kind = std::filesystem::file_type;
  std::error_code none;
  const std::string to_output = fmt::format("'-o - > {}' writes into it", printable(path.string()));
  switch (std::filesystem::symlink_status(path, none).type()) {
    case Kind::symlink:
      return "is a symbolic link; name the file that it leads to, or choose another name (-o)";
    case Kind::character:
    case Kind::block:
      return fmt::format("is a device; {}", to_output);
    case Kind::fifo:
      return fmt::format("is a named pipe; {}", to_output);
    case Kind::socket:
      return "is a socket; choose another name (-o)";
    default:
      return {};
  }
}

namespace {

// Limit of unanswered questions for a digest. A server that digests reports that every second, however long
// it takes.
constexpr unsigned kMostMissed = 2;

constexpr std::string_view kAnother =
    ", and is another file; --overwrite replaces it, --skip-existing leaves it";
constexpr std::string_view kTaken = ", and was not when this began: another process may have written it";
constexpr std::string_view kWritten = ": another process may be writing that file; wait for it, or use -o";

// Returns a number that distinguishes files of the same size and time, by their names and their servers.
std::uint64_t source_number(const std::string& name, std::uint64_t server) {
  Digester digester;
  digester.add(as_bytes(name));
  const Digest digest = digester.value();
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number ^ mixed(server);
}

}  // namespace

FileDownload::FileDownload(GetTransfer& owner, GetItem item)
    : owner_(owner), item_(std::move(item)), facts_(is_listed() ? item_.facts : std::nullopt) {}

// The local path, for people.
std::string FileDownload::local_path() const {
  return printable(owner_.plan().folder + '/' + item_.file);
}

std::uint64_t FileDownload::kept() const {
  const std::lock_guard lock(mutex_);
  return upload_ && resumed_ ? ranges_.done() : 0;
}

std::optional<file::Facts> FileDownload::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

std::optional<Digest> FileDownload::expected() const {
  const std::lock_guard lock(mutex_);
  return digest_;
}

FileDownload::Work FileDownload::next(bool is_first) {
  const std::lock_guard lock(mutex_);
  if (is_over_) return {};
  if (!facts_) return {.task = std::exchange(asked_, true) ? Task::none : Task::ask};
  if (!std::exchange(begun_, true)) return {.task = Task::begin};
  if (existing_.file && !std::exchange(comparing_, true)) return {.task = Task::compare};
  if (!upload_ && !existing_.file) return {};
  if (upload_ && !resumed_ && !std::exchange(resuming_, true)) return {.task = Task::resume, .into = upload_};
  // The digest is asked for on a connection of its own, so that the server makes it while the ranges arrive.
  // Until that connection is open, or without one, the first connection fetches ranges. The digest of a small
  // file comes with its bytes, unless the server does not know it.
  const bool fetches = is_first && !is_listed() && resumed_ && ranges_.any();
  const bool comes = upload_ && is_small(item_) && !(resumed_ && ranges_.complete());
  if (!digest_ && !fetches && !comes && !std::exchange(asked_digest_, true)) return {.task = Task::digest};
  if (!resumed_ || (is_listed() && !is_small(item_) && !digest_)) return {};
  if (const auto range = ranges_.take()) return {.task = Task::range, .range = *range, .into = upload_};
  if (ranges_.complete() && digest_ && !std::exchange(checking_, true))
    return {.task = Task::check, .into = upload_};
  return {};
}

void FileDownload::give_back(const Work& work, std::uint64_t came) {
  if (work.task == Task::range) {
    work.into->give_back(work.range);
    owner_.count().moved -= came;
    owner_.count().lost += came;
  }
  const std::lock_guard lock(mutex_);
  if (work.task == Task::ask) asked_ = false;
  if (work.task == Task::begin) begun_ = false;
  if (work.task == Task::compare) comparing_ = false;
  if (work.task == Task::resume) resuming_ = false;
  if (work.task == Task::digest) asked_digest_ = false;
  if (work.task == Task::range) ranges_.give_back(work.range);
  if (work.task == Task::check) checking_ = false;
}

void FileDownload::learned(const file::Facts& facts) {
  {
    const std::lock_guard lock(mutex_);
    facts_ = facts;
    digest_ = facts.digest;
    begun_ = true;
  }
  owner_.count().total += facts.size - (item_.facts ? item_.facts->size : 0);
  if (owner_.plan().only_asks) return owner_.end();
  if (!facts.digest && facts.size > kRangeBytes) owner_.dial_another();  // a connection for the digest
  begin();
}

// Compares an existing file first, if it may be replaced and looks the same.
void FileDownload::begin() {
  const file::Facts known = *facts();
  if (!owner_.plan().wishes.overwrites || !find_existing(known)) make_file(known);
  owner_.announce();
}

void FileDownload::make_file(const file::Facts& facts) {
  if (is_beyond(facts.modified_ns)) return give_up(fmt::format("{} {}", printable(item_.name), kBeyond));
  FileWishes wishes = owner_.plan().wishes;
  wishes.modified_ns = facts.modified_ns;
  wishes.mode = facts.mode.value_or(0644);
  wishes.resumable = true;
  wishes.source = source_number(item_.name, owner_.plan().server);
  auto upload = owner_.storage().upload({.name = item_.file, .size = facts.size, .id = 1, .wishes = wishes});
  if (!upload) {
    const bool exists = upload.error().error == FileError::exists;
    if (exists && wishes.skips_existing) return skip();
    if (exists && find_existing(facts)) return;
    if (const std::string error = output_error(owner_.plan().folder + '/' + item_.file); !error.empty())
      return give_up(fmt::format("{}: {}", local_path(), error));
    std::string why = fmt::format("{}: {}", local_path(), error_name(upload.error().error));
    if (!upload.error().text.empty()) why += " (" + upload.error().text + ")";
    if (exists) why += kAnother;
    if (upload.error().error == FileError::not_a_file) why += "; move it away, or choose another name (-o)";
    if (upload.error().error == FileError::busy && upload.error().text.empty()) why += kWritten;
    return give_up(why);
  }
  const std::lock_guard lock(mutex_);
  upload_ = std::move(*upload);
}

void FileDownload::skip() {
  const std::uint64_t size = facts()->size;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_over_, true)) return;
  }
  owner_.skipped(*this, size);
}

bool FileDownload::find_existing(const file::Facts& facts) {
  auto here = owner_.storage().open(item_.file);
  if (!here || here->version.size != facts.size) return false;
  const FileVersion& version = here->version;
  const bool same_metadata =
      version.modified_ns == facts.modified_ns && facts.mode.value_or(0) == version.mode;
  if (owner_.plan().wishes.overwrites && !same_metadata) return false;
  const std::lock_guard lock(mutex_);
  existing_ = std::move(*here);
  existing_digest_.emplace(facts.size);
  return true;
}

// Compares the existing file, and syncs it if the user wishes that, also if nothing of it is to be fetched.
FileDownload::Compared FileDownload::compare() {
  const auto through = existing_digest_->advance(*existing_.file);
  if (through && !*through) return Compared::partly;
  if (owner_.plan().wishes.synced && !existing_sync_) {
    const auto entry = owner_.storage().sync(item_.file);
    if (!entry) return is_not_on_disk(entry.error());
    existing_sync_ = *entry;
  }
  const auto is_on_disk = existing_sync_ ? existing_sync_->is_on_disk() : true;
  if (!is_on_disk) return is_not_on_disk(is_on_disk.error());
  if (!*is_on_disk) return Compared::unsynced;
  {
    const std::lock_guard lock(mutex_);
    compared_ = true;
  }
  judge_existing();
  owner_.announce();  // the connection is free for something else
  return Compared::completely;
}

FileDownload::Compared FileDownload::is_not_on_disk(const FileRefusal& refusal) {
  give_up(fmt::format("{}: is here, but cannot be synced: {}", local_path(), error_name(refusal.error)));
  return Compared::completely;
}

// Decides once, although both digests may be complete at the same time, on two connections. A file that
// cannot be read counts as another file.
void FileDownload::judge_existing() {
  bool same = false;
  {
    const std::lock_guard lock(mutex_);
    if (!compared_ || !digest_ || std::exchange(judged_, true)) return;
    same = existing_digest_->done() == facts_->size && existing_digest_->value() == *digest_;
  }
  if (same) return skip();
  if (owner_.plan().wishes.overwrites) {
    make_file(*facts());
    return owner_.announce();
  }
  give_up(fmt::format("{}: exists{}", local_path(), kAnother));
}

void FileDownload::resumed(const Upload::Resumption& resumption) {
  {
    const std::lock_guard lock(mutex_);
    resumed_ = true;
    const std::uint64_t left = facts_->size - resumption.verified;
    const std::size_t connections = owner_.connections_for(left);
    ranges_ = RangesLeft(facts_->size, connections);
    ranges_.begin(resumption.verified);
    owner_.dial_for(connections);
    owner_.count().there += resumption.verified;
    owner_.count().discarded += resumption.discarded;
  }
  owner_.announce();
}

void FileDownload::learned_digest(const Digest& digest) {
  {
    const std::lock_guard lock(mutex_);
    digest_ = digest;
  }
  judge_existing();
}

void FileDownload::digest_missed() {
  {
    const std::lock_guard lock(mutex_);
    if (++digests_missed_ < kMostMissed) return;
  }
  give_up_digest("does not answer the question for the");
}

// Without this limit a silent server would be asked as often as a connection may be lost.
void FileDownload::give_up_digest(std::string_view what) {
  give_up(fmt::format("{}: the server {} digest of it, so that nothing can be verified",
                      printable(item_.name), what));
}

void FileDownload::finished(ByteRange range) {
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    ranges_.finish(range);
    complete = ranges_.complete();
  }
  owner_.progressed();
  if (complete) owner_.announce();
}

void FileDownload::checked(const FileAnswer<Upload::Check>& check) {
  if (!check) {
    const FileRefusal& refusal = check.error();
    std::string why = fmt::format("{}: {}", printable(item_.file), error_name(refusal.error));
    if (!refusal.text.empty()) why += " (" + refusal.text + ")";
    if (is_all_gone(refusal.error, true)) forget();
    if (refusal.error == FileError::exists) why += kTaken;
    return give_up(why);
  }
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_over_, true)) return;
    upload_.reset();
  }
  owner_.fetched(*this, *check->digest);
}

// Drops the bytes that have arrived: they cannot be resumed. A file from a list is asked for again, because
// the list may be older than the file.
void FileDownload::changed_on_server() {
  if (is_listed()) {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(is_over_, true)) return;
      upload_.reset();
    }
    return owner_.renew(*this);
  }
  forget();
  give_up(
      fmt::format("{}: the file has changed on the server meanwhile; fetch it again", printable(item_.name)));
}

// Drops the bytes that have arrived: they are of no use to the next attempt.
void FileDownload::forget() {
  const std::lock_guard lock(mutex_);
  upload_.reset();
}

// Gives up once, although several connections may find the same reason.
void FileDownload::give_up(const std::string& why) {
  const std::uint64_t left = kept();
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_over_, true)) return;
    upload_.reset();
  }
  owner_.failed(*this, why, left);
}

}  // namespace joust::transfer
