// SPDX-License-Identifier: MIT
#include "files/protocol/wire.hpp"

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>

#include "base/bytes.hpp"

namespace joust::file {
namespace {

// Appends fields to a head, whose flags, size and check are filled in at the end.
class FieldWriter {
 public:
  FieldWriter(std::uint8_t kind, std::uint32_t request) : bytes_(kHeadBytes) {
    bytes_[0] = std::byte{kVersion};
    bytes_[1] = std::byte{kind};
    write_big_endian(request, &bytes_[4]);
  }

  void operator()(const auto&... fields) { (write(fields), ...); }

  std::vector<std::byte> head_only(std::uint32_t size) {
    complete_head(size);
    return std::move(bytes_);
  }
  std::vector<std::byte> done() {
    complete_head(static_cast<std::uint32_t>(bytes_.size() - kHeadBytes));
    write(checksum(bytes_));
    return std::move(bytes_);
  }

 private:
  template <std::integral Number>
  void write(Number value) {
    bytes_.resize(bytes_.size() + sizeof value);
    write_big_endian(static_cast<std::make_unsigned_t<Number>>(value), &bytes_[bytes_.size() - sizeof value]);
  }
  void write(bool value) { write(std::uint8_t{value}); }
  void write(FileError error) { write(std::to_underlying(error)); }
  void write(const ByteRange& range) { (*this)(range.offset, range.size); }
  void write(std::string_view text) {
    write(static_cast<std::uint16_t>(text.size()));
    append(as_bytes(text));
  }
  void write(const std::optional<Digest>& digest) {
    const bool is_known = digest.has_value();
    write(Flag(kDigestKnown, is_known));
    append(digest.value_or(Digest{}));
  }
  void write(const FileWishes& wishes) { fields_of_wishes(*this, wishes); }
  void write(const std::vector<FolderEntry>& entries) {
    write(static_cast<std::uint16_t>(entries.size()));
    for (const FolderEntry& entry : entries) fields_of_entry(*this, entry);
  }
  void write(Flag<const bool> flag) {
    if (flag.is_set) flags_ |= flag.bit;
  }
  void write(Implied<const bool> /*flag*/) {}
  void write(Permissions<const std::uint32_t> field) { write(field.mode); }
  void write(Known<const std::optional<std::uint32_t>> field) {
    const bool is_known = field.number.has_value();
    (*this)(Flag(field.bit, is_known), field.number.value_or(0));
  }
  void write(Shortened<const std::string> field) {
    write(std::string_view(field.text).substr(0, kLongestText));
  }
  void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void complete_head(std::uint32_t size) {
    write_big_endian(flags_, &bytes_[2]);
    write_big_endian(size, &bytes_[8]);
    write_big_endian(head_check(bytes_), &bytes_[kHeadBytes - 4]);
  }

  std::vector<std::byte> bytes_;
  std::uint16_t flags_ = 0;
};

// Reads fields from a body. A missing field makes the body invalid, and is read as 0. Bytes after the last
// known field are from a later version, and ignored.
class FieldReader {
 public:
  FieldReader(Bytes body, std::uint16_t flags) : rest_(body), flags_(flags) {}

  void operator()(auto&&... fields) { (read(fields), ...); }
  bool bad() const { return bad_; }

