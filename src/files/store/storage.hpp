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

#include "base/bytes.hpp"
#include "files/store/folder_listing.hpp"
#include "joust/file.hpp"
#include "joust/service.hpp"

// The interfaces through which sessions use files. src/files/store/ implements them; tests use other
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

// The bits of a file's mode that are transferred. Setuid, setgid and sticky bits never are: a file from a
// stranger must give no rights.
inline constexpr std::uint32_t kPermissionBits = 0777;

// The identity of a file's bytes: if any field has changed, the bytes may have changed.
struct FileVersion {
  std::uint64_t device = 0, inode = 0;
  std::uint64_t size = 0;                        // bytes
  std::int64_t modified_ns = 0, changed_ns = 0;  // since 1970
  std::uint32_t mode = 0;                        // permission bits
  auto operator<=>(const FileVersion&) const = default;
};

struct OpenFile {
  std::shared_ptr<File> file;
  FileVersion version{};           // the version at the time of opening
  std::optional<Digest> digest{};  // the digest of the whole file, if known
  bool settled = false;            // true: every later change of the file changes the version
};

// The properties that the sender of a whole file asks for, beside its bytes.
struct FileWishes {
  std::int64_t modified_ns = 0;  // since 1970
  std::uint32_t mode = 0644;     // permission bits
  bool overwrites = false;       // replaces an existing file, if the storage allows that
  bool skips_existing = false;   // an existing file is no error: the upload is skipped
  bool makes_parents = false;    // makes the missing directories on the path
  bool resumable = false;        // an interrupted upload stays on the disk, to be resumed
  bool synced = false;           // the file is on the disk before it counts as stored
  std::uint64_t source = 0;      // distinguishes sources of one name, size and time
  bool operator==(const FileWishes&) const = default;
};

// The sender of an upload: its address and its connection.
struct Uploader {
  PeerAddress address = PeerAddress::unknown;
  std::weak_ptr<Breakable> connection{};
};

struct UploadRequest {
  std::string_view name;
  std::uint64_t size = 0;          // size of the whole file, in bytes
  std::uint64_t id = 0;            // chosen by the client; the same for all ranges of one upload
  std::optional<Digest> digest{};  // the expected digest of the whole file
  bool dry_run = false;            // discard the file when complete
  Uploader from{};
  std::optional<FileWishes> wishes{};
  bool begun = false;  // true: join an upload that was begun before; it must exist
};

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // offset + size does not overflow
  std::uint64_t end() const { return offset + size; }
  bool operator==(const ByteRange&) const = default;
};

// An upload whose ranges may arrive over several connections. Each connection that sends a range keeps a
// reference. When the last one is dropped before publication, the upload is removed without a trace, unless
// it outlives an interruption. All methods: any thread.
class Upload {
 public:
  virtual ~Upload() = default;
  // Reserves a range exclusively until it is given back.
  virtual FileAnswer<void> take(ByteRange range) = 0;
  // True if the whole range is stored already, so that it need not be sent again. Only uploads that outlive
  // an interruption return true.
  virtual bool has(ByteRange /*range*/) { return false; }
  virtual void give_back(ByteRange range) noexcept = 0;
  // Reports that the bytes stored for this taken range differ from the source's. Afterwards no milestone
  // noted for the next attempt contains them.
  virtual void distrust(ByteRange /*range*/) {}
  // Reserves room for this part of a taken range, before its bytes are stored.
  virtual FileAnswer<void> make_room(ByteRange part) = 0;
  // Reports that this part of a taken range has been stored. The parts of a range are stored in order. `seen`
  // is a view of the bytes if the engine had them in memory, and otherwise empty.
  virtual void stored(ByteRange part, Bytes seen) = 0;
  // Reports that a taken range is completely stored. Returns true if it was the last missing range: the
  // caller must then call check() until it is complete. Returns false for every upload that outlives an
  // interruption: seal() ends such an upload.
  virtual bool finish(ByteRange range) = 0;

