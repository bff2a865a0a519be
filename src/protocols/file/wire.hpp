// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joust/bytes.hpp"
#include "protocols/file/wire_listing.hpp"
#include "store/storage.hpp"

// The frames of the file protocol (docs/file-protocol.md), for both sides.
namespace joust::file {

inline constexpr std::uint8_t kVersion = 2;
inline constexpr std::size_t kHeadBytes = 16;           // the last four are its check
inline constexpr std::size_t kLargestBody = 2048;       // of frames other than data
inline constexpr std::size_t kCheckBytes = 8;           // behind each such body
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
  bool synced = false;  // the disk has the file before the answer is said
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
// A file that is brought in ranges, and gone on with after an interruption.
struct Offer {
  std::uint64_t size = 0;
  std::uint64_t id = 0;  // of the upload, as UploadRange::id
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
// No range of an offered file follows.
struct Seal {
  std::uint64_t size = 0;  // of the file
  std::uint64_t id = 0;
  std::optional<Digest> digest{};  // of the file
  std::string name{};
};
// A directory that is to be there.
struct Folder {
  std::uint32_t mode = 0;  // permission bits, of one that is made
  bool makes_parents = false;
  bool synced = false;
  std::string name{};
  bool sets_mode = false;  // of one that is there, too
};
struct Facts {
  std::uint64_t size = 0;        // bytes
  std::int64_t modified_ns = 0;  // since 1970
  std::optional<Digest> digest{};
  std::optional<std::uint32_t> mode{};  // permission bits
};
struct Offered {
  bool skipped = false;         // there is such a file, and nothing is to be done
  std::uint64_t there = 0;      // bytes, from the start of the file
  std::uint64_t discarded = 0;  // bytes of an earlier attempt, of another source or damaged
};
struct Stored {
  ByteRange range{};
  bool complete = false;            // the file has its name
  std::optional<Digest> digest{};   // of the file, once complete
  bool was_there = false;           // the directory, and was left as it is
  std::uint64_t request_check = 0;  // Message::check of the request: it is this one that was done
};
struct Working {
  std::uint64_t done = 0;  // bytes digested
};
struct Data {
  std::uint32_t size = 0;  // bytes that follow, not part of the message
};
struct End {
  std::uint64_t size = 0;          // bytes of all data frames of the request
  std::optional<Digest> digest{};  // of those bytes, if known
};
struct Error {
  FileRefusal refusal{};
};
using Body = std::variant<Query, Fragment, UploadRange, Facts, Stored, Working, Data, End, Error, Offer,
                          Whole, Seal, Offered, Folder, List, Entries, Listed>;

struct Message {
  std::uint32_t request = 0;
  Body body{};
  std::uint64_t check = 0;  // of the frame, as it came; of Data: 0
};

// A message with its head and its checks. For Data only the head.
std::vector<std::byte> encode(const Message& message);

// The last four bytes of a head: the lower half of the XXH3-64 of those before them.
std::uint32_t head_check(Bytes head);
// The last eight bytes of an encoded message: the XXH3-64 of all before them. Not of Data.
std::uint64_t check_of(Bytes frame);

// Cuts a stream into messages, and lets none pass whose bytes do not fit their checks. Stores at most one
// head and one body, and only bytes that have arrived. After a data message the caller itself takes that many
// bytes before the next call.
class Decoder {
 public:
  struct Step {
    std::size_t taken = 0;             // bytes of `chunk`
    std::optional<Message> message{};  // nothing: more bytes are needed
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
  std::vector<std::byte> held_;  // of an incomplete message
};

}  // namespace joust::file
