// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.hpp"
#include "joust/file.hpp"
#include "joust/service.hpp"

// What sessions that carry files ask of the disk. Sessions know these interfaces only; src/store/ does the
// work, and tests put something in its place.
namespace joust {

// What a peer may be told. The numbers are those on the wire (docs/file-protocol.md).
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
};

std::string_view error_name(FileError error);
FileError error_of(int error);  // an errno

struct FileRefusal {
  FileError error = FileError::none;
  std::string text{};  // for people; tells nothing of the machine's own paths
};

template <typename T>
using FileAnswer = std::expected<T, FileRefusal>;

// Which bytes a name stands for: when any of these has changed, they may be others.
struct FileVersion {
  std::uint64_t device = 0, inode = 0;
  std::uint64_t size = 0;                        // bytes
  std::int64_t modified_ns = 0, changed_ns = 0;  // since 1970
  auto operator<=>(const FileVersion&) const = default;
};

struct OpenFile {
  std::shared_ptr<File> file;
  FileVersion version{};           // when it was opened
  std::optional<Digest> digest{};  // of the whole file, where it is known already
  bool settled = false;            // every change from now on will show in the version
};

struct UploadRequest {
  std::string_view name;
  std::uint64_t size = 0;          // of the whole file, bytes
  std::uint64_t id = 0;            // chosen by the client: the ranges of one upload have the same
  std::optional<Digest> digest{};  // what the whole file must have
  bool rehearsal = false;          // thrown away when it is complete
  PeerAddress peer = PeerAddress::unknown;
};

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // offset + size is known not to wrap
  std::uint64_t end() const { return offset + size; }
};

// One upload in the making, whose ranges may come over several connections. It is abandoned, and nothing of
// it remains, when the last reference goes before it has been published: whoever brings a range keeps it. All
// methods: any thread.
class Upload {
 public:
  virtual ~Upload() = default;
  // Reserves a range: nobody else gets a byte of it, until it is given back.
  virtual FileAnswer<void> take(ByteRange range) = 0;
  virtual void give_back(ByteRange range) = 0;
  // Room for this part of a taken range, before bytes of it are stored.
  virtual FileAnswer<void> make_room(ByteRange part) = 0;
  // This part of a taken range is in the file now; after what came before it in that range. `seen` shows it
  // where the engine had it in memory, and is empty where not.
  virtual void stored(ByteRange part, Bytes seen) = 0;
  // The whole of a taken range is in the file. True when that was the last one missing: it is then for the
  // caller to call check() until it is through.
  virtual bool finish(ByteRange range) = 0;

  struct Check {
    std::uint64_t checked = 0;       // bytes
    std::optional<Digest> digest{};  // once through: the file has its name now
  };
  // One slice of the digest, so that others get their turn; then publishes.
  virtual FileAnswer<Check> check() = 0;
  virtual std::uint64_t left_to_check() const = 0;  // bytes that check() has to read still
  virtual bool over() const = 0;              // all ranges are there: nothing can be added
  virtual std::uint64_t received() const = 0;  // bytes so far, those that came again included
  virtual File& file() = 0;
};

// A directory of files. All methods: any thread; they may block on a disk.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual FileAnswer<OpenFile> open(std::string_view name) = 0;
  virtual FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest& request) = 0;
  // The digest of the whole file. Without effect unless the file is settled.
  virtual void remember(const OpenFile& file, const Digest& digest) = 0;
};

// Where the client side puts what it gets.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual File& file() = 0;
  virtual bool keeps() const = 0;         // what is written can be read again
  virtual FileAnswer<void> accept() = 0;  // it was right: a file gets its name
};

// What the client side sends from and stores into.
class TransferFiles {
 public:
  virtual ~TransferFiles() = default;
  virtual const OpenFile& source() const = 0;  // of a put, with its digest
  virtual FileAnswer<std::unique_ptr<Sink>> sink(std::uint64_t size) = 0;
};

}  // namespace joust
