// SPDX-License-Identifier: MIT
//
// The server side of http: a directory or a text, and the state that its sessions share.
#include "protocols/http/server.hpp"

#include <fmt/compile.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/memory.hpp"
#include "files/store/disk/directory_tree.hpp"
#include "files/store/file_version.hpp"
#include "files/store/upload/tree_storage.hpp"
#include "protocols/http/date.hpp"
#include "protocols/http/files_page.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/http/protocol.hpp"
#include "protocols/http/server_session.hpp"

namespace joust::http {
namespace {

constexpr std::string_view kWeak = "W/";

enum class Comparison : std::uint8_t { weak, strong };

std::string_view opaque(std::string_view tag) {
  return tag.substr(tag.starts_with(kWeak) ? kWeak.size() : 0);
}

bool same_tag(std::string_view a, std::string_view b, Comparison comparison) {
  const bool any_weak = a.starts_with(kWeak) || b.starts_with(kWeak);
  return opaque(a) == opaque(b) && (comparison == Comparison::weak || !any_weak);
}

// Returns the entity tag at the beginning of `list`, and removes it; empty if none exists. A tag may contain
// commas.
std::string_view take_tag(std::string_view& list) {
  const std::size_t begin = std::min(list.find_first_not_of(" \t,"), list.size());
  list.remove_prefix(begin);
  const std::size_t quote = list.starts_with(kWeak) ? kWeak.size() : 0;
  const std::size_t end = list.substr(quote).starts_with('"') ? list.find('"', quote + 1) : list.npos;
  if (end == list.npos) return {};
  const std::string_view tag = list.substr(0, end + 1);
  list.remove_prefix(end + 1);
  return tag;
}

bool is_listed(std::string_view list, const std::string& tag, Comparison comparison) {
  if (trimmed(list) == "*") return true;
  for (std::string_view each; !(each = take_tag(list)).empty();)
    if (same_tag(each, tag, comparison)) return true;
  return false;
}

// True if the file is newer than the date; nothing if the text is no date.
std::optional<bool> is_newer(const Validators& file, std::string_view date, std::int64_t now_s) {
  if (date.empty()) return std::nullopt;  // the field is missing, as nearly always
  const auto date_s = parse_date(date, now_s);
  return date_s ? std::optional(file.modified_s > *date_s) : std::nullopt;
}

// Parses a number of digits only; a number that does not fit becomes the greatest. Nothing for other texts.
std::optional<std::uint64_t> number(std::string_view digits) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    value = value > (kMost - digit) / 10 ? kMost : value * 10 + digit;
  }
  return value;
}

// Returns the only range of "bytes=..."; empty if it has none or several.
std::string_view single_range(std::string_view field) {
  constexpr std::string_view kUnit = "bytes=";
  const auto same = [](char a, char b) { return a == b || (a | 0x20) == b; };
  if (field.size() < kUnit.size() || !std::ranges::equal(field.substr(0, kUnit.size()), kUnit, same))
    return {};
  field.remove_prefix(kUnit.size());
  std::string_view only;
  while (!field.empty()) {
    const std::size_t comma = std::min(field.find(','), field.size());
    const std::string_view each = trimmed(field.substr(0, comma));
    if (!each.empty() && !only.empty()) return {};
    if (!each.empty()) only = each;
    field.remove_prefix(std::min(comma + 1, field.size()));
  }
  return only;
}

RangeChoice range_of(std::string_view field, std::uint64_t size) {
  using Kind = RangeChoice::Kind;
  const std::string_view range = single_range(field);
  const std::size_t dash = range.find('-');
  if (dash == range.npos) return {};
  const std::string_view from = range.substr(0, dash), to = range.substr(dash + 1);
  const auto first = number(from), last = number(to);
  if (from.empty()) {  // the last bytes
    if (!last) return {};
    if (*last == 0) return {Kind::not_satisfiable};
    const std::uint64_t bytes = std::min(*last, size);
    return size == 0 ? RangeChoice{} : RangeChoice{Kind::part, {size - bytes, bytes}};
  }
  if (!first || (!to.empty() && (!last || *last < *first))) return {};
  if (*first >= size) return {Kind::not_satisfiable};
  const std::uint64_t end = std::min(last.value_or(size - 1), size - 1);
  return {Kind::part, {*first, end - *first + 1}};
}

// True if If-Range names this version by a strong validator. A date is one only if the file cannot have
// changed again in its second. The time of the last change shows that, even if the time of modification has
// been set.
bool is_this_version(std::string_view if_range, const Validators& file, std::int64_t now_s) {
  if (if_range.find('"') != if_range.npos)
    return file.is_strong && same_tag(trimmed(if_range), file.tag, Comparison::strong);
  const auto date = parse_date(if_range, now_s);
  return date && *date == file.modified_s && *date == file.changed_s && file.has_date(now_s);
}

}  // namespace

