// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/endian.hpp"
#include "files/protocol/wire.hpp"
#include "files/protocol/wire_flags.hpp"

namespace joust::file {
namespace {

constexpr std::size_t kLongestText = 255;  // bytes of an error's text

// Appends fields to a head, whose size and check are filled in at the end.
class Frame {
 public:
  Frame(Kind kind, std::uint32_t request) : bytes_(kHeadBytes) {
    bytes_[0] = std::byte{kVersion};
    bytes_[1] = static_cast<std::byte>(kind);
    write_big_endian(request, &bytes_[4]);
  }
  template <typename Number>
  Frame& number(Number value) {
    bytes_.resize(bytes_.size() + sizeof value);
    write_big_endian(value, &bytes_[bytes_.size() - sizeof value]);
    return *this;
  }
  Frame& range(ByteRange range) { return number(range.offset).number(range.size); }
  Frame& text(std::string_view text) {
    number(static_cast<std::uint16_t>(text.size()));
    bytes_.insert(bytes_.end(), as_bytes(text).begin(), as_bytes(text).end());
    return *this;
  }
  Frame& digest(const std::optional<Digest>& digest) {
    flag(kDigestKnown, digest.has_value());
    const Digest value = digest.value_or(Digest{});
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  Frame& wishes(const FileWishes& wishes) {
    flag(kOverwrites, wishes.overwrites);
    flag(kSkipsExisting, wishes.skips_existing);
    flag(kMakesParents, wishes.makes_parents);
    flag(kSynced, wishes.synced);
    return number(static_cast<std::uint64_t>(wishes.modified_ns)).number(wishes.mode);
  }
  Frame& flag(std::uint16_t bit, bool set) {
    if (set) flags_ |= bit;
    return *this;
  }
  std::vector<std::byte> head_only(std::uint32_t size) {
    complete_head(size);
    return std::move(bytes_);
  }
  std::vector<std::byte> done() {
    complete_head(static_cast<std::uint32_t>(bytes_.size() - kHeadBytes));
    number(checksum(bytes_));
    return std::move(bytes_);
  }

 private:
  void complete_head(std::uint32_t size) {
    write_big_endian(flags_, &bytes_[2]);
    write_big_endian(size, &bytes_[8]);
    write_big_endian(head_check(bytes_), &bytes_[kHeadBytes - 4]);
  }

  std::vector<std::byte> bytes_;
  std::uint16_t flags_ = 0;
};

struct Encoder {
  std::uint32_t request;

  std::vector<std::byte> operator()(const Query& query) const {
    return Frame(Kind::query, request)
        .flag(kDigestWanted, query.wants_digest)
        .flag(kSynced, query.synced)
        .text(query.name)
        .done();
  }
  std::vector<std::byte> operator()(const Fragment& fragment) const {
    return Frame(Kind::fragment, request).range(fragment.range).text(fragment.name).done();
  }
  std::vector<std::byte> operator()(const UploadRange& upload) const {
    return Frame(Kind::upload, request)
        .flag(kRehearsal, upload.rehearsal)
        .flag(kOfOffer, upload.offered)
        .number(upload.file_size)
        .range(upload.range)
        .number(upload.id)
        .digest(upload.digest)
        .text(upload.name)
        .done();
  }
  std::vector<std::byte> operator()(const Offer& offer) const {
    return Frame(Kind::offer, request)
        .number(offer.size)
        .number(offer.id)
        .wishes(offer.wishes)
        .number(offer.wishes.source)
        .text(offer.name)
        .done();
  }
  std::vector<std::byte> operator()(const Whole& whole) const {
    return Frame(Kind::whole, request)
        .number(whole.size)
        .digest(whole.digest)
        .wishes(whole.wishes)
        .text(whole.name)
        .done();
  }
  std::vector<std::byte> operator()(const Seal& seal) const {
    return Frame(Kind::seal, request)
        .number(seal.size)
        .number(seal.id)
        .digest(seal.digest)
        .text(seal.name)
        .done();
  }
  std::vector<std::byte> operator()(const Folder& folder) const {
    return Frame(Kind::folder, request)
        .flag(kMakesParents, folder.makes_parents)
        .flag(kSynced, folder.synced)
        .flag(kOverwrites, folder.sets_mode)
        .number(folder.mode)
        .text(folder.name)
        .done();
  }
  std::vector<std::byte> operator()(const Offered& offered) const {
    return Frame(Kind::offered, request)
        .flag(kSkipped, offered.skipped)
        .number(offered.there)
        .number(offered.discarded)
        .done();
  }
  std::vector<std::byte> operator()(const Facts& facts) const {
    return Frame(Kind::facts, request)
        .number(facts.size)
        .number(static_cast<std::uint64_t>(facts.modified_ns))
        .digest(facts.digest)
        .flag(kModeKnown, facts.mode.has_value())
        .number(facts.mode.value_or(0))
        .done();
  }
  std::vector<std::byte> operator()(const Stored& stored) const {
    return Frame(Kind::stored, request)
        .flag(kComplete, stored.complete)
        .flag(kWasThere, stored.was_there)
        .range(stored.range)
        .digest(stored.digest)
        .number(stored.request_check)
        .done();
  }
  std::vector<std::byte> operator()(const Working& working) const {
    return Frame(Kind::working, request).number(working.done).done();
  }
  std::vector<std::byte> operator()(const Data& data) const {
    return Frame(Kind::data, request).head_only(data.size);
  }
  std::vector<std::byte> operator()(const End& end) const {
    return Frame(Kind::end, request).number(end.size).digest(end.digest).done();
  }
  std::vector<std::byte> operator()(const Error& error) const {
    return Frame(Kind::error, request)
        .number(static_cast<std::uint16_t>(error.refusal.error))
        .text(std::string_view(error.refusal.text).substr(0, kLongestText))
        .done();
  }
  std::vector<std::byte> operator()(const List& list) const {
    return Frame(Kind::list, request).text(list.name).done();
  }
  std::vector<std::byte> operator()(const Entries& part) const {
    Frame frame(Kind::entries, request);
    frame.number(static_cast<std::uint16_t>(part.entries.size()));
    for (const FolderEntry& entry : part.entries)
      frame.number(entry.is_folder ? kEntryIsFolder : std::uint8_t{0})
          .number(entry.mode)
          .number(entry.size)
          .number(static_cast<std::uint64_t>(entry.modified_ns))
          .text(entry.name);
    return frame.done();
  }
  std::vector<std::byte> operator()(const Listed& listed) const {
    return Frame(Kind::listed, request).number(listed.entries).number(listed.left_out).done();
  }
};

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  return std::visit(Encoder{message.request}, message.body);
}

std::uint32_t head_check(Bytes head) {
  return static_cast<std::uint32_t>(checksum(head.first(kHeadBytes - 4)));
}

std::uint64_t check_of(Bytes frame) {
  return read_big_endian<std::uint64_t>(frame.data() + frame.size() - kCheckBytes);
}

}  // namespace joust::file
