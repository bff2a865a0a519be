// SPDX-License-Identifier: MIT
#include "protocols/http/server_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "files/store/name.hpp"
#include "protocols/http/date.hpp"
#include "protocols/http/files_page.hpp"

namespace joust::http {
namespace {

// The number of bytes of unread replies from which on no further requests are read.
constexpr std::size_t kMostUnread = 256 << 10;

Status status_of(HeadCutter::Status cut) {
  if (cut == HeadCutter::Status::target_too_long) return Status::target_too_long;
  return cut == HeadCutter::Status::head_too_long ? Status::fields_too_large : Status::bad_request;
}

constexpr std::string_view kAllowed = "GET, HEAD, OPTIONS";

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

}  // namespace

HttpSession::~HttpSession() {
  site_.counts.requests.fetch_add(requests_, std::memory_order_relaxed);
}

Want HttpSession::want() const {
  return rests() || drained() ? Want::nothing : Want::bytes;
}

bool HttpSession::rests() const {
  return over_ || pauses_ || body_.file || outbox_.size() >= kMostUnread;
}

std::size_t HttpSession::on_bytes(Bytes chunk, Time now) {
  std::size_t taken = 0, behind_heads = 0;
  while (taken < chunk.size() && !rests()) {
    const HeadCutter::Step step = cutter_.next(chunk.subspan(taken));
    taken += step.taken;
    behind_heads += step.taken;
    if (step.status == HeadCutter::Status::need_more) continue;
    if (step.status == HeadCutter::Status::head) {
      incoming_rate_.reset();  // each head has its own time, and its own bytes
      behind_heads = 0;
      answer(step.head, now);
      pauses_ = replies_in_turn_ >= kMostRepliesInTurn && taken < chunk.size();
    } else {
      refuse_unread(status_of(step.status), now);
    }
  }
  behind_ = taken < chunk.size();
  incoming_rate_.moved(behind_heads);
  watch_rates(now);
  return taken;
}

void HttpSession::answer(Bytes head, Time now) {
  ++requests_;
  if (now > turn_) replies_in_turn_ = 0;
  turn_ = now;
  ++replies_in_turn_;
  const auto request = parse_request(head);
  if (!request) return refuse_unread(request.error(), now);
  const bool is_last = site_.requests_per_connection > 0 && requests_ >= site_.requests_per_connection;
  closes_ = is_last || !request->keeps_alive;
  is_1_0_ = request->is_1_0;
  is_head_ = request->method == Method::head;
  answer(*request, now);
  over_ = over_ || closes_;
}

std::size_t HttpSession::output(std::span<Segment> into) const {
  const std::size_t count = outbox_.segments(into);
  if (body_.left == 0 || count == into.size()) return count;
  into[count] = {.file = {body_.file.get(), body_.offset, body_.left}};
  return count + 1;
}

void HttpSession::consumed(std::size_t n) {
  const std::size_t head = std::min(n, outbox_.size());
  if (head > 0) outbox_.consumed(head);
  body_.offset += n - head;
  body_.left -= n - head;
  outgoing_rate_.moved(n);
  if (waiting() == 0) outgoing_rate_.reset();
}

// Nothing is appended to the outbox while a body exists, so all of its bytes come before those of the body.
void HttpSession::released(std::size_t n) {
  const std::size_t head = std::min<std::uint64_t>(n, unreleased_);
  if (head > 0) outbox_.released(head);
  unreleased_ -= head;
  if (!body_.file) return;
  body_.unreleased -= n - head;
  site_.counts.bytes_sent.fetch_add(n - head, std::memory_order_relaxed);
  if (body_.unreleased == 0) body_ = {};
}

// Ends the connection, because the head has announced more bytes than exist. Anything else would be taken for
// the file's bytes.
void HttpSession::on_source_failed(int /*error*/, Time now) {
  site_.counts.cut_off.fetch_add(1, std::memory_order_relaxed);
  body_.unreleased -= std::exchange(body_.left, 0);
  if (body_.unreleased == 0) body_ = {};
  over_ = true;
  watch_rates(now);
}

void HttpSession::on_peer_finished(Time now) {
  over_ = true;
  watch_rates(now);
}

void HttpSession::on_drain(Time now) {
  draining_ = true;
  watch_rates(now);
}

std::optional<Time> HttpSession::deadline() const {
  if (pauses_) return turn_;  // due at once, in the next turn
  return earlier(incoming_rate_.deadline(), outgoing_rate_.deadline());
}

void HttpSession::on_deadline(Time now) {
  pauses_ = false;
  replies_in_turn_ = 0;
  if (outgoing_rate_.missed(now)) {
    site_.counts.too_slow.fetch_add(1, std::memory_order_relaxed);
    gives_up_ = true;
    complaint_ = "a reply is read " + outgoing_rate_.complaint();
  } else if (incoming_rate_.missed(now)) {
    site_.counts.too_slow.fetch_add(1, std::memory_order_relaxed);
    const std::string complaint = "a request comes " + incoming_rate_.complaint();
    refuse_unread(Status::request_timeout, now);
    complaint_ = complaint;
  }
  watch_rates(now);
}

void HttpSession::watch_rates(Time now) {
  incoming_rate_.expect(cutter_.in_head() && !over_, want() == Want::bytes, now);
  outgoing_rate_.expect(waiting() > 0, true, now);
}

// Refuses a request that cannot be read: nothing is known of it, least of all that it needs no body.
void HttpSession::refuse_unread(Status status, Time now) {
  is_1_0_ = is_head_ = false;
  refuse(status, now);
}

// Refuses a request and ends the connection. Bytes after the request are not read, because the start of the
// next request is unknown.
void HttpSession::refuse(Status status, Time now) {
  closes_ = over_ = true;
  send_status(status, now);
  complaint_ = fmt::format("a request is refused: {} {}", static_cast<unsigned>(status), reason_of(status));
}

// The answers to requests, by the rules of RFC 9110.

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

namespace {

bool has_hidden_part(std::string_view name) {
  return name.starts_with('.') || name.contains("/.");
}

// True if the folder can be shown, by its index.html or by its listing.
bool is_shown(const HttpSite& site, const std::string& folder) {
  return site.storage->open(folder + "/index.html") || (site.lists && site.storage->list(folder, 0));
}

}  // namespace

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
  if (!site_.dot_files && has_hidden_part(*name)) return send_status(Status::not_found, now);
  const auto file = site_.files.open(*site_.storage, *name, now);
  if (!file) return send_missing(request, target, *name, file.error().error, now);
  send_file(request, **file, now);
}

