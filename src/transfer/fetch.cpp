// SPDX-License-Identifier: MIT
#include "transfer/fetch.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/random.hpp"
#include "base/text.hpp"
#include "store/directory_tree.hpp"
#include "transfer/fetch_session.hpp"

namespace joust::transfer {
namespace {

// The file system's own limits count here, and no other. The kernel moves the bytes, where the engine lets
// it, while another core digests those that are there.
constexpr StorageRules kRules{.existing = Existing::replace,
                              .largest_file = UINT64_MAX,
                              .most_stored = UINT64_MAX,
                              .write = FileWrite::splice};

// A server that digests says so every second, however long it takes.
constexpr unsigned kMostMissed = 2;

constexpr std::string_view kAnother =
    ", and is another file; --overwrite replaces it, --skip-existing leaves it";
constexpr std::string_view kWritten = ": another process may be writing that file; wait for it, or use -o";

// Tells the files of one size and time apart: of other names, and of other servers.
std::uint64_t source_number(const FetchPlan& plan) {
  Digester digester;
  digester.add(as_bytes(plan.name));
  const Digest digest = digester.value();
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number ^ mixed(plan.server);
}

}  // namespace

Fetch::Fetch(const FetchPlan& plan)
    : Transfer(plan.most_retries),
      plan_(plan),
      limit_(plan.bytes_per_s),
      storage_(std::make_unique<DirectoryTree>(plan.folder), kRules) {}

std::unique_ptr<Session> Fetch::open(const Opening& /*opening*/) {
  return std::make_unique<FetchSession>(*this);
}

// For people.
std::string Fetch::path_here() const {
  return printable(plan_.folder + '/' + plan_.file);
}

std::uint64_t Fetch::kept() const {
  const std::lock_guard lock(mutex_);
  return upload_ && !fetched_ && recalled_ ? ranges_.done() : 0;
}

std::optional<Digest> Fetch::fetched() const {
  const std::lock_guard lock(mutex_);
  return fetched_;
}

std::optional<file::Facts> Fetch::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

std::optional<Digest> Fetch::expected() const {
  const std::lock_guard lock(mutex_);
  return digest_;
}

// The connections for so many bytes. None is dialled that would find no range.
std::size_t Fetch::carriers(std::uint64_t bytes) const {
  return std::clamp<std::uint64_t>(RangesLeft::most_of(bytes), 1, plan_.connections(bytes));
}

Fetch::Work Fetch::next(bool is_first) {
  const std::lock_guard lock(mutex_);
  if (!facts_) return {std::exchange(asked_, true) ? Task::none : Task::ask};
  if (here_.file && !std::exchange(comparing_, true)) return {Task::compare};
  if (!upload_ && !here_.file) return {};
  if (upload_ && !recalled_ && !std::exchange(recalling_, true)) return {Task::recall, {}, upload_};
  // On a connection of its own, so that the server makes it while the ranges come. Until that one is open, or
  // if there is none, the first one fetches what it can.
  const bool fetches = is_first && recalled_ && ranges_.any();
  if (!digest_ && !fetches && !std::exchange(asked_digest_, true)) return {Task::digest};
  if (!recalled_) return {};
  if (const auto range = ranges_.take()) return {Task::range, *range, upload_};
  if (ranges_.complete() && digest_ && !std::exchange(checking_, true)) return {Task::check, {}, upload_};
  return {};
}

void Fetch::give_back(const Work& work, std::uint64_t came) {
  if (work.task == Task::range) {
    work.into->give_back(work.range);
    count().moved -= came;
    count().lost += came;
  }
  const std::lock_guard lock(mutex_);
  if (work.task == Task::ask) asked_ = false;
  if (work.task == Task::compare) comparing_ = false;
  if (work.task == Task::recall) recalling_ = false;
  if (work.task == Task::digest) asked_digest_ = false;
  if (work.task == Task::range) ranges_.give_back(work.range);
  if (work.task == Task::check) checking_ = false;
}

void Fetch::learned(const file::Facts& facts) {
  {
    const std::lock_guard lock(mutex_);
    facts_ = facts;
    digest_ = facts.digest;
    count().total = facts.size;
  }
  if (plan_.only_asks) return end();
  if (!facts.digest && facts.size > kRangeBytes) dial_more(1);  // for the digest
  // What may be replaced, and looks the same, is compared first.
  if (!plan_.wishes.overwrites || !may_be_here(facts)) make_file(facts);
  announce();
}

void Fetch::make_file(const file::Facts& facts) {
  FileWishes wishes = plan_.wishes;
  wishes.modified_ns = facts.modified_ns;
  wishes.mode = facts.mode.value_or(0644);
  wishes.outlives = true;
  wishes.source = source_number(plan_);
  auto upload = storage_.upload({.name = plan_.file, .size = facts.size, .id = 1, .wishes = wishes});
  if (!upload) {
    const bool exists = upload.error().error == FileError::exists;
    if (exists && plan_.wishes.skips_existing) return skip();
    if (exists && may_be_here(facts)) return;
    std::string why = fmt::format("{}: {}", path_here(), error_name(upload.error().error));
    if (!upload.error().text.empty()) why += " (" + upload.error().text + ")";
    if (exists) why += kAnother;
    if (upload.error().error == FileError::not_a_file) why += "; move it away, or use -o";
    if (upload.error().error == FileError::busy && upload.error().text.empty()) why += kWritten;
    return give_up(why);
  }
  const std::lock_guard lock(mutex_);
  upload_ = std::move(*upload);
}

void Fetch::skip() {
  ++count().skipped;
  count().total = 0;
  end();
}

bool Fetch::may_be_here(const file::Facts& facts) {
  auto here = storage_.open(plan_.file);
  if (!here || here->version.size != facts.size) return false;
  const FileVersion& version = here->version;
  const bool looks_same = version.modified_ns == facts.modified_ns && facts.mode.value_or(0) == version.mode;
  if (plan_.wishes.overwrites && !looks_same) return false;
  const std::lock_guard lock(mutex_);
  here_ = std::move(*here);
  digest_here_.emplace(facts.size);
  return true;
}

// With what is wished the disk is to have it, also if nothing of it is to be fetched.
Fetch::Compared Fetch::compare() {
  const auto through = digest_here_->advance(*here_.file);
  if (through && !*through) return Compared::partly;
  if (plan_.wishes.synced && !synced_here_) {
    const auto entry = storage_.sync(plan_.file);
    if (!entry) return is_not_on_disk(entry.error());
    synced_here_ = *entry;
  }
  const auto is_on_disk = synced_here_ ? synced_here_->is_on_disk() : true;
  if (!is_on_disk) return is_not_on_disk(is_on_disk.error());
  if (!*is_on_disk) return Compared::but_for_the_disk;
  {
    const std::lock_guard lock(mutex_);
    compared_ = true;
  }
  judge_what_is_here();
  announce();  // the connection is free for something else
  return Compared::completely;
}

Fetch::Compared Fetch::is_not_on_disk(const FileRefusal& refusal) {
  give_up(fmt::format("{}: is here, but cannot be synced: {}", path_here(), error_name(refusal.error)));
  return Compared::completely;
}

// Both digests may be complete at the same time, on two connections. A file that cannot be read is another.
void Fetch::judge_what_is_here() {
  bool same = false;
  {
    const std::lock_guard lock(mutex_);
    if (!compared_ || !digest_ || std::exchange(judged_, true)) return;
    same = digest_here_->done() == facts_->size && digest_here_->value() == *digest_;
  }
  if (same) return skip();
  if (plan_.wishes.overwrites) {
    make_file(*facts());
    return announce();
  }
  give_up(fmt::format("{}: exists{}", path_here(), kAnother));
}

void Fetch::recalled(const Upload::Recall& recall) {
  {
    const std::lock_guard lock(mutex_);
    recalled_ = true;
    const std::uint64_t left = facts_->size - recall.verified;
    const std::size_t connections = carriers(left);
    ranges_ = RangesLeft(facts_->size, connections);
    dial_more(connections - 1);
    ranges_.begin(recall.verified);
    count().there = recall.verified;
    count().discarded = recall.discarded;
  }
  announce();
}

void Fetch::learned_digest(const Digest& digest) {
  {
    const std::lock_guard lock(mutex_);
    digest_ = digest;
  }
  judge_what_is_here();
}

void Fetch::digest_missed() {
  {
    const std::lock_guard lock(mutex_);
    if (++digests_missed_ < kMostMissed) return;
  }
  give_up_digest("does not answer the question for the");
}

// Without an end a server that keeps silent would be asked as often as a connection may be lost.
void Fetch::give_up_digest(std::string_view what) {
  give_up(fmt::format("{}: the server {} digest of it, so that nothing can be verified",
                      printable(plan_.name), what));
}

void Fetch::finished(ByteRange range) {
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    ranges_.finish(range);
    complete = ranges_.complete();
  }
  progressed();
  if (complete) announce();
}

void Fetch::checked(const FileAnswer<Upload::Check>& check) {
  if (!check) {
    const FileRefusal& refusal = check.error();
    std::string why = fmt::format("{}: {}", printable(plan_.file), error_name(refusal.error));
    if (!refusal.text.empty()) why += " (" + refusal.text + ")";
    if (is_all_gone(refusal.error, true)) forget();
    return give_up(why);
  }
  {
    const std::lock_guard lock(mutex_);
    fetched_ = check->digest;
  }
  ++count().files;
  end();
}

// What has come is of no use to the next attempt.
void Fetch::forget() {
  const std::lock_guard lock(mutex_);
  upload_.reset();
}

void Fetch::give_up(const std::string& why) {
  ++count().failed;
  complain(why);
  end();
}

}  // namespace joust::transfer
