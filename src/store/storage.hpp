// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/digest.hpp"
#include "joust/file.hpp"
#include "joust/service.hpp"
#include "store/folder_listing.hpp"

// The interfaces through which sessions use files. src/store/ implements them; tests use other
// implementations.
namespace joust {

// The errors sent to a peer, with their numbers on the wire (docs/file-protocol.md).
enum class FileError : std::uint16_t {
  none = 0,
  not_found = 1,
  not_a_file = 2,
  name_refused = 3,
  exists = 4,
  beyond_end = 5,
  too_large = 6,
  no_space = 7,
  input_output = 8,
  digest_differs = 9,
  busy = 10,
  version = 11,
  malformed = 12,
  overlap = 13,
  shrunk = 14,
  given_up = 15,
  not_permitted = 16,
  too_slow = 17,
  other_connection = 18,
  damaged = 19,
};

std::string_view error_name(FileError error);
FileError error_of(int error);  // `error` is an errno

struct FileRefusal {
  FileError error = FileError::none;
  std::string text{};  // for people; must not contain paths of the machine
};

template <typename T>
using FileAnswer = std::expected<T, FileRefusal>;

inline std::unexpected<FileRefusal> refused(FileError error, std::string text = {}) {
  return std::unexpected(FileRefusal{error, std::move(text)});
}

// The bits of a file's mode that are sent and taken. Never setuid, setgid or sticky: a stranger's file gives
// no rights.
inline constexpr std::uint32_t kPermissionBits = 0777;

// The identity of a file's bytes: they may have changed if any field has.
struct FileVersion {
  std::uint64_t device = 0, inode = 0;
  std::uint64_t size = 0;                        // bytes
  std::int64_t modified_ns = 0, changed_ns = 0;  // since 1970
  std::uint32_t mode = 0;                        // permission bits
  auto operator<=>(const FileVersion&) const = default;
};

struct OpenFile {
  std::shared_ptr<File> file;
  FileVersion version{};           // when it was opened
  std::optional<Digest> digest{};  // of the whole file, if known
  bool settled = false;            // every later change will change the version
};

// What the sender of a whole file wants of it, beside its bytes.
struct FileWishes {
  std::int64_t modified_ns = 0;  // since 1970
  std::uint32_t mode = 0;        // permission bits
  bool overwrites = false;       // an existing file, if the storage allows that
  bool skips_existing = false;   // an existing file is no error: nothing is to be done
  bool makes_parents = false;    // directories on the way
  bool outlives = false;         // an interruption leaves what is there, to go on with
  bool synced = false;           // the disk has it before it counts as stored
  std::uint64_t source = 0;      // tells sources of one name, size and time apart
  bool operator==(const FileWishes&) const = default;
};

// Who brings a file.
struct Uploader {
  PeerAddress address = PeerAddress::unknown;
  std::weak_ptr<Breakable> connection{};
};

struct UploadRequest {
  std::string_view name;
  std::uint64_t size = 0;          // of the whole file, in bytes
  std::uint64_t id = 0;            // chosen by the client; the same for all ranges of one upload
  std::optional<Digest> digest{};  // expected of the whole file
  bool rehearsal = false;          // discard the file when complete
  Uploader from{};
  std::optional<FileWishes> wishes{};
  bool begun = false;  // an upload that was begun before, or none
};

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // offset + size does not overflow
  std::uint64_t end() const { return offset + size; }
  bool operator==(const ByteRange&) const = default;
};

// An upload whose ranges may arrive over several connections. Each connection that sends a range keeps a
// reference. When the last one is dropped before publication, the upload is removed without a trace. All
// methods: any thread.
class Upload {
 public:
  virtual ~Upload() = default;
  // Reserves a range exclusively until it is given back.
  virtual FileAnswer<void> take(ByteRange range) = 0;
  // True if all of this range is there, of an upload that outlives an interruption: it need not come again.
  virtual bool has(ByteRange /*range*/) { return false; }
  virtual void give_back(ByteRange range) noexcept = 0;
  // The bytes that were stored of this taken range are not the source's. Nothing that was noted for the next
  // attempt has them in it any more.
  virtual void distrust(ByteRange /*range*/) {}
  // Reserves room for this part of a taken range, before its bytes are stored.
  virtual FileAnswer<void> make_room(ByteRange part) = 0;
  // This part of a taken range has been stored, in order within the range. `seen` is a view of its bytes if
  // the engine had them in memory, and otherwise empty.
  virtual void stored(ByteRange part, Bytes seen) = 0;
  // A taken range is completely stored. True if it was the last one missing: the caller must then call
  // check() until it is complete. Never true of an upload that outlives an interruption: seal() ends it.
  virtual bool finish(ByteRange range) = 0;