Validators validators_of(const OpenFile& file) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const FileVersion& version = file.version;
  // The tag includes the time of the last change because the other time can be set to any value.
  const auto hex = [](std::int64_t time_ns) { return static_cast<std::uint64_t>(time_ns); };
  return {.tag = fmt::format(FMT_COMPILE("{}\"{:x}-{:x}-{:x}\""), file.settled ? "" : kWeak, version.size,
                             hex(version.modified_ns), hex(version.changed_ns)),
          .is_strong = file.settled,
          .modified_s = version.modified_ns / kSecond,
          .changed_s = version.changed_ns / kSecond};
}

Judgement judge(const Request& request, const Validators& file, std::int64_t now_s) {
  if (!request.if_match.empty()) {
    if (!is_listed(request.if_match, file.tag, Comparison::strong)) return Judgement::failed;
  } else if (is_newer(file, request.if_unmodified_since, now_s).value_or(false)) {
    return Judgement::failed;
  }
  if (!request.if_none_match.empty())
    return is_listed(request.if_none_match, file.tag, Comparison::weak) ? Judgement::not_modified
                                                                        : Judgement::send;
  return is_newer(file, request.if_modified_since, now_s).value_or(true) ? Judgement::send
                                                                         : Judgement::not_modified;
}

RangeChoice choose_range(const Request& request, const Validators& file, std::uint64_t size,
                         std::int64_t now_s) {
  if (request.method != Method::get || request.range.empty()) return {};
  if (!request.if_range.empty() && !is_this_version(request.if_range, file, now_s)) return {};
  return range_of(request.range, size);
}

std::string_view reason_of(Status status) {
  switch (status) {
    case Status::ok:
      return "OK";
    case Status::partial_content:
      return "Partial Content";
    case Status::moved_permanently:
      return "Moved Permanently";
    case Status::not_modified:
      return "Not Modified";
    case Status::bad_request:
      return "Bad Request";
    case Status::forbidden:
      return "Forbidden";
    case Status::not_found:
      return "Not Found";
    case Status::method_not_allowed:
      return "Method Not Allowed";
    case Status::request_timeout:
      return "Request Timeout";
    case Status::precondition_failed:
      return "Precondition Failed";
    case Status::content_too_large:
      return "Content Too Large";
    case Status::target_too_long:
      return "URI Too Long";
    case Status::range_not_satisfiable:
      return "Range Not Satisfiable";
    case Status::expectation_failed:
      return "Expectation Failed";
    case Status::misdirected_request:
      return "Misdirected Request";
    case Status::fields_too_large:
      return "Request Header Fields Too Large";
    case Status::internal_error:
      return "Internal Server Error";
    case Status::not_implemented:
      return "Not Implemented";
    case Status::unavailable:
      return "Service Unavailable";
    case Status::version_not_supported:
      return "HTTP Version Not Supported";
  }
  return "Unknown";
}

std::string words_for(Status status) {
  const std::string_view help =
      status == Status::misdirected_request
          ? "This server answers loopback addresses and localhost; --allowed-hosts names others.\n"
          : "";
  return fmt::format("{} {}\n{}", static_cast<unsigned>(status), reason_of(status), help);
}

ReplyText::ReplyText(Status status, std::string_view date) {
  const fmt::format_int code(static_cast<unsigned>(status));
  line({"HTTP/1.1 ",
        {code.data(), code.size()},
        " ",
        reason_of(status),
        "\r\nServer: joust\r\nDate: ",
        date,
        "\r\n"});
}

std::string_view ReplyText::end() {
  line({"\r\n"});
  return {text_.data(), text_.size()};
}