// Redirects to a folder's name with a slash, if the folder can be shown: relative links in it need the slash.
void HttpSession::send_missing(const Request& request, const RequestTarget& target, const std::string& name,
                               FileError error, Time now) {
  const bool may_be_folder = target.path.ends_with('/');
  if (site_.lists && may_be_folder && (error == FileError::not_found || error == FileError::not_a_file))
    return send_listing(request, split_name(name).folder, now);
  if (error == FileError::not_a_file && is_shown(site_, name))
    return send_status(Status::moved_permanently, now, "Location",
                       fmt::format("{}/{}", target.path, target.query));
  send_status(status_of(error), now);
}

// Sends a listing, which has neither a tag nor a date, and is made for each request. That takes as long as
// many other replies, so it is the last reply of its turn.
void HttpSession::send_listing(const Request& request, std::string_view folder, Time now) {
  auto listing = site_.storage->list(folder, kMostListed);
  if (!listing) return send_status(status_of(listing.error().error), now);
  if (!request.if_match.empty() && request.if_match != "*")
    return send_status(Status::precondition_failed, now);
  if (!site_.dot_files)
    std::erase_if(listing->entries, [](const FolderEntry& entry) { return has_hidden_part(entry.name); });
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

void HttpSession::send_file(const Request& request, const ServedFile& file, Time now) {
  const DateClock::Date date = site_.clock.at(now);
  const std::uint64_t size = file.size;
  const Validators& validators = file.validators;
  const Judgement judgement = judge(request, validators, date.seconds);
  if (judgement == Judgement::failed) return send_status(Status::precondition_failed, now);
  const RangeChoice choice = choose_range(request, validators, size, date.seconds);
  const bool is_new = judgement == Judgement::send;
  if (is_new && choice.kind == RangeChoice::Kind::not_satisfiable)
    return send_status(Status::range_not_satisfiable, now, "Content-Range", fmt::format("bytes */{}", size));
  const bool is_part = is_new && choice.kind == RangeChoice::Kind::part;
  const ByteRange range = is_part ? choice.range : ByteRange{0, size};
  ReplyText head(!is_new ? Status::not_modified : is_part ? Status::partial_content : Status::ok, date.text);
  if (validators.has_date(date.seconds)) head.field("Last-Modified", file.modified);
  if (is_new) {
    head.fields(file.facts);
    head.field("Content-Length", range.size);
  } else {
    head.field("ETag", validators.tag);
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
  const auto read = file.is_small() ? nullptr : read_range(*file.file, range);
  if (!file.is_small() && !read) return send_status(Status::internal_error, now);
  send(head.end(),
       read ? Bytes(read.get(), range.size) : file.small_bytes().subspan(range.offset, range.size));
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
