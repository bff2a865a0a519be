// SPDX-License-Identifier: MIT
#include "files/protocol/messages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"

namespace joust::file::test {
namespace {

std::string digest(const std::optional<Digest>& digest) {
  return digest ? to_hex(*digest) : "-";
}

std::string words_of(const FileWishes& w) {
  return fmt::format("time {} mode {:o} overwrite {} skip {} parents {} synced {}", w.modified_ns, w.mode,
                     w.overwrites, w.skips_existing, w.makes_parents, w.synced);
}

struct Words {
  std::string operator()(const Query& q) const {
    return fmt::format("query '{}' {}", q.name, q.wants_digest);
  }
  std::string operator()(const Fragment& f) const {
    return fmt::format("fragment '{}' {}+{}", f.name, f.range.offset, f.range.size);
  }
  std::string operator()(const UploadRange& u) const {
    return fmt::format("upload '{}' {}+{} of {} id {} dry_run {} {}{}", u.name, u.range.offset, u.range.size,
                       u.file_size, u.id, u.dry_run, digest(u.digest), u.offered ? " offered" : "");
  }
  std::string operator()(const Offer& o) const {
    return fmt::format("offer '{}' {} id {} {} source {}", o.name, o.size, o.id, words_of(o.wishes),
                       o.wishes.source);
  }
  std::string operator()(const Whole& w) const {
    return fmt::format("whole '{}' {} {} {}", w.name, w.size, digest(w.digest), words_of(w.wishes));
  }
  std::string operator()(const Seal& s) const {
    return fmt::format("seal '{}' {} id {} {}", s.name, s.size, s.id, digest(s.digest));
  }
  std::string operator()(const Folder& f) const {
    return fmt::format("folder '{}' mode {:o} parents {} synced {}", f.name, f.mode, f.makes_parents,
                       f.synced);
  }
  std::string operator()(const Offered& o) const {
    return o.skipped ? "offered: skipped" : fmt::format("offered {} discarded {}", o.there, o.discarded);
  }
  std::string operator()(const Facts& f) const {
    return fmt::format("facts {} {} {}{}", f.size, f.modified_ns, digest(f.digest),
                       f.mode ? fmt::format(" mode {:o}", *f.mode) : "");
  }
  std::string operator()(const Stored& s) const {
    return fmt::format("stored {}+{} {} {}{}", s.range.offset, s.range.size, s.complete, digest(s.digest),
                       s.was_there ? " was there" : "");
  }
  std::string operator()(const List& l) const { return fmt::format("list '{}'", l.name); }
  std::string operator()(const Entries& part) const {
    std::string text = "entries";
    for (const FolderEntry& e : part.entries)
      text += fmt::format(" '{}' {} {} {} mode {:o}", e.name, e.is_folder, e.size, e.modified_ns, e.mode);
    return text;
  }
  std::string operator()(const Listed& l) const {
    return fmt::format("listed {} left out {}", l.entries, l.left_out);
  }
  std::string operator()(const Working& w) const { return fmt::format("working {}", w.done); }
  std::string operator()(const Data& d) const { return fmt::format("data {}", d.size); }
  std::string operator()(const End& e) const { return fmt::format("end {} {}", e.size, digest(e.digest)); }
  std::string operator()(const Error& e) const {
    return fmt::format("error {} '{}'", error_name(e.refusal.error), e.refusal.text);
  }
};

// What one decoder makes of pieces.
class Listener {
 public:
  explicit Listener(Decoded& heard) : heard_(heard) {}

  void hear(Bytes piece) {
    while (!piece.empty() && !heard_.violation) {
      if (data_left_ > 0) {
        const std::size_t part = std::min(data_left_, piece.size());
        heard_.data += as_text(piece.first(part));
        data_left_ -= part;
        piece = piece.subspan(part);
        continue;
      }
      const auto step = decoder_.next(piece);
      if (!step) {
        heard_.violation = step.error().refusal.error;
        return;
      }
      piece = piece.subspan(step->taken);
      if (!step->message) continue;
      heard_.messages.push_back(*step->message);
      if (const auto* data = std::get_if<Data>(&step->message->body)) data_left_ = data->size;
    }
  }

 private:
  Decoded& heard_;
  Decoder decoder_;
  std::size_t data_left_ = 0;
};

}  // namespace

std::string wire(const Message& message) {
  return std::string(as_text(encode(message)));
}

std::string with_checks(std::string bytes) {
  auto* const all = reinterpret_cast<std::byte*>(bytes.data());
  for (std::size_t at = 0; bytes.size() - at >= kHeadBytes;) {
    write_big_endian(head_check(Bytes(all + at, kHeadBytes)), all + at + kHeadBytes - 4);
    const std::uint64_t size = read_big_endian<std::uint32_t>(all + at + 8);
    const bool is_data = static_cast<std::uint8_t>(bytes[at + 1]) == Data::kKind;
    const std::uint64_t whole = kHeadBytes + size + (is_data ? 0 : kCheckBytes);
    if (whole > bytes.size() - at) break;
    if (!is_data)
      write_big_endian(checksum(Bytes(all + at, kHeadBytes + size)), all + at + kHeadBytes + size);
    at += whole;
  }
  return bytes;
}

std::string describe(const Message& message) {
  return fmt::format("{}: {}", message.request, std::visit(Words{}, message.body));
}

std::string Decoded::text() const {
  std::string text;
  for (const Message& message : messages) text += describe(message) + "\n";
  return text + data + (violation ? std::string(error_name(*violation)) : "");
}

Decoded decode_all(std::string_view bytes, const std::vector<std::size_t>& cuts) {
  Decoded heard;
  Listener listener(heard);
  for (const std::size_t cut : cuts) {
    listener.hear(as_bytes(bytes.substr(0, cut)));
    bytes.remove_prefix(std::min(cut, bytes.size()));
  }
  listener.hear(as_bytes(bytes));
  return heard;
}

}  // namespace joust::file::test