  // What an earlier attempt has left of an upload that outlives an interruption.
  struct Recall {
    std::uint64_t verified = 0;   // bytes so far, from the start of the file; they are taken and finished
    std::uint64_t discarded = 0;  // bytes that were of another source, or damaged
    bool complete = false;        // nothing more is looked at
  };
  // Verifies one slice of it. The caller calls it until it is complete; no range can be taken before.
  virtual Recall recall() = 0;
  // No range follows. Fails if one is missing; otherwise the caller must call check() until it is complete.
  // The digest, if any, is the one expected of the whole file.
  virtual FileAnswer<void> seal(const std::optional<Digest>& digest) = 0;

  struct Check {
    std::uint64_t checked = 0;       // bytes
    std::optional<Digest> digest{};  // once complete: the file has its name now
    bool waits = false;              // for the disk: a later call tells more
  };
  // Digests one slice, so that other work gets its turn, and publishes the file at the end.
  virtual FileAnswer<Check> check() = 0;
  // All of an upload that outlives an interruption has come, and only its seal is missing.
  virtual bool awaits_seal() const { return false; }
  // Nobody will call check() any more, as if the last reference were dropped: the name is free for another
  // one.
  virtual void let_go() noexcept {}
  virtual std::uint64_t left_to_check() const = 0;  // bytes that check() still has to read
  virtual bool over() const = 0;                    // all ranges have been stored: none can be added
  virtual std::uint64_t received() const = 0;       // bytes so far, repeated ones included
  virtual File& file() = 0;
};

// A file or directory that was asked for, and is there. All methods: any thread.
class StoredEntry {
 public:
  virtual ~StoredEntry() = default;
  virtual bool was_there() const = 0;  // before it was asked for
  // True once the disk has it and its name, if that was wished, and otherwise at once. Called until then.
  virtual FileAnswer<bool> is_on_disk() = 0;
};

// A directory of files. All methods: any thread; they may block on a disk.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual FileAnswer<OpenFile> open(std::string_view name) = 0;
  // What open() takes in a directory, and the directories in it: at most `most` of them at once, or all of
  // them piece by piece. The root has no name.
  virtual FileAnswer<FolderListing> list(std::string_view /*folder*/, std::size_t /*most*/) {
    return refused(FileError::not_permitted, "there are no directories here");
  }
  virtual FileAnswer<std::unique_ptr<FolderReader>> read_folder(std::string_view /*name*/) {
    return refused(FileError::not_permitted, "there are no directories here");
  }
  virtual FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest& request) = 0;
  // Makes a directory. One that is there is left as it is, or gets the mode, if that is wished (overwrites)
  // and the storage replaces files. Other wishes are its mode, makes_parents and synced.
  virtual FileAnswer<std::shared_ptr<StoredEntry>> make_folder(std::string_view /*name*/,
                                                               const FileWishes& /*wishes*/) {
    return refused(FileError::not_permitted, "there are no directories here");
  }
  // Puts a file that is there, its name and those of the directories on the way onto the disk. Null: no disk
  // has these files.
  virtual FileAnswer<std::shared_ptr<StoredEntry>> sync(std::string_view /*name*/) { return nullptr; }
  // Remembers the digest of the whole file. Without effect unless the file is settled.
  virtual void remember(const OpenFile& file, const Digest& digest) = 0;
  // So many complete files, each of them open, wait for the disk that no more should come.
  virtual bool is_crowded() const { return false; }
  // A session has ended, and refers to nothing here any more. Where it was the only one of its process, the
  // process ends next: on return no thread is at work on what the session has brought.
  virtual void session_ended() {}
};

// The destination of the client's downloads.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual File& file() = 0;
  virtual bool keeps() const = 0;         // what was written can be read again
  virtual FileAnswer<void> accept() = 0;  // the content is correct: a file gets its name
};

// The client's sources and destinations.
class TransferFiles {
 public:
  virtual ~TransferFiles() = default;
  virtual const OpenFile& source() const = 0;  // of a put, with its digest
  virtual FileAnswer<std::unique_ptr<Sink>> sink(std::uint64_t size) = 0;
};

}  // namespace joust
