// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/endian.hpp"
#include "files/protocol/wire.hpp"
#include "files/protocol/wire_flags.hpp"

namespace joust::file {
namespace {

// Reads fields from a body. A missing field makes the body invalid, and is read as 0. Bytes after the last
// known field are from a later version, and ignored.
class Fields {
 public:
  Fields(Bytes body, std::uint16_t flags) : rest_(body), flags_(flags) {}

  template <typename Number>
  Number number() {
    const Bytes field = take(sizeof(Number));
    return field.empty() ? Number{} : read_big_endian<Number>(field.data());
  }
  ByteRange range() {
    const ByteRange range{.offset = number<std::uint64_t>(), .size = number<std::uint64_t>()};
    if (range.size > UINT64_MAX - range.offset) bad_ = true;
    return range;
  }
  std::string text() { return std::string(as_text(take(number<std::uint16_t>()))); }
  std::optional<Digest> digest() {
    Digest digest{};
    std::ranges::copy(take(digest.size()), digest.begin());
    return has(kDigestKnown) ? std::optional(digest) : std::nullopt;
  }
  bool has(std::uint16_t flag) const { return (flags_ & flag) != 0; }
  bool bad() const { return bad_; }

 private:
  Bytes take(std::size_t size) {
    if (size > rest_.size()) {
      bad_ = true;
      return {};
    }
    const Bytes field = rest_.first(size);
    rest_ = rest_.subspan(size);
    return field;
  }

