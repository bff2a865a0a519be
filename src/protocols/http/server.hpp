// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "files/store/storage.hpp"
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

// The state that the sessions of a server share.
struct HttpSite {
  Storage* storage = nullptr;  // null: the server has only `text`
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
