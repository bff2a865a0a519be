// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "files/store/folder_listing.hpp"
#include "files/store/storage.hpp"
#include "joust/bytes.hpp"

// The frames of the file protocol (docs/file-protocol.md), for both sides.
namespace joust::file {

// Asks for a directory's entries. Answered by its Facts, Entries as often as needed, and Listed.
struct List {
  std::string name{};  // empty: the server's own directory
};
// Some entries of a directory, in any order: as many as fit in a body.
struct Entries {
  std::vector<FolderEntry> entries{};
};
// The end of the list: no entry follows.
struct Listed {
  std::uint64_t entries = 0;   // entries of the whole answer
  std::uint64_t left_out = 0;  // links, devices and names that the protocol does not support
};

// Bytes of one entry in a body, without its name; and bytes before the first entry.
inline constexpr std::size_t kEntryHeadBytes = 1 + 4 + 8 + 8 + 2;
inline constexpr std::size_t kEntriesHeadBytes = 2;

inline constexpr std::uint8_t kEntryIsFolder = 1;  // the kind of an entry; 0: a file

inline constexpr std::uint8_t kVersion = 2;
inline constexpr std::size_t kHeadBytes = 16;           // the last four are its check
inline constexpr std::size_t kLargestBody = 2048;       // for frames other than data
inline constexpr std::size_t kCheckBytes = 8;           // after each such body
inline constexpr std::uint32_t kLargestData = 4 << 20;  // bytes in one data frame

enum class Kind : std::uint8_t {
  query = 1,
  fragment = 2,
  upload = 3,
  offer = 4,
  whole = 5,
  seal = 6,
  folder = 7,
  list = 8,
  facts = 16,
  stored = 17,
  working = 18,
  offered = 19,
  entries = 20,
  listed = 21,
  data = 32,
  end = 33,
  error = 34,
};

struct Head {
  std::uint8_t version = kVersion;
  Kind kind{};
  std::uint16_t flags = 0;
  std::uint32_t request = 0;  // chosen by the client; every answer repeats it
  std::uint32_t size = 0;     // bytes of the body, without its check
};

// The bodies.
struct Query {
  std::string name{};
  bool wants_digest = false;
  bool synced = false;  // the disk must have the file before the answer is sent
};
struct Fragment {
  ByteRange range{};
  std::string name{};
};
struct UploadRange {
  std::uint64_t file_size = 0;
  ByteRange range{};
  std::uint64_t id = 0;
  std::optional<Digest> digest{};
  bool rehearsal = false;
  std::string name{};
  bool offered = false;  // belongs to an offer
};
// A file that is sent in ranges, and can be resumed after an interruption.
struct Offer {
  std::uint64_t size = 0;
  std::uint64_t id = 0;  // number of the upload, as UploadRange::id
  FileWishes wishes{};
  std::string name{};
};
// A file whose data follows at once.
struct Whole {
  std::uint64_t size = 0;
  std::optional<Digest> digest{};
  FileWishes wishes{};
  std::string name{};
};
// The end of an offered file: no range follows.
struct Seal {
  std::uint64_t size = 0;  // size of the file
  std::uint64_t id = 0;
  std::optional<Digest> digest{};  // digest of the file
  std::string name{};
};
// A request for a directory, which is made if it does not exist.
struct Folder {
  std::uint32_t mode = 0755;  // permission bits of a directory that is made
  bool makes_parents = false;
  bool synced = false;
  std::string name{};
  bool sets_mode = false;  // an existing directory gets the mode too
};
struct Facts {
  std::uint64_t size = 0;        // bytes
  std::int64_t modified_ns = 0;  // since 1970
  std::optional<Digest> digest{};
  std::optional<std::uint32_t> mode{};  // permission bits
};
struct Offered {
  bool skipped = false;         // the file exists, and is left as it is
  std::uint64_t there = 0;      // bytes stored, from the start of the file
  std::uint64_t discarded = 0;  // bytes of an earlier attempt that belonged to another source or were damaged
};
struct Stored {
  ByteRange range{};
  bool complete = false;           // the file has its name
  std::optional<Digest> digest{};  // digest of the file, once complete
  bool was_there = false;          // the directory existed, and was left as it was
  // The Message::check of the request: shows that this request was carried out.
  std::uint64_t request_check = 0;
};
struct Working {
  std::uint64_t done = 0;  // bytes digested
};
struct Data {
  std::uint32_t size = 0;  // bytes that follow, not part of the message
};
struct End {
  std::uint64_t size = 0;          // bytes of all data frames of the request
  std::optional<Digest> digest{};  // digest of those bytes, if known
};
struct Error {
  FileRefusal refusal{};
};
using Body = std::variant<Query, Fragment, UploadRange, Facts, Stored, Working, Data, End, Error, Offer,
                          Whole, Seal, Offered, Folder, List, Entries, Listed>;

struct Message {
  std::uint32_t request = 0;
  Body body{};
  std::uint64_t check = 0;  // the check of the received frame; of Data: 0
};

// Encodes a message with its head and its checks. For Data only the head.
std::vector<std::byte> encode(const Message& message);

// Returns the last four bytes of a head: the lower half of the XXH3-64 of the bytes before them.
std::uint32_t head_check(Bytes head);
// Returns the last eight bytes of an encoded message: the XXH3-64 of all bytes before them. Not valid for
// Data.
std::uint64_t check_of(Bytes frame);

// Cuts a stream into messages, and rejects frames whose bytes do not match their checks. Stores at most one
// head and one body, and only bytes that have arrived. After a data message the caller itself takes the
// announced number of bytes before the next call.
class Decoder {
 public:
  struct Step {
    std::size_t taken = 0;             // bytes of `chunk`
    std::optional<Message> message{};  // empty: more bytes are needed
  };
  // A protocol error; the stream cannot be read any further. `request` of the error is 0 if unknown, as in a
  // frame that is damaged or of another version.
  struct Violation {
    std::uint32_t request = 0;
    FileRefusal refusal{};
  };
  std::expected<Step, Violation> next(Bytes chunk);

  bool in_message() const { return !held_.empty(); }
  std::size_t held_bytes() const { return held_.capacity(); }

 private:
  std::vector<std::byte> held_;  // bytes of an incomplete message
};

}  // namespace joust::file
