// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "files/store/storage.hpp"
#include "protocols/http/messages.hpp"

// Conditions and ranges of a request for a file (RFC 9110, 13 and 14).
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

}  // namespace joust::http
