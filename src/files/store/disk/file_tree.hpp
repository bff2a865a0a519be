// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/limits.hpp"
#include "files/store/disk/journal.hpp"
#include "files/store/folder_listing.hpp"
#include "files/store/quota.hpp"

// The way of a file or a directory onto the disk, and to its name:
//
//     create() --> NewFile: no name, bytes arrive
//                    TemporaryFile   nameless, or hidden where the file system has none: a small file
//                    PartialFile     hidden beside its journal, stays when it is interrupted: a large file
//     make_folder(), find() --> NamedEntry: has its name, and is to be synced
//
//     publish() (group_commit.hpp), for one of them or many together:
//       complete()         time and mode
//       fsync()            the disk has the bytes
//       confirm_folder()   the path still leads to the folder of the file
//       take_name()        the file has its final name
//       sync_folder()      the disk has the name, and those of new directories on the path
//
//     FolderTree keeps what all of them share: the folder of the newest files, directories that are on the
//     disk, and what the disk has failed to take.
namespace joust {

// The errno of take_name() where a file system is mounted on the existing file. The call itself fails with
// EBUSY then, which would mean here that another process receives the file: its sender would try again.
inline constexpr int kMountedOn = ETXTBSY;

// The least number of bytes from the start of a file that are kept after an interruption. Fewer are not worth
// two files on the disk.
inline constexpr std::uint64_t kLeastKept = 1 << 20;

enum class Existing : unsigned char { keep, replace };

// The rules for making a new file, and its properties beside its bytes.
struct NewFileRules {
  Existing existing = Existing::keep;
  bool makes_parents = false;                 // makes the missing directories on the path
  Quota* quota = nullptr;                     // pays for directories, borrowed; null: they cost nothing
  std::optional<std::int64_t> modified_ns{};  // since 1970; empty: now
  std::optional<std::uint32_t> mode{};        // permission bits; empty: what umask leaves
  // The source of a file that outlives its process: an interrupted file stays, and can be resumed. Trees
  // without such files ignore it.
  std::optional<SourceIdentity> source{};
};

// A file that has no name yet. It is removed with this object unless it was published, or stays to be
// resumed. One thread at a time.
class NewFile {
 public:
  virtual ~NewFile() = default;

  Fd& descriptor() { return fd_; }  // for reading and writing; may be moved from

  // The steps of publish(), which alone knows their order. `fd` is the file's descriptor, borrowed.
  // Sets everything beside the bytes. Returns the errno, or 0.
  virtual int complete(int /*fd*/) { return 0; }
  // Returns ENOENT if the path no longer leads to the folder: no file may get a name outside of the tree.
  virtual int confirm_folder() { return 0; }
  virtual bool has_name() const { return replaced() != nullptr; }  // true: confirm_folder() is not needed
  // Gives the file its name, atomically. Returns the errno on failure: EEXIST if an existing file must be
  // kept.
  virtual std::expected<ReplacedBytes, int> take_name(int fd) = 0;  // may fail with kMountedOn
  // The size of the file that was replaced. Set by take_name(), also if publish() failed after that. Null
  // before.
  virtual const ReplacedBytes* replaced() const { return nullptr; }
  // Syncs the folder and the names of the directories on its path. Returns the errno, or 0.
  virtual int sync_folder(int /*fd*/) { return 0; }
  virtual int folder() const { return -1; }  // a handle (O_PATH) of the name's folder, borrowed; -1: none
  virtual std::string_view folder_path() const { return {}; }  // the name of that folder

  virtual void abandon() = 0;  // removes it now
  virtual void release() = 0;  // as if this object were destroyed: another one may be made for the name

  // The milestones that an earlier process has noted, for a file with a journal. Not verified: the file may
  // have changed.
  virtual std::vector<Milestone> milestones() const { return {}; }
  // The number of bytes of an earlier attempt that were discarded: they belonged to another source, or were
  // damaged.
  virtual std::uint64_t discarded() const { return 0; }
  // Keeps only the first `count` milestones: the others were wrong.
  virtual void keep_milestones(std::size_t /*count*/) {}
  // Notes the next milestone. A journal that cannot be written only costs time after an interruption.
  virtual void note(const Milestone& /*milestone*/) {}
  // True if this object leaves the file, with its milestones, when it is destroyed.
  virtual bool stays() const { return false; }

 protected:
  Fd fd_;
};

class NamedEntry;

// Named files. Names must have passed objection_to() before; errors are errnos. All methods: any thread.
class FileTree {
 public:
  virtual ~FileTree() = default;

  // Opens a regular file for reading; EISDIR or ENODEV for any other kind.
  virtual std::expected<Fd, int> open(std::string_view name) const = 0;

  // Begins to read a directory; the root has the empty name. Fails with EPERM in a tree without directories.
  virtual std::expected<std::unique_ptr<FolderReader>, int> read_folder(std::string_view /*name*/) const {
    return std::unexpected(EPERM);
  }

  // True if the bytes of a named file never change, because other programs cannot write to it.
  virtual bool is_immutable() const = 0;

  virtual Available available() const = 0;  // for new files

  // Begins a new file. Fails with EEXIST if a file of that name exists and must be kept, with EISDIR or
  // ENODEV if anything else has the name, and with EBUSY if another process receives it.
  virtual std::expected<std::unique_ptr<NewFile>, int> create(std::string_view name,
                                                              const NewFileRules& rules) = 0;

  // Removes the partial file that an interruption has left for this name, unless it is being resumed. Returns
  // whether there was one, and it is gone.
  virtual bool remove_partial(std::string_view /*name*/) { return false; }

  // Makes a directory. The rules give its mode, whether missing parents are made, and the quota that pays. An
  // existing directory is left as it is, or gets the mode if existing ones are to be replaced. Fails with
  // EEXIST if anything else has the name, and with EPERM in a tree without directories.
  virtual std::expected<std::shared_ptr<NamedEntry>, int> make_folder(std::string_view /*name*/,
                                                                      const NewFileRules& /*rules*/) {
    return std::unexpected(EPERM);
  }

  // Finds an existing regular file; EISDIR or ENODEV for any other kind. Null in a tree that is on no disk.
  virtual std::expected<std::shared_ptr<NamedEntry>, int> find(std::string_view /*name*/) { return nullptr; }
};

}  // namespace joust
