// SPDX-License-Identifier: MIT
#include "files/store/disk/directory_tree.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "files/store/disk/named_entry.hpp"
#include "files/store/disk/temporary_file.hpp"

namespace joust {
namespace {

// A new file that outlives its process. Its temporary name and that of its journal follow from the final
// name, so that the next attempt finds both. The file is locked for as long as this object exists, so that
// two processes do not write one file or its journal.
class PartialFile : public TemporaryFile {
 public:
  using TemporaryFile::TemporaryFile;
  ~PartialFile() override;
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  int create() override;
  std::expected<ReplacedBytes, int> take_name(int fd) override;
  void abandon() override;
  void release() override;

  std::vector<Milestone> milestones() const override { return milestones_; }
  std::uint64_t discarded() const override { return discarded_; }
  void keep_milestones(std::size_t count) override;
  void note(const Milestone& milestone) override;
  bool stays() const override { return is_open() && end_of(milestones_) >= kLeastKept; }

 private:
  int open_locked();
  int open_journal();
  void drop_journal();
  int truncate_journal();
  bool begin_journal();
  void write_down(const Milestone& milestone);
  bool is_last_close() const;
  void remove_journal();
  void write_journal_again();
  void on_named() override {}
  int make_writable(const std::string& name) const;

  Fd lock_;     // a duplicate of the file's descriptor, which may be moved away
  Fd journal_;  // closed: no journal exists
  std::string journal_name_;
  std::vector<Milestone> milestones_;
  std::uint64_t journal_end_ = 0;  // bytes
  std::uint64_t discarded_ = 0;
};

constexpr int kReopened = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
constexpr mode_t kOwners = 0600;
constexpr std::size_t kLongestJournal = kJournalHeadBytes + kMostMilestones * kMilestoneBytes;

std::vector<std::byte> content_of(int fd) {
  std::vector<std::byte> bytes(kLongestJournal);
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t n = retry_interrupted(
        [&] { return ::pread(fd, &bytes[size], bytes.size() - size, static_cast<off_t>(size)); });
    if (n <= 0) break;
    size += static_cast<std::size_t>(n);
  }
  bytes.resize(size);
  return bytes;
}

bool write_all(int fd, std::uint64_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = retry_interrupted(
        [&] { return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

bool truncate_to(int fd, std::uint64_t size) {
  return retry_interrupted([&] { return ::ftruncate(fd, static_cast<off_t>(size)); }) == 0;
}

PartialFile::~PartialFile() {
  PartialFile::release();
}

// Cuts off the bytes beyond the last milestone: they would have to be sent again in any case. Leaves the file
// as it is if it no longer has its temporary name: a user has renamed it, or a rename has happened although
// it reported a failure.
void PartialFile::release() {
  if (!stays()) {
    abandon();
  } else if (is_named(lock_.get(), folder(), temporary())) {
    truncate_to(lock_.get(), end_of(milestones_));
  } else {
    remove_journal();
  }
  leave();
  if (lock_.is_open()) ::flock(lock_.get(), LOCK_UN);  // other processes may still hold the descriptor
}

int PartialFile::create() {
  if (const int error = check_existing(); error != 0) return error;
  if (const int error = open_locked(); error != 0) return error;
  const int error = open_journal();
  struct stat file {};
  if (error != 0 && ::fstat(lock_.get(), &file) == 0 && file.st_size == 0) TemporaryFile::abandon();
  if (error != 0) leave();  // the file stays, with its bytes
  return error;
}

// Opens the file again if the former owner has given it its final name between the opening and the lock: then
// the temporary name refers to another file, or to none.
int PartialFile::open_locked() {
  const std::string name = temporary_name(kPartialFile, last_part());
  for (int attempt = 0; attempt < 8; ++attempt) {
    int error = open_as(name, kReopened | O_CREAT);
    if (error == EACCES && (error = make_writable(name)) == 0) continue;
    if (error != 0) return error;
    leave();                                                     // until it is known to be ours
    if (error = lock_file(fd_.get()); error != 0) return error;  // another process may hold it
    struct stat held {};
    if (::fstat(fd_.get(), &held) != 0) return errno;
    if (held.st_nlink == 0) continue;
    if (!is_own(held)) return EACCES;
    if (!is_named(fd_.get(), folder(), name)) continue;
    lock_ = Fd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
    if (lock_.is_open()) return take(name);
    error = errno;
    if (held.st_size == 0) ::unlinkat(folder(), name.c_str(), 0);  // made just now, or as empty as that
    return error;
  }
  return EBUSY;
}

// Makes a left file writable again. A process leaves such a file if it is killed after it has set the mode of
// a read-only source and before the final name. A locked file is refused with EBUSY: it gets its name soon.
// If no such file exists, none may be made in the folder: EACCES. Returns the errno, or 0.
int PartialFile::make_writable(const std::string& name) const {
  const Fd found(retry_interrupted(
      [&] { return ::openat(folder(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); }));
  if (!found.is_open()) return errno == ENOENT ? EACCES : errno;
  if (const int error = lock_file(found.get()); error != 0) return error;
  struct stat facts {};
  if (::fstat(found.get(), &facts) != 0) return errno;
  if (!is_own(facts) || (facts.st_mode & kOwners) == kOwners) return EACCES;
  return ::fchmod(found.get(), kOwners) == 0 ? 0 : errno;
}

int PartialFile::open_journal() {
  journal_name_ = temporary_name(kJournalFile, last_part());
  journal_ = Fd(retry_interrupted([&] { return ::openat(folder(), journal_name_.c_str(), kReopened); }));
  if (!journal_.is_open() && errno != ENOENT) return errno;
  struct stat journal {
  }, file{};
  if (::fstat(lock_.get(), &file) != 0) return errno;
  const auto size = static_cast<std::uint64_t>(file.st_size);
  if (journal_.is_open()) {
    if (::fstat(journal_.get(), &journal) != 0) return errno;
    if (!is_own(journal)) return EACCES;
    const auto known = parse_journal(content_of(journal_.get()));
    if (known && known->source == *rules().source) milestones_ = known->milestones;
  }
  std::erase_if(milestones_, [size](const Milestone& milestone) { return milestone.end > size; });
  discarded_ = milestones_.empty() ? size : 0;
  // Cuts both files. Bytes beyond the last milestone are sent again, and milestones beyond the end of the
  // file describe no bytes of it.
  if (!milestones_.empty()) return truncate_to(lock_.get(), end_of(milestones_)) ? truncate_journal() : errno;
  drop_journal();
  return truncate_to(lock_.get(), 0) ? 0 : errno;
}

void PartialFile::drop_journal() {
  if (journal_.is_open()) remove_journal();
  journal_.close();
}

int PartialFile::truncate_journal() {
  journal_end_ = kJournalHeadBytes + milestones_.size() * kMilestoneBytes;
  return truncate_to(journal_.get(), journal_end_) ? 0 : errno;
}

// Begins the journal with its first milestone: most files are complete before that.
bool PartialFile::begin_journal() {
  constexpr int kFresh = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  journal_ =
      Fd(retry_interrupted([&] { return ::openat(folder(), journal_name_.c_str(), kFresh, kOwners); }));
  journal_end_ = kJournalHeadBytes;
  if (!journal_.is_open()) return false;
  if (write_all(journal_.get(), 0, encode(*rules().source))) return true;
  drop_journal();  // nothing behind a torn head would count
  return false;
}

void PartialFile::keep_milestones(std::size_t count) {
  if (count >= milestones_.size()) return;
  discarded_ += end_of(milestones_) - (count == 0 ? 0 : milestones_[count - 1].end);
  milestones_.resize(count);
  if (count == 0 || truncate_journal() != 0) drop_journal();
}

bool PartialFile::is_last_close() const {
  if (milestones_.empty()) return false;
  const std::uint64_t before = milestones_.size() == 1 ? 0 : milestones_[milestones_.size() - 2].end;
  return milestones_.back().end - before < milestone_distance(rules().source->size);
}

// A record that is written in part has a wrong checksum, and the next one overwrites it. A milestone that an
// interruption has put close behind another one is replaced by the next, so that there is room for all.
void PartialFile::note(const Milestone& milestone) {
  try {
    write_down(milestone);
  } catch (const std::bad_alloc&) {
    // Threads that no exception may leave call this, and a journal only saves time.
  }
}

void PartialFile::write_down(const Milestone& milestone) {
  if (!is_open() || milestone.end <= end_of(milestones_)) return;
  if (!journal_.is_open() && !begin_journal()) return;
  const bool replaces = is_last_close();
  if (!replaces && milestones_.size() >= kMostMilestones) return;
  milestones_.reserve(milestones_.size() + 1);
  const auto record = encode(milestone);
  if (!write_all(journal_.get(), journal_end_ - (replaces ? kMilestoneBytes : 0), record)) return;
  if (replaces) {
    milestones_.back() = milestone;
  } else {
    milestones_.push_back(milestone);
    journal_end_ += kMilestoneBytes;
  }
}

// Removes the journal first: if the process is killed in between, it leaves a file that the next attempt
// finds, and no journal without a file. A file that got no name has its final mode already: the mode is set
// back, so that the file can be opened again.
std::expected<ReplacedBytes, int> PartialFile::take_name(int fd) {
  drop_journal();
  const auto replaced = TemporaryFile::take_name(fd);
  if (is_open()) {
    ::fchmod(fd, kOwners);
    write_journal_again();
  }
  return replaced;
}

// Keeps only the milestones that could be written.
void PartialFile::write_journal_again() {
  const std::vector<Milestone> all = std::exchange(milestones_, {});
  if (all.empty() || !begin_journal()) return;
  for (const Milestone& milestone : all) {
    if (!write_all(journal_.get(), journal_end_, encode(milestone))) return;
    journal_end_ += kMilestoneBytes;
    milestones_.push_back(milestone);
  }
}

void PartialFile::abandon() {
  if (is_open()) remove_journal();
  TemporaryFile::abandon();
}

// Removes only the own journal: a user may have removed the hidden files by hand, and another process may
// have made new ones.
void PartialFile::remove_journal() {
  if (journal_.is_open() && is_named(journal_.get(), folder(), journal_name_))
    ::unlinkat(folder(), journal_name_.c_str(), 0);
}

}  // namespace

std::expected<std::unique_ptr<FolderReader>, int> DirectoryTree::read_folder(std::string_view name) const {
  auto opened = tree_.directory().open_folder(name);
  if (!opened) return std::unexpected(opened.error());
  return FolderReader::begin(std::move(*opened), name);
}

std::expected<Parent, int> DirectoryTree::parent_of(std::string_view name, const NewFileRules& rules) {
  auto parent = tree_.directory().open_parent(name);
  if (parent || parent.error() != ENOENT || !rules.makes_parents) return parent;
  if (const int error = tree_.directory().make_parents(name, rules.quota); error != 0)
    return std::unexpected(error);
  return tree_.directory().open_parent(name);
}

template <typename File>
std::expected<std::unique_ptr<NewFile>, int> DirectoryTree::create_in(std::expected<Parent, int> parent,
                                                                      std::string_view name,
                                                                      const NewFileRules& rules) {
  if (!parent) return std::unexpected(parent.error());
  auto file = std::make_unique<File>(tree_, name, rules, std::move(*parent));
  if (const int error = file->create(); error != 0) return std::unexpected(error);
  return file;
}

// Uses the recent folder for temporary files only: a file that outlives its process is seldom one of many. A
// temporary file may begin in a folder that has been moved, because it checks the folder before it takes its
// name. A failure in the recent folder is not final: the path is resolved again.
std::expected<std::unique_ptr<NewFile>, int> DirectoryTree::create(std::string_view name,
                                                                   const NewFileRules& rules) {
  if (rules.source) return create_in<PartialFile>(parent_of(name, rules), name, rules);
  if (auto recent = tree_.recent(name)) {
    if (auto made = create_in<TemporaryFile>(std::move(*recent), name, rules)) return made;
    tree_.forget_recent();
  }
  auto parent = parent_of(name, rules);
  if (parent) tree_.keep_recent(name, *parent);
  return create_in<TemporaryFile>(std::move(parent), name, rules);
}

bool DirectoryTree::remove_partial(std::string_view name) {
  const auto parent = tree_.directory().open_parent(name);
  return parent && joust::remove_partial(parent->fd->get(), parent->last);
}

std::expected<std::shared_ptr<NamedEntry>, int> DirectoryTree::make_folder(std::string_view name,
                                                                           const NewFileRules& rules) {
  auto parent = parent_of(name, rules);
  if (!parent) return std::unexpected(parent.error());
  return NamedEntry::make_folder(tree_, name, std::move(*parent), rules);
}

std::expected<std::shared_ptr<NamedEntry>, int> DirectoryTree::find(std::string_view name) {
  return NamedEntry::find(tree_, name);
}

}  // namespace joust
