// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "files/store/storage.hpp"
#include "joust/bytes.hpp"
#include "joust/time.hpp"
#include "protocols/http/date.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/http/target.hpp"
#include "session/handler_session.hpp"

// The answers of the server to a request: conditions and ranges (RFC 9110, 13 and 14), and the head of a
// reply; and the state that the sessions share.
namespace joust::http {

// The data that distinguish one version of a file from another.
struct Validators {
  std::string tag{};            // as in the field ETag, with its quotes
  bool is_strong = false;       // equal tags mean equal bytes
  std::int64_t modified_s = 0;  // since 1970
  std::int64_t changed_s = 0;   // since 1970: change of the file's bytes or of any other property

  // True if the date of modification may be sent: the file cannot change any more in that second, so that no
  // client ever holds one date for two versions.
  bool has_date(std::int64_t now_s) const { return modified_s + 1 < now_s; }
};

// Returns the validators of a file. A tag is strong if every later change of the file will change it, which
// is known some seconds after the last change.
Validators validators_of(const OpenFile& file);

enum class Judgement : std::uint8_t { send, not_modified, failed };
Judgement judge(const Request& request, const Validators& file, std::int64_t now_s);

// The part of a file that is to be sent.
struct RangeChoice {
  enum class Kind : std::uint8_t { whole, part, not_satisfiable };
  Kind kind = Kind::whole;
  ByteRange range{};
};

// Chooses the part to send. One range of bytes is sent alone. For several ranges, and for other units, the
// whole file is sent, as a server may always do. If-Range must name this version by a strong validator.
RangeChoice choose_range(const Request& request, const Validators& file, std::uint64_t size,
                         std::int64_t now_s);

std::string_view reason_of(Status status);

// Returns the body of a reply that has only a status: for people, with a remedy where one is known.
std::string words_for(Status status);

// The head of a reply, while it is being written.
class ReplyText {
 public:
  ReplyText(Status status, std::string_view date);
  void field(std::string_view name, std::string_view value) { line({name, ": ", value, "\r\n"}); }
  void field(std::string_view name, std::uint64_t number) {
    const fmt::format_int digits(number);
    field(name, std::string_view(digits.data(), digits.size()));
  }
  void fields(std::string_view lines) { line({lines}); }  // each with its end
  // Returns the whole head. Nothing can be added after it.
  std::string_view end();

 private:
  // Appends parts of a line: a format string would be read again for each reply.
  void line(std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) text_.append(part);
  }

  fmt::memory_buffer text_;
};

// A reply that is always the same except for its date, so that it is not composed for each request.
class FixedReply {
 public:
  explicit FixedReply(std::string_view body);
  std::size_t size() const { return text_.size(); }
  void write(std::string_view date, std::span<std::byte> into) const;  // `into` has that size

 private:
  std::string text_;
  std::size_t date_ = 0;  // the position of the date
};

// The counts of a server. They may be shared by processes: see SharedMemory.
struct HttpCounts {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> refused{0};     // answered by a status from 400 on
  std::atomic<std::uint64_t> cut_off{0};     // files that shrank while they were sent
  std::atomic<std::uint64_t> too_slow{0};    // connections ended for a rate below the least
  std::atomic<std::uint64_t> bytes_sent{0};  // bytes of files
};

// Reads a range of a file into memory; null if the file has become shorter, or cannot be read.
std::unique_ptr<std::byte[]> read_range(const File& file, ByteRange range);

// A range up to this size is sent together with the head, in one write. Copying it costs less than a second
// call.
inline constexpr std::uint64_t kSmallFile = 16 << 10;  // bytes

// One version of a file, and the parts of replies that follow from it. Immutable.
struct ServedFile {
  Bytes small_bytes() const { return {bytes.get(), is_small() ? size : 0}; }
  bool is_small() const { return size <= kSmallFile; }

  std::uint64_t size = 0;  // bytes
  Validators validators{};
  std::string modified{};                // the value of Last-Modified
  std::string facts{};                   // further fields of a reply with bytes of it, each with its end
  std::unique_ptr<std::byte[]> bytes{};  // of a small file: all of them, read at one time
  std::shared_ptr<File> file{};          // of a larger one
};

// Opens the files of a server. A small file is read whole, and kept for replies of the next moment: for this
// time it is neither opened nor looked for again. Then it is read anew by its name, with all checks of a
// name. So a reply has the bytes of one version, which the name had at most kKept ago. Holds no descriptor of
// a small file. At most kMostFiles files with kMostBytes are kept; the others are read for each reply. Any
// thread.
class KeptFiles {
 public:
  // Half of the second that the documentation allows: the time of a session is that of the beginning of its
  // loop's turn.
  static constexpr Duration kKept = std::chrono::milliseconds(500);
  static constexpr std::size_t kMostFiles = 256;
  static constexpr std::size_t kMostBytes = 1 << 20;  // of all files together, each with kBesides
  static constexpr std::size_t kBesides = 512;  // bytes of an empty file: its name, its tag and the rest

  FileAnswer<std::shared_ptr<const ServedFile>> open(Storage& storage, const std::string& name, Time now);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::mutex mutex_;
  // All files of a period are forgotten together, at its end.
  std::unordered_map<std::string, std::shared_ptr<const ServedFile>, Hash, std::equal_to<>> files_;
  std::size_t bytes_ = 0;
  Time until_{};              // the end of the period
  std::uint64_t period_ = 0;  // its number
};

// The state that the sessions of a server share.
struct HttpSite {
  Storage* storage = nullptr;  // null: the server has only `text`
  mutable KeptFiles files{};   // of the storage
  bool lists = false;          // lists directories without an index.html
  bool dot_files = false;      // serves names that begin with a dot: they are often secrets (.git, .env)
  std::string text{};
  FixedReply text_reply{text};
  DateClock clock;
  std::uint64_t requests_per_connection = 0;  // 0: no limit
  RateRules rates{};
  AllowedHosts hosts{};
  HttpCounts& counts;
};

}  // namespace joust::http
