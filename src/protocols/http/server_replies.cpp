// SPDX-License-Identifier: MIT
//
// The answers to requests, by the rules of RFC 9110.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "files/store/name.hpp"
#include "protocols/http/listing_page.hpp"
#include "protocols/http/media_type.hpp"
#include "protocols/http/server_session.hpp"

namespace joust::http {
namespace {

constexpr std::string_view kAllowed = "GET, HEAD, OPTIONS";

// A file up to this size is sent together with the head, in one write. Copying it costs less than a second
// call.
constexpr std::uint64_t kSmallFile = 16 << 10;

Status status_of(FileError error) {
  switch (error) {
    case FileError::not_found:
    case FileError::not_a_file:
    case FileError::name_refused:
      return Status::not_found;
    case FileError::not_permitted:
      return Status::forbidden;
    case FileError::busy:
      return Status::unavailable;
    default:
      return Status::internal_error;
  }
}

// Reads a range of a file into memory; empty if the file has become shorter.
std::unique_ptr<std::byte[]> read_whole(const File& file, ByteRange range) {
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(range.size);
  for (std::uint64_t done = 0; done < range.size;) {
    const auto read = file.read_at(range.offset + done, {bytes.get() + done, range.size - done});
    if (read.value_or(0) == 0) return nullptr;
    done += *read;
  }
  return bytes;
}

}  // namespace

void HttpSession::answer(const Request& request, Time now) {
  if (!site_.hosts.contain(host_of(request))) {
    closes_ = closes_ || request.has_body;
    return send_status(Status::misdirected_request, now);
  }
  if (!site_.storage && request.method == Method::get && request.target == "/" && !closes_ && !is_1_0_ &&
      !request.has_body && !request.expects_other) {
    const std::size_t size = site_.text_reply.size();
    unreleased_ += size;
    return site_.text_reply.write(site_.clock.at(now).text, outbox_.extend(size));
  }
  if (request.method == Method::other) {
    closes_ = closes_ || request.has_body;
    return send_status(Status::method_not_allowed, now, "Allow", kAllowed);
  }
  if (request.has_body) return refuse(Status::content_too_large, now);
  if (request.expects_other) return send_status(Status::expectation_failed, now);
  const auto target = parse_target(request.target);
  if (!target || (target->path == "*" && request.method != Method::options))
    return refuse(Status::bad_request, now);
  if (request.method == Method::options) {
    ReplyText head(Status::ok, site_.clock.at(now).text);
    head.field("Allow", kAllowed);
    head.field("Content-Length", 0);
    finish_head(head);
    return send(head.end(), {});
  }
  answer_file(request, *target, now);
}

void HttpSession::answer_file(const Request& request, const RequestTarget& target, Time now) {
  if (!site_.storage) {
    if (target.path != "/") return send_status(Status::not_found, now);
    ReplyText head(Status::ok, site_.clock.at(now).text);
    head.field("Content-Type", kPlainText);
    head.field("Content-Length", site_.text.size());
    finish_head(head);
    return send(head.end(), as_bytes(site_.text));
  }
  const auto name = file_name(target.path);
  if (!name)
    return name.error() == Status::bad_request ? refuse(name.error(), now) : send_status(name.error(), now);
  const auto file = site_.storage->open(*name);
  if (!file) return send_missing(request, target, *name, file.error().error, now);
  send_file(request, *file, *name, now);
}

// Redirects to a folder's name with a slash, if the folder can be shown: relative links in it need the slash.
void HttpSession::send_missing(const Request& request, const RequestTarget& target, const std::string& name,
                               FileError error, Time now) {
  const bool may_be_folder = target.path.ends_with('/');
  if (site_.lists && may_be_folder && (error == FileError::not_found || error == FileError::not_a_file))
    return send_listing(request, split_name(name).folder, now);
  if (error == FileError::not_a_file && is_shown(name))
    return send_status(Status::moved_permanently, now, "Location",
                       fmt::format("{}/{}", target.path, target.query));
  send_status(status_of(error), now);
}

// True if the folder can be shown, by its index.html or by its listing.
bool HttpSession::is_shown(const std::string& folder) const {
  return site_.storage->open(folder + "/index.html") || (site_.lists && site_.storage->list(folder, 0));
}

// Sends a listing, which has neither a tag nor a date, and is made for each request. That takes as long as
// many other replies, so it is the last reply of its turn.
void HttpSession::send_listing(const Request& request, std::string_view folder, Time now) {
  auto listing = site_.storage->list(folder, kMostListed);
  if (!listing) return send_status(status_of(listing.error().error), now);
  if (!request.if_match.empty() && request.if_match != "*")
    return send_status(Status::precondition_failed, now);
  const std::string page = listing_page(folder, std::move(*listing));
  ReplyText head(Status::ok, site_.clock.at(now).text);
  head.field("Content-Type", kHtml);
  head.field("Content-Length", page.size());
  head.field("Cache-Control", "no-cache");
  head.field("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  finish_head(head);
  send(head.end(), as_bytes(page));
  replies_in_turn_ = kMostRepliesInTurn;
}

void HttpSession::send_file(const Request& request, const OpenFile& file, std::string_view name, Time now) {
  const DateClock::Date date = site_.clock.at(now);
  const std::uint64_t size = file.version.size;
  const Validators validators = validators_of(file);
  const Judgement judgement = judge(request, validators, date.seconds);
  if (judgement == Judgement::failed) return send_status(Status::precondition_failed, now);
  const RangeChoice choice = choose_range(request, validators, size, date.seconds);
  const bool is_new = judgement == Judgement::send;
  if (is_new && choice.kind == RangeChoice::Kind::not_satisfiable)
    return send_status(Status::range_not_satisfiable, now, "Content-Range", fmt::format("bytes */{}", size));
  const bool is_part = is_new && choice.kind == RangeChoice::Kind::part;
  const ByteRange range = is_part ? choice.range : ByteRange{0, size};
  ReplyText head(!is_new ? Status::not_modified : is_part ? Status::partial_content : Status::ok, date.text);
  if (validators.has_date(date.seconds)) head.field("Last-Modified", date_text(validators.modified_s));
  head.field("ETag", validators.tag);
  if (is_new) {
    head.field("Content-Type", media_type(name));
    head.field("Content-Length", range.size);
    head.field("Accept-Ranges", "bytes");
  }
  if (is_part)
    head.field("Content-Range", fmt::format("bytes {}-{}/{}", range.offset, range.end() - 1, size));
  finish_head(head);
  if (!is_new || is_head_ || range.size == 0) return send(head.end(), {});
  if (range.size > kSmallFile) {
    send(head.end(), {});
    body_ = {file.file, range.offset, range.size, range.size};
    return;
  }
  const auto bytes = read_whole(*file.file, range);
  if (!bytes) return send_status(Status::internal_error, now);
  send(head.end(), {bytes.get(), range.size});
  site_.counts.bytes_sent.fetch_add(range.size, std::memory_order_relaxed);
}

void HttpSession::send_status(Status status, Time now, std::string_view name, std::string_view value) {
  if (status >= Status::bad_request) site_.counts.refused.fetch_add(1, std::memory_order_relaxed);
  const std::string body = words_for(status);
  ReplyText head(status, site_.clock.at(now).text);
  if (!name.empty()) head.field(name, value);
  head.field("Content-Type", kPlainText);
  head.field("Content-Length", body.size());
  finish_head(head);
  send(head.end(), as_bytes(body));
}

void HttpSession::finish_head(ReplyText& head) {
  if (closes_)
    head.field("Connection", "close");
  else if (is_1_0_)
    head.field("Connection", "keep-alive");
}

void HttpSession::send(std::string_view head, Bytes body) {
  outbox_.append(head);
  if (is_head_) body = {};
  outbox_.append(body);
  unreleased_ += head.size() + body.size();
}

}  // namespace joust::http