  // The data that an earlier attempt left of an upload that outlives an interruption.
  struct Resumption {
    std::uint64_t verified = 0;   // bytes, from the start of the file; when complete, taken and finished
    std::uint64_t discarded = 0;  // bytes that belonged to another source, or were damaged
    bool complete = false;        // true: the verification has ended
  };
  // Verifies one slice of those data. The caller repeats the call until the result is complete. No range can
  // be taken before that.
  virtual Resumption resume() = 0;
  // Declares that no range follows. Fails if a range is missing; otherwise the caller must call check() until
  // it is complete. `digest`, if any, is the expected digest of the whole file.
  virtual FileAnswer<void> seal(const std::optional<Digest>& digest) = 0;

  struct Check {
    std::uint64_t checked = 0;       // bytes
    std::optional<Digest> digest{};  // set when complete: the file has its name, or is a discarded dry run
    bool waits = false;              // true: the disk is still busy; call again later
  };
  // Digests one slice, so that other work gets its turn, and publishes the file at the end.
  virtual FileAnswer<Check> check() = 0;
  // True if all bytes of an upload that outlives an interruption have arrived, and only seal() is missing.
  virtual bool awaits_seal() const { return false; }
  // Ends the upload as if the last reference were dropped: the name is free for another upload. check() must
  // not be called afterwards.
  virtual void release() noexcept {}
  virtual std::uint64_t left_to_check() const = 0;  // bytes that check() still has to read
  virtual bool over() const = 0;               // true: no range can be added, normally because all are stored
  virtual std::uint64_t received() const = 0;  // bytes received so far, repeated ones included
  virtual File& file() = 0;
};

// A file or directory that exists, as the answer to a request. All methods: any thread.
class StoredEntry {
 public:
  virtual ~StoredEntry() = default;
  virtual bool was_there() const = 0;  // it existed before the request
  // True once the disk has the entry and its name, and at once if no sync was asked for. The caller repeats
  // the call until it returns true.
  virtual FileAnswer<bool> is_on_disk() = 0;
};

// A directory of files. All methods: any thread; they may block on a disk.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual FileAnswer<OpenFile> open(std::string_view name) = 0;
  // True if nothing has changed the file since open() returned it. Certain for a settled file only.
  virtual bool is_unchanged(const OpenFile& /*file*/) const { return true; }
  // Lists a directory: the files that open() accepts, and the directories. list() returns at most `most`
  // entries at once, and read_folder() reads all entries piece by piece. The root has the empty name.
  virtual FileAnswer<FolderListing> list(std::string_view /*folder*/, std::size_t /*most*/) {
    return refused(FileError::not_permitted, "there are no directories here");
  }
  virtual FileAnswer<std::unique_ptr<FolderReader>> read_folder(std::string_view /*name*/) {
    return refused(FileError::not_permitted, "there are no directories here");
  }
  virtual FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest& request) = 0;
  // Makes a directory. An existing directory is left as it is, or gets the mode if the wishes have
  // `overwrites` and the storage replaces files. The other wishes that count are `mode`, `makes_parents` and
  // `synced`.
  virtual FileAnswer<std::shared_ptr<StoredEntry>> make_folder(std::string_view /*name*/,
                                                               const FileWishes& /*wishes*/) {
    return refused(FileError::not_permitted, "there are no directories here");
  }
  // Puts an existing file, its name and the names of the directories on its path onto the disk. Returns null
  // if the files are on no disk.
  virtual FileAnswer<std::shared_ptr<StoredEntry>> sync(std::string_view /*name*/) { return nullptr; }
  // Forgets what an interrupted upload of this name has left, because the file that is there is wanted.
  virtual void forget_interrupted(std::string_view /*name*/) {}
  // Remembers the digest of the whole file. Without effect unless the file is settled.
  virtual void remember(const OpenFile& file, const Digest& digest) = 0;
  // True if so many complete files, each with an open descriptor, wait for the disk that no further files
  // should be accepted.
  virtual bool is_crowded() const { return false; }
};

// The destination of the client's downloads.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual File& file() = 0;
  virtual bool keeps() const = 0;         // true: written bytes can be read again
  virtual FileAnswer<void> accept() = 0;  // confirms that the content is correct: a file gets its name
};

// The client's sources and destinations.
class TransferFiles {
 public:
  virtual ~TransferFiles() = default;
  virtual const OpenFile& source() const = 0;  // the source of a put, with its digest
  virtual FileAnswer<std::unique_ptr<Sink>> sink(std::uint64_t size) = 0;
};

}  // namespace joust
