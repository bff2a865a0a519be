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
#include "base/available.hpp"
#include "store/failed_syncs.hpp"
#include "store/folder_listing.hpp"
#include "store/journal.hpp"

namespace joust {

class Quota;

enum class Existing : unsigned char { keep, replace };

// The size of the file that was replaced; nothing if there was none.
using ReplacedBytes = std::optional<std::uint64_t>;

// How a new file is made, and what it has beside its bytes.
struct NewFileRules {
  Existing existing = Existing::keep;
  bool makes_parents = false;                 // directories on the way that do not exist
  Quota* pays = nullptr;                      // for those, borrowed; null: they cost nothing
  std::optional<std::int64_t> modified_ns{};  // since 1970; empty: now
  std::optional<std::uint32_t> mode{};        // permission bits; empty: what umask leaves
  // Of a file that outlives its process: an interrupted one stays, and is gone on with. Trees without such
  // files leave it out.
  std::optional<SourceIdentity> source{};
};

// A file that has no name yet. It is removed with this object unless it was published, or is to be gone on
// with. One thread at a time.
class NewFile {
 public:
  virtual ~NewFile() = default;

  Fd& descriptor() { return fd_; }  // for reading and writing; may be moved from

  // Gives the file its name, atomically. `fd` is its descriptor, borrowed. `synced`: the disk has the file
  // before it has the name, and has the name at the end. Returns the errno on failure: EEXIST if an existing
  // file must be kept. A file that the disk did not take is abandoned.
  virtual std::expected<ReplacedBytes, int> publish(int fd, bool synced) = 0;
  // The steps of that, for those who sync many files together: all that the file has beside its bytes, then
  // the caller syncs the file, then a look at its folder, its name, and the sync of the folder.
  virtual int complete(int /*fd*/) { return 0; }  // returns the errno, or 0
  // ENOENT if the folder is not any more where its name leads: nothing is to get a name outside.
  virtual int confirm_folder() { return 0; }
  virtual bool has_name() const { return replaced() != nullptr; }  // so that no folder has to be looked at
  virtual std::expected<ReplacedBytes, int> take_name(int fd) = 0;
  // What it has replaced, once it has its name: from take_name(), also if publish() failed after that. Null
  // before.
  virtual const ReplacedBytes* replaced() const { return nullptr; }
  virtual int sync_folder(int /*fd*/) { return 0; }  // with the names of the directories on the way; likewise
  virtual int folder() const { return -1; }  // of the name: a handle (O_PATH), borrowed; -1: there is none

  virtual void abandon() = 0;  // removes it now
  virtual void let_go() = 0;   // as if this object were destroyed: another one may be made for the name

  // Of a file with a journal: what an earlier process has noted. Not verified: the file may have changed.
  virtual std::vector<Milestone> milestones() const { return {}; }
  // The number of bytes of an earlier attempt that were of another source, and are gone.
  virtual std::uint64_t discarded() const { return 0; }
  // Only the first `count` milestones were right.
  virtual void keep_milestones(std::size_t /*count*/) {}
  // Notes the next one. A journal that cannot be written only costs time after an interruption.
  virtual void note(const Milestone& /*milestone*/) {}
  // True if this object leaves the file, with what was noted, when it is destroyed.
  virtual bool stays() const { return false; }

 protected:
  Fd fd_;
};

// A file or directory that has its name: to be synced, if that is wished, as a new file is.
struct Entry {
  std::unique_ptr<NewFile> place{};
  bool was_there = false;
};

// Named files. Names must have passed objection_to() before; errors are errnos. All methods: any thread.
class FileTree {
 public:
  virtual ~FileTree() = default;

  // Opens a regular file for reading; EISDIR or ENODEV for any other kind.
  virtual std::expected<Fd, int> open(std::string_view name) const = 0;

  // Begins to read a directory; the root has no name. EPERM of a tree without directories.
  virtual std::expected<std::unique_ptr<FolderReader>, int> read_folder(std::string_view /*name*/) const {
    return std::unexpected(EPERM);
  }

  // True if the bytes of a named file never change, because other programs cannot write to it.
  virtual bool is_immutable() const = 0;

  virtual Available available() const = 0;  // for new files

  // EEXIST if there is a file of that name that must be kept, EISDIR or ENODEV if there is anything else,
  // EBUSY if another process receives it.
  virtual std::expected<std::unique_ptr<NewFile>, int> create(std::string_view name,
                                                              const NewFileRules& rules) = 0;

  // Removes what an interruption has left for this name, unless it is being gone on with.
  virtual void remove_partial(std::string_view /*name*/) {}

  // Makes a directory, of which the rules say the mode, what is made on the way and who pays. One that is
  // there is left as it is, or gets the mode if existing ones are to be replaced. EEXIST if anything else has
  // the name, EPERM of a tree without directories.
  virtual std::expected<Entry, int> make_folder(std::string_view /*name*/, const NewFileRules& /*rules*/) {
    return std::unexpected(EPERM);
  }

  // A regular file that is there; EISDIR or ENODEV for any other kind. Without a place in a tree that no disk
  // has.
  virtual std::expected<Entry, int> find(std::string_view /*name*/) { return Entry{.was_there = true}; }

  FailedSyncs& failed_syncs() { return failed_syncs_; }  // of all that is in it

 private:
  FailedSyncs failed_syncs_;
};

}  // namespace joust
