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

inline constexpr std::uint8_t kVersion = 2;
inline constexpr std::size_t kHeadBytes = 16;           // the last four are its check
inline constexpr std::size_t kLargestBody = 2048;       // for frames other than data
inline constexpr std::size_t kCheckBytes = 8;           // after each such body
inline constexpr std::uint32_t kLargestData = 4 << 20;  // bytes in one data frame
// A file of at most so many bytes is sent with its digest, if it is asked for as one range.
inline constexpr std::uint64_t kSentWithDigest = 64 << 10;

// The flag bits in the head of a frame. Bits that a kind does not define are ignored.
inline constexpr std::uint16_t kDigestKnown = 1 << 0;   // the frame's digest is known
inline constexpr std::uint16_t kDigestWanted = 1 << 1;  // Query
inline constexpr std::uint16_t kDryRun = 1 << 2;        // UploadRange
inline constexpr std::uint16_t kComplete = 1 << 3;      // Stored
inline constexpr std::uint16_t kOfOffer = 1 << 4;       // UploadRange
inline constexpr std::uint16_t kModeKnown = 1 << 4;     // Facts: the mode follows
inline constexpr std::uint16_t kSkipped = 1 << 4;       // Offered
inline constexpr std::uint16_t kWasThere = 1 << 4;      // Stored
// The sender's wishes in Offer, Whole and Folder; Query has the last one only.
inline constexpr std::uint16_t kOverwrites = 1 << 4;
inline constexpr std::uint16_t kSkipsExisting = 1 << 5;
inline constexpr std::uint16_t kMakesParents = 1 << 6;
inline constexpr std::uint16_t kSynced = 1 << 7;

// Fields that are on the wire in another form than that of their type. A writer has const ones.
template <typename Bool>
struct Flag {
  std::uint16_t bit;
  Bool& is_set;
};
template <typename Bool>
struct Implied {  // by the kind of the frame: true, and not on the wire
  Bool& is_set;
};
template <typename Mode>
struct Permissions {
  Mode& mode;
};
template <typename Optional>
struct Known {  // a number that the flag says to be known
  std::uint16_t bit;
  Optional& number;
};
template <typename Text>
struct Shortened {  // to kLongestText bytes
  Text& text;
};
inline constexpr std::size_t kLongestText = 255;

// The bodies of frames. kKind is the number of the kind in the head. fields() lists the fields in their order
// on the wire, for the writer and the reader of frames (wire.cpp). Flags are in the head, wherever the list
// has them.

// The wishes that are the same in all frames that have wishes.
void fields_of_wishes(auto& io, auto& m) {
  io(Flag(kOverwrites, m.overwrites), Flag(kSkipsExisting, m.skips_existing),
     Flag(kMakesParents, m.makes_parents), Flag(kSynced, m.synced), m.modified_ns, m.mode);
}
void fields_of_entry(auto& io, auto& m) {
  io(m.is_folder, Permissions(m.mode), m.size, m.modified_ns, m.name);
}