  Bytes rest_;
  std::uint16_t flags_;
  bool bad_ = false;
};

UploadRange upload_of(Fields& fields) {
  UploadRange upload;
  upload.file_size = fields.number<std::uint64_t>();
  upload.range = fields.range();
  upload.id = fields.number<std::uint64_t>();
  upload.digest = fields.digest();
  upload.rehearsal = fields.has(kRehearsal);
  upload.name = fields.text();
  upload.offered = fields.has(kOfOffer);
  return upload;
}

// Reads the wishes that are the same in all frames that have wishes.
FileWishes wishes_of(Fields& fields) {
  FileWishes wishes;
  wishes.modified_ns = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  wishes.mode = fields.number<std::uint32_t>();
  wishes.overwrites = fields.has(kOverwrites);
  wishes.skips_existing = fields.has(kSkipsExisting);
  wishes.makes_parents = fields.has(kMakesParents);
  wishes.synced = fields.has(kSynced);
  return wishes;
}

Offer offer_of(Fields& fields) {
  Offer offer;
  offer.size = fields.number<std::uint64_t>();
  offer.id = fields.number<std::uint64_t>();
  offer.wishes = wishes_of(fields);
  offer.wishes.outlives = true;
  offer.wishes.source = fields.number<std::uint64_t>();
  offer.name = fields.text();
  return offer;
}

Facts facts_of(Fields& fields) {
  Facts facts;
  facts.size = fields.number<std::uint64_t>();
  facts.modified_ns = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  facts.digest = fields.digest();
  if (fields.has(kModeKnown)) facts.mode = fields.number<std::uint32_t>();
  return facts;
}

Error error_from(Fields& fields) {
  Error error;
  error.refusal.error = static_cast<FileError>(fields.number<std::uint16_t>());
  error.refusal.text = fields.text();
  return error;
}

FolderEntry entry_of(Fields& fields) {
  FolderEntry entry;
  entry.is_folder = fields.number<std::uint8_t>() == kEntryIsFolder;
  entry.mode = fields.number<std::uint32_t>() & kPermissionBits;
  entry.size = fields.number<std::uint64_t>();
  entry.modified_ns = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  entry.name = fields.text();
  return entry;
}

// Allocates no more entries than have arrived: the number alone may be wrong.
Entries entries_of(Fields& fields) {
  Entries part;
  for (std::size_t left = fields.number<std::uint16_t>(); left > 0 && !fields.bad(); --left)
    part.entries.push_back(entry_of(fields));
  return part;
}

// The braces of a list are evaluated from left to right, in the order of the fields.
std::optional<Body> body_of(const Head& head, Fields& fields) {
  switch (head.kind) {
    case Kind::query:
      return Query{
          .name = fields.text(), .wants_digest = fields.has(kDigestWanted), .synced = fields.has(kSynced)};
    case Kind::fragment:
      return Fragment{.range = fields.range(), .name = fields.text()};
    case Kind::upload:
      return upload_of(fields);
    case Kind::offer:
      return offer_of(fields);
    case Kind::whole:
      return Whole{.size = fields.number<std::uint64_t>(),
                   .digest = fields.digest(),
                   .wishes = wishes_of(fields),
                   .name = fields.text()};
    case Kind::seal:
      return Seal{.size = fields.number<std::uint64_t>(),
                  .id = fields.number<std::uint64_t>(),
                  .digest = fields.digest(),
                  .name = fields.text()};
    case Kind::folder:
      return Folder{.mode = fields.number<std::uint32_t>(),
                    .makes_parents = fields.has(kMakesParents),
                    .synced = fields.has(kSynced),
                    .name = fields.text(),
                    .sets_mode = fields.has(kOverwrites)};
    case Kind::offered:
      return Offered{.skipped = fields.has(kSkipped),
                     .there = fields.number<std::uint64_t>(),
                     .discarded = fields.number<std::uint64_t>()};
    case Kind::facts:
      return facts_of(fields);
    case Kind::stored:
      return Stored{.range = fields.range(),
                    .complete = fields.has(kComplete),
                    .digest = fields.digest(),
                    .was_there = fields.has(kWasThere),
                    .request_check = fields.number<std::uint64_t>()};
    case Kind::working:
      return Working{fields.number<std::uint64_t>()};
    case Kind::data:
      return Data{head.size};
    case Kind::end:
      return End{.size = fields.number<std::uint64_t>(), .digest = fields.digest()};
    case Kind::error:
      return error_from(fields);
    case Kind::list:
      return List{fields.text()};
    case Kind::entries:
      return entries_of(fields);
    case Kind::listed:
      return Listed{.entries = fields.number<std::uint64_t>(), .left_out = fields.number<std::uint64_t>()};
  }
  return std::nullopt;
}

Head head_of(Bytes bytes) {
  return {.version = static_cast<std::uint8_t>(bytes[0]),
          .kind = static_cast<Kind>(bytes[1]),
          .flags = read_big_endian<std::uint16_t>(&bytes[2]),
          .request = read_big_endian<std::uint32_t>(&bytes[4]),
          .size = read_big_endian<std::uint32_t>(&bytes[8])};
}

bool is_undamaged(Bytes head) {
  return read_big_endian<std::uint32_t>(&head[kHeadBytes - 4]) == head_check(head);
}

bool is_undamaged_frame(Bytes frame) {
  return check_of(frame) == checksum(frame.first(frame.size() - kCheckBytes));
}

// Checked before the body is stored.
std::string_view objection_to(const Head& head) {
  const std::size_t largest = head.kind == Kind::data ? kLargestData : kLargestBody;
  return head.size > largest ? "the frame is too large" : "";
}

std::unexpected<Decoder::Violation> violation(std::uint32_t request, FileError error, std::string_view text) {
  return std::unexpected(Decoder::Violation{request, {error, std::string(text)}});
}

}  // namespace

std::expected<Decoder::Step, Decoder::Violation> Decoder::next(Bytes chunk) {
  std::size_t taken = 0;
  const auto collect = [&](std::size_t size) {
    const std::size_t missing = size - std::min(size, held_.size());
    const Bytes part = chunk.subspan(taken, std::min(missing, chunk.size() - taken));
    held_.insert(held_.end(), part.begin(), part.end());
    taken += part.size();
    return held_.size() >= size;
  };
  // Heads of other versions may have other sizes.
  if (!collect(1)) return Step{taken, {}};
  if (std::to_integer<std::uint8_t>(held_.front()) != kVersion)
    return violation(0, FileError::version, "version 2 is spoken here");
  if (!collect(kHeadBytes)) return Step{taken, {}};
  if (!is_undamaged(held_)) return violation(0, FileError::damaged, "the head of a frame");
  const Head head = head_of(held_);
  if (const auto objection = objection_to(head); !objection.empty())
    return violation(head.request, FileError::malformed, objection);
  const bool is_data = head.kind == Kind::data;
  if (!collect(is_data ? kHeadBytes : kHeadBytes + head.size + kCheckBytes)) return Step{taken, {}};
  if (!is_data && !is_undamaged_frame(held_)) return violation(0, FileError::damaged, "a frame");
  Fields fields(Bytes(held_).subspan(kHeadBytes, is_data ? 0 : head.size), head.flags);
  auto body = body_of(head, fields);
  if (!body) return violation(head.request, FileError::malformed, "no such kind of frame");
  if (fields.bad())
    return violation(head.request, FileError::malformed,
                     "the frame's fields do not fit in it, or its range in a file");
  const std::uint64_t check = is_data ? 0 : check_of(held_);
  held_.clear();
  return Step{taken, Message{head.request, std::move(*body), check}};
}

}  // namespace joust::file