 private:
  template <std::integral Number>
  void read(Number& value) {
    using Unsigned = std::make_unsigned_t<Number>;
    const Bytes field = take(sizeof value);
    value = field.empty() ? Number{} : static_cast<Number>(read_big_endian<Unsigned>(field.data()));
  }
  void read(bool& value) {
    std::uint8_t byte = 0;
    read(byte);
    value = byte == 1;
  }
  void read(FileError& error) {
    std::uint16_t number = 0;
    read(number);
    error = static_cast<FileError>(number);
  }
  void read(ByteRange& range) {
    (*this)(range.offset, range.size);
    if (range.size > UINT64_MAX - range.offset) bad_ = true;
  }
  void read(std::string& text) {
    std::uint16_t size = 0;
    read(size);
    text = as_text(take(size));
  }
  void read(std::optional<Digest>& digest) {
    const Bytes field = take(sizeof(Digest));
    if (has(kDigestKnown)) std::ranges::copy(field, digest.emplace().begin());
  }
  void read(FileWishes& wishes) { fields_of_wishes(*this, wishes); }
  // Allocates no more entries than have arrived: the number alone may be wrong.
  void read(std::vector<FolderEntry>& entries) {
    std::uint16_t left = 0;
    for (read(left); left > 0 && !bad_; --left) fields_of_entry(*this, entries.emplace_back());
  }
  void read(Flag<bool> flag) { flag.is_set = has(flag.bit); }
  void read(Implied<bool> flag) { flag.is_set = true; }
  void read(Permissions<std::uint32_t> field) {
    read(field.mode);
    field.mode &= kPermissionBits;
  }
  void read(Known<std::optional<std::uint32_t>> field) {
    if (has(field.bit)) read(field.number.emplace());
  }
  void read(Shortened<std::string> field) { read(field.text); }
  bool has(std::uint16_t flag) const { return (flags_ & flag) != 0; }
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

// Reads the body of the kind with this number; nothing if there is none.
template <std::size_t alternative = 0>
std::optional<Body> body_of(std::uint8_t kind, FieldReader& reader) {
  if constexpr (alternative < std::variant_size_v<Body>) {
    using One = std::variant_alternative_t<alternative, Body>;
    if (kind != One::kKind) return body_of<alternative + 1>(kind, reader);
    One body;
    One::fields(reader, body);
    return body;
  }
  return std::nullopt;
}

struct Head {
  explicit Head(Bytes bytes)
      : kind(std::to_integer<std::uint8_t>(bytes[1])),
        flags(read_big_endian<std::uint16_t>(&bytes[2])),
        request(read_big_endian<std::uint32_t>(&bytes[4])),
        size(read_big_endian<std::uint32_t>(&bytes[8])) {}
  bool is_data() const { return kind == Data::kKind; }

  std::uint8_t kind;
  std::uint16_t flags;
  std::uint32_t request;
  std::uint32_t size;  // bytes of the body, without its check; of data: those that follow
};

bool is_undamaged(Bytes head) {
  return read_big_endian<std::uint32_t>(&head[kHeadBytes - 4]) == head_check(head);
}

bool is_undamaged_frame(Bytes frame) {
  return check_of(frame) == checksum(frame.first(frame.size() - kCheckBytes));
}

std::unexpected<Decoder::Violation> violation(std::uint32_t request, FileError error, std::string_view text) {
  return std::unexpected(Decoder::Violation{request, {error, std::string(text)}});
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  return std::visit(
      [&]<typename One>(const One& body) {
        FieldWriter writer(One::kKind, message.request);
        One::fields(writer, body);
        if constexpr (std::same_as<One, Data>)
          return writer.head_only(body.size);
        else
          return writer.done();
      },
      message.body);
}

std::uint32_t head_check(Bytes head) {
  return static_cast<std::uint32_t>(checksum(head.first(kHeadBytes - 4)));
}

std::uint64_t check_of(Bytes frame) {
  return read_big_endian<std::uint64_t>(frame.data() + frame.size() - kCheckBytes);
}

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
  const Head head(held_);
  // Checked before the body is stored.
  if (head.size > (head.is_data() ? kLargestData : kLargestBody))
    return violation(head.request, FileError::malformed, "the frame is too large");
  if (head.is_data()) {
    held_.clear();
    return Step{taken, Message{head.request, Data{head.size}}};
  }
  if (!collect(kHeadBytes + head.size + kCheckBytes)) return Step{taken, {}};
  if (!is_undamaged_frame(held_)) return violation(0, FileError::damaged, "a frame");
  FieldReader reader(Bytes(held_).subspan(kHeadBytes, head.size), head.flags);
  auto body = body_of(head.kind, reader);
  if (!body) return violation(head.request, FileError::malformed, "no such kind of frame");
  if (reader.bad())
    return violation(head.request, FileError::malformed,
                     "the frame's fields do not fit in it, or its range in a file");
  const std::uint64_t check = check_of(held_);
  held_.clear();
  return Step{taken, Message{head.request, std::move(*body), check}};
}

}  // namespace joust::file
