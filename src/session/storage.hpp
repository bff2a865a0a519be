// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "joust/file.hpp"

// What sessions that carry files ask of the disk. Sessions know these interfaces only; src/store/ does the
// work, and tests put something in its place.
namespace joust {

// What a peer may be told. The numbers are those on the wire (docs/file-protocol.md).
enum class FileError : std::uint8_t {
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
};

std::string_view error_name(FileError error);
FileError error_of(int error);  // an errno

struct FileRefusal {
  FileError error = FileError::none;
  std::string text{};  // for people; tells nothing of the machine's own paths
};

template <typename T>
using FileAnswer = std::expected<T, FileRefusal>;

struct OpenFile {
  std::shared_ptr<File> file;
  std::uint64_t size = 0;        // bytes, when it was opened
  std::int64_t modified_ns = 0;  // since 1970
};

struct UploadRequest {
  std::string_view name;
  std::uint64_t size = 0;  // of the whole file, bytes
  std::uint64_t id = 0;    // chosen by the client: the ranges of one upload have the same
  bool discard = false;    // throw it away when it is complete
};

// One upload in the making, whose ranges may come over several connections. It is abandoned, and nothing of
// it remains, when the last reference goes before all of it has come. All methods: any thread.
class Upload {
 public:
  virtual ~Upload() = default;
  // Reserves a range: nobody else gets a byte of it, until it is given back.
  virtual FileAnswer<void> take(std::uint64_t offset, std::uint64_t size) = 0;
  virtual void give_back(std::uint64_t offset, std::uint64_t size) = 0;
  // The taken range is there and right. True when that was the last one and the file now has its name.
  virtual FileAnswer<bool> complete(std::uint64_t offset, std::uint64_t size) = 0;
  virtual bool over() const = 0;  // published, discarded or refused: no range can be taken any more
  virtual File& file() = 0;
};

// A directory of files. All methods: any thread; they may block on a disk.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual FileAnswer<OpenFile> open(std::string_view name) = 0;
  virtual FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest& request) = 0;
  virtual std::uint64_t largest_file() const = 0;  // bytes
};

// What the client side sends from and stores into.
class TransferEnds {
 public:
  virtual ~TransferEnds() = default;
  virtual OpenFile source() = 0;  // of a put
  // Of a get: `place` tells connections apart that fetch the same file.
  virtual FileAnswer<std::shared_ptr<File>> sink(std::uint64_t place, std::uint64_t size) = 0;
  virtual std::uint64_t unique() = 0;  // a number no other program has
};

}  // namespace joust