namespace {

// How often a file is read that changes meanwhile.
constexpr int kMostReads = 3;

// Returns whether the file still has the version with which it was opened, as far as that can be known.
bool is_unchanged(const OpenFile& file) {
  const int descriptor = file.file->descriptor();
  return descriptor < 0 || version_of(descriptor) == file.version;
}

ServedFile described(const OpenFile& file, std::string_view name) {
  Validators validators = validators_of(file);
  std::string modified = date_text(validators.modified_s);
  std::string facts = fmt::format(FMT_COMPILE("ETag: {}\r\nContent-Type: {}\r\nAccept-Ranges: bytes\r\n"),
                                  validators.tag, media_type(name));
  return {.size = file.version.size,
          .validators = std::move(validators),
          .modified = std::move(modified),
          .facts = std::move(facts)};
}

struct Opened {
  std::shared_ptr<const ServedFile> file;
  bool is_one_version = false;  // its bytes are known, and none of them is of a later version
};

// A small file that changes while it is read is read again: the bytes would be those of two versions. One
// that always changes is sent as it is found; its tag is weak.
FileAnswer<Opened> open_and_read(Storage& storage, const std::string& name) {
  for (int reads = 1;; ++reads) {
    const auto found = storage.open(name);
    if (!found) return std::unexpected(found.error());
    ServedFile file = described(*found, name);
    if (!file.is_small()) {
      file.file = found->file;
      return Opened{std::make_shared<const ServedFile>(std::move(file))};
    }
    file.bytes = read_range(*found->file, {0, file.size});
    const bool is_one_version = file.bytes && is_unchanged(*found);
    if (!is_one_version && reads < kMostReads) continue;
    if (!file.bytes) return refused(FileError::shrunk);
    return Opened{std::make_shared<const ServedFile>(std::move(file)), is_one_version};
  }
}

}  // namespace

std::unique_ptr<std::byte[]> read_range(const File& file, ByteRange range) {
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(range.size);
  for (std::uint64_t done = 0; done < range.size;) {
    const auto read = file.read_at(range.offset + done, {bytes.get() + done, range.size - done});
    if (read.value_or(0) == 0) return nullptr;
    done += *read;
  }
  return bytes;
}

FileAnswer<std::shared_ptr<const ServedFile>> KeptFiles::open(Storage& storage, const std::string& name,
                                                              Time now) {
  std::uint64_t period = 0;
  {
    const std::lock_guard lock(mutex_);
    if (now >= until_) {
      files_.clear();
      bytes_ = 0;
      until_ = now + kKept;
      ++period_;
    }
    if (const auto found = files_.find(name); found != files_.end()) return found->second;
    period = period_;
  }
  auto opened = open_and_read(storage, name);
  if (!opened) return std::unexpected(opened.error());
  const std::size_t bytes = opened->file->size + kBesides;
  const std::lock_guard lock(mutex_);
  // A file that was read in an earlier period would be kept for too long.
  if (opened->is_one_version && period == period_ && files_.size() < kMostFiles &&
      bytes_ + bytes <= kMostBytes && files_.emplace(name, opened->file).second)
    bytes_ += bytes;
  return std::move(opened->file);
}

FixedReply::FixedReply(std::string_view body) {
  const std::string date(kDateSize, '?');
  ReplyText head(Status::ok, date);
  head.field("Content-Type", kPlainText);
  head.field("Content-Length", body.size());
  text_ = head.end();
  date_ = text_.find(date);
  text_ += body;
}

void FixedReply::write(std::string_view date, std::span<std::byte> into) const {
  assert(into.size() == text_.size() && date.size() == kDateSize);
  std::memcpy(into.data(), text_.data(), text_.size());
  std::memcpy(into.data() + date_, date.data(), date.size());
}

namespace {

std::unique_ptr<TreeStorage> storage_of(const std::string& root) {
  if (root.empty()) return nullptr;
  try {
    return std::make_unique<TreeStorage>(std::make_unique<DirectoryTree>(root),
                                         StorageRules{.most_uploads = 0, .read = FileRead::sendfile});
  } catch (const std::system_error& error) {
    throw std::invalid_argument(std::string("--root: ") + error.what());
  }
}

class HttpServer : public Service {
 public:
  explicit HttpServer(const Parameters& parameters)
      : storage_(storage_of(parameters.option("root"))),
        site_{.storage = storage_.get(),
              .lists = lists(parameters),
              .dot_files = serves_dot_files(parameters),
              .text = text(parameters),
              .clock = DateClock(wall_clock_ns),
              .requests_per_connection = requests_per_connection(parameters),
              .rates = rates(parameters),
              .hosts = allowed_hosts(parameters),
              .counts = *counts_} {}

  std::unique_ptr<Session> open(const ConnectionInfo& /*info*/) override {
    return std::make_unique<HttpSession>(site_);
  }
  std::vector<ResultGroup> results() const override {
    return {{"http",
             {{"requests", counts_->requests.load()},
              {"refused", counts_->refused.load()},
              {"cut_off", counts_->cut_off.load()},
              {"too_slow", counts_->too_slow.load()},
              {"file_bytes_sent", counts_->bytes_sent.load()}}}};
  }

 private:
  const std::unique_ptr<TreeStorage> storage_;  // null without --root
  SharedMemory<HttpCounts> counts_;
  const HttpSite site_;
};

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& parameters) {
  return std::make_unique<HttpServer>(parameters);
}

}  // namespace joust::http