// Asks for the facts about a file.
struct Query {
  static constexpr std::uint8_t kKind = 1;
  std::string name{};
  bool wants_digest = false;
  bool synced = false;  // the disk must have the file before the answer is sent
  static void fields(auto& io, auto& m) {
    io(Flag(kDigestWanted, m.wants_digest), Flag(kSynced, m.synced), m.name);
  }
};
struct Fragment {
  static constexpr std::uint8_t kKind = 2;
  ByteRange range{};
  std::string name{};
  static void fields(auto& io, auto& m) { io(m.range, m.name); }
};
struct UploadRange {
  static constexpr std::uint8_t kKind = 3;
  std::uint64_t file_size = 0;
  ByteRange range{};
  std::uint64_t id = 0;
  std::optional<Digest> digest{};
  bool dry_run = false;  // the file is discarded when complete
  std::string name{};
  bool offered = false;  // belongs to an offer
  static void fields(auto& io, auto& m) {
    io(Flag(kDryRun, m.dry_run), Flag(kOfOffer, m.offered));
    io(m.file_size, m.range, m.id, m.digest, m.name);
  }
};
// A file that is sent in ranges, and can be resumed after an interruption.
struct Offer {
  static constexpr std::uint8_t kKind = 4;
  std::uint64_t size = 0;
  std::uint64_t id = 0;  // number of the upload, as UploadRange::id
  FileWishes wishes{};
  std::string name{};
  static void fields(auto& io, auto& m) {
    io(Implied(m.wishes.resumable), m.size, m.id, m.wishes, m.wishes.source, m.name);
  }
};
// A file whose data follows at once.
struct Whole {
  static constexpr std::uint8_t kKind = 5;
  std::uint64_t size = 0;
  std::optional<Digest> digest{};
  FileWishes wishes{};
  std::string name{};
  static void fields(auto& io, auto& m) { io(m.size, m.digest, m.wishes, m.name); }
};
// The end of an offered file: no range follows.
struct Seal {
  static constexpr std::uint8_t kKind = 6;
  std::uint64_t size = 0;  // size of the file
  std::uint64_t id = 0;
  std::optional<Digest> digest{};  // digest of the file
  std::string name{};
  static void fields(auto& io, auto& m) { io(m.size, m.id, m.digest, m.name); }
};
// A request for a directory, which is made if it does not exist.
struct Folder {
  static constexpr std::uint8_t kKind = 7;
  std::uint32_t mode = 0755;  // permission bits of a directory that is made
  bool makes_parents = false;
  bool synced = false;
  std::string name{};
  bool sets_mode = false;  // an existing directory gets the mode too
  static void fields(auto& io, auto& m) {
    io(Flag(kMakesParents, m.makes_parents), Flag(kSynced, m.synced), Flag(kOverwrites, m.sets_mode));
    io(m.mode, m.name);
  }
};
// Asks for a directory's entries. Answered by its Facts, Entries as often as needed, and Listed.
struct List {
  static constexpr std::uint8_t kKind = 8;
  std::string name{};  // empty: the server's own directory
  static void fields(auto& io, auto& m) { io(m.name); }
};
struct Facts {
  static constexpr std::uint8_t kKind = 16;
  std::uint64_t size = 0;        // bytes
  std::int64_t modified_ns = 0;  // since 1970
  std::optional<Digest> digest{};
  std::optional<std::uint32_t> mode{};  // permission bits
  static void fields(auto& io, auto& m) { io(m.size, m.modified_ns, m.digest, Known(kModeKnown, m.mode)); }
};
struct Stored {
  static constexpr std::uint8_t kKind = 17;
  ByteRange range{};
  bool complete = false;           // the file has its name
  std::optional<Digest> digest{};  // digest of the file, once complete
  bool was_there = false;          // the directory existed, and was left as it was
  // The Message::check of the request: shows that this request was carried out.
  std::uint64_t request_check = 0;
  static void fields(auto& io, auto& m) {
    io(Flag(kComplete, m.complete), Flag(kWasThere, m.was_there), m.range, m.digest, m.request_check);
  }
};
struct Working {
  static constexpr std::uint8_t kKind = 18;
  std::uint64_t done = 0;  // bytes digested
  static void fields(auto& io, auto& m) { io(m.done); }
};
struct Offered {
  static constexpr std::uint8_t kKind = 19;
  bool skipped = false;         // the file exists, and is left as it is
  std::uint64_t there = 0;      // bytes stored, from the start of the file
  std::uint64_t discarded = 0;  // bytes of an earlier attempt that belonged to another source or were damaged
  static void fields(auto& io, auto& m) { io(Flag(kSkipped, m.skipped), m.there, m.discarded); }
};
// Some entries of a directory, in any order: as many as fit in a body.
struct Entries {
  static constexpr std::uint8_t kKind = 20;
  // Bytes of one entry in a body, without its name; and bytes before the first entry.
  static constexpr std::size_t kEntryHeadBytes = 1 + 4 + 8 + 8 + 2;
  static constexpr std::size_t kHeadBytes = 2;
  std::vector<FolderEntry> entries{};
  static void fields(auto& io, auto& m) { io(m.entries); }
};
// The end of the list: no entry follows.
struct Listed {
  static constexpr std::uint8_t kKind = 21;
  std::uint64_t entries = 0;   // entries of the whole answer
  std::uint64_t left_out = 0;  // links, devices and names that the protocol does not support
  static void fields(auto& io, auto& m) { io(m.entries, m.left_out); }
};
// The head of data: its size is that of the frame, and it has no body of its own.
struct Data {
  static constexpr std::uint8_t kKind = 32;
  std::uint32_t size = 0;  // bytes that follow, not part of the message
  static void fields(auto& /*io*/, auto& /*m*/) {}
};
struct End {
  static constexpr std::uint8_t kKind = 33;
  std::uint64_t size = 0;          // bytes of all data frames of the request
  std::optional<Digest> digest{};  // digest of those bytes, if known
  static void fields(auto& io, auto& m) { io(m.size, m.digest); }
};
struct Error {
  static constexpr std::uint8_t kKind = 34;
  FileRefusal refusal{};
  static void fields(auto& io, auto& m) { io(m.refusal.error, Shortened(m.refusal.text)); }
};
using Body = std::variant<Query, Fragment, UploadRange, Facts, Stored, Working, Data, End, Error, Offer,
                          Whole, Seal, Offered, Folder, List, Entries, Listed>;

struct Message {
  std::uint32_t request = 0;  // chosen by the client; every answer repeats it
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
