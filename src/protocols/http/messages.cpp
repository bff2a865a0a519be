// SPDX-License-Identifier: MIT
#include "protocols/http/messages.hpp"

#include <fmt/format.h>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <algorithm>

#include "protocols/http/heads.hpp"
#include "protocols/http/target.hpp"

namespace joust::http {
namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;
using Text = boost::beast::string_view;

std::string_view view(Text text) {
  return {text.data(), text.size()};
}

// The parser of one head. Other features of the library, such as bodies, are not used.
template <bool isRequest>
class HeadParser : public beast::basic_parser<isRequest> {
 public:
  HeadParser() {
    this->header_limit(kLargestHead);
    this->body_limit(boost::none);
  }

  error_code parse(Bytes head) {
    error_code error;
    this->put({head.data(), head.size()}, error);
    return error;
  }

 protected:
  void count_field(error_code& error) {
    if (++fields_ > kMostFields) error = beast::error::header_limit;
  }

  void on_request_impl(beast::verb, Text, Text, int, error_code&) override {}
  void on_response_impl(int, Text, int, error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(Text, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}

 private:
  std::size_t fields_ = 0;
};

class RequestParser : public HeadParser<true> {
 public:
  // Returns the request of a head that has been parsed without an error.
  std::expected<Request, Status> result() {
    const bool has_length = content_length().has_value();
    if (request_.is_1_0 ? hosts_ > 1 : hosts_ != 1) return std::unexpected(Status::bad_request);
    if (is_bad_ || (is_coded_ && (has_length || request_.is_1_0)))
      return std::unexpected(Status::bad_request);
    if (is_coded_ && !chunked()) return std::unexpected(Status::not_implemented);
    if (request_.target.size() > kLongestTarget) return std::unexpected(Status::target_too_long);
    request_.has_body = is_coded_ || content_length().value_or(0) > 0;
    request_.keeps_alive = keep_alive();
    ignore_without_tags();
    return request_;
  }

 private:
  // Ignores conditions whose tag is empty or occurs twice, because nothing is known of them. Everything that
  // such a tag governs is ignored too: a part of the file, and the date, which says less than the tag.
  void ignore_without_tags() {
    if (is_unknown(kIfRange, request_.if_range)) request_.range = {};
    if (is_unknown(kIfMatch, request_.if_match)) request_.if_unmodified_since = {};
    if (is_unknown(kIfNoneMatch, request_.if_none_match)) request_.if_modified_since = {};
  }
  bool is_unknown(unsigned bit, std::string_view field) const { return (seen_ & bit) != 0 && field.empty(); }

  void on_request_impl(beast::verb method, Text, Text target, int version, error_code&) override {
    request_.method = method == beast::verb::get       ? Method::get
                      : method == beast::verb::head    ? Method::head
                      : method == beast::verb::options ? Method::options
                                                       : Method::other;
    request_.target = view(target);
    request_.is_1_0 = version == 10;
  }

  void on_field_impl(beast::field name, Text, Text value, error_code& error) override {
    count_field(error);
    switch (name) {
      case beast::field::host:
        ++hosts_;
        request_.host = view(value);
        is_bad_ = is_bad_ || !(value.empty() || is_authority(view(value)));
        break;
      case beast::field::transfer_encoding:
        is_coded_ = true;
        break;
      case beast::field::expect:
        if (!request_.is_1_0 && !boost::beast::iequals(value, "100-continue")) request_.expects_other = true;
        break;
      case beast::field::range:
        return once(1 << 0, request_.range, value);
      case beast::field::if_range:
        return once(kIfRange, request_.if_range, value);
      case beast::field::if_match:
        return once(kIfMatch, request_.if_match, value);
      case beast::field::if_none_match:
        return once(kIfNoneMatch, request_.if_none_match, value);
      case beast::field::if_modified_since:
        return once(1 << 4, request_.if_modified_since, value);
      case beast::field::if_unmodified_since:
        return once(1 << 5, request_.if_unmodified_since, value);
      default:
        break;
    }
  }

  static constexpr unsigned kIfRange = 1 << 1, kIfMatch = 1 << 2, kIfNoneMatch = 1 << 3;

  void once(unsigned bit, std::string_view& field, Text value) {
    repeated_ |= seen_ & bit;
    seen_ |= bit;
    field = (repeated_ & bit) != 0 ? std::string_view() : view(value);
  }

  Request request_;
  unsigned hosts_ = 0;
  unsigned seen_ = 0;      // fields of conditions that occur, a bit for each
  unsigned repeated_ = 0;  // fields that occur more than once
  bool is_coded_ = false;  // has any Transfer-Encoding
  bool is_bad_ = false;
};

class ReplyParser : public HeadParser<false> {
 public:
  explicit ReplyParser(ReplyTo request) : request_(request) { skip(request == ReplyTo::head); }

  std::expected<ReplyHead, std::string> result() const {
    using Body = ReplyHead::Body;
    ReplyHead head{.status = static_cast<unsigned>(status_), .is_last = closes_ || !keep_alive()};
    if (status_ < 100) return std::unexpected(fmt::format("a reply has the status {:03}", status_));
    if (head.is_interim() || status_ == 204 || status_ == 304 || request_ == ReplyTo::head) return head;
    if (!coding_.empty() && !boost::beast::iequals(coding_, "chunked"))
      return std::unexpected(
          fmt::format("a reply has the Transfer-Encoding '{}': only 'chunked' is read", snippet(coding_)));
    if (!coding_.empty() && is_1_0_)
      return std::unexpected("a reply of HTTP/1.0 has a Transfer-Encoding, which only 1.1 has");
    head.body = !coding_.empty() ? Body::chunked : content_length() ? Body::sized : Body::until_end;
    head.content_length = content_length().value_or(0);
    return head;
  }

 private:
  void on_response_impl(int status, Text, int version, error_code&) override {
    status_ = status;
    is_1_0_ = version == 10;
  }
  void on_field_impl(beast::field name, Text, Text value, error_code& error) override {
    count_field(error);
    // Copied: the value of a folded line is in a buffer of the parser.
    if (name == beast::field::transfer_encoding)
      coding_ += (coding_.empty() ? "" : ", ") + std::string(value);
    if (name != beast::field::connection) return;
    // "close" counts beside "keep-alive" too, where the library's keep_alive() differs for HTTP/1.0.
    for (const Text token : beast::opt_token_list(value))
      closes_ = closes_ || boost::beast::iequals(token, "close");
  }

  const ReplyTo request_;
  int status_ = 0;
  std::string coding_{};
  bool is_1_0_ = false;
  bool closes_ = false;
};

// True for "HTTP/2.0" and the like: another version, and no syntax error.
bool names_version(Bytes head) {
  std::string_view line = as_text(head);
  line = line.substr(0, line.find('\r'));
  line.remove_prefix(std::min(line.size(), line.rfind(' ') + 1));
  return line.size() == 8 && line.starts_with("HTTP/") && line[6] == '.';
}

Status status_of(const error_code& error, Bytes head) {
  if (error == beast::error::header_limit) return Status::fields_too_large;
  const bool is_other_version = error == beast::error::bad_version && names_version(head);
  return is_other_version ? Status::version_not_supported : Status::bad_request;
}

}  // namespace

std::expected<Request, Status> parse_request(Bytes head) {
  RequestParser parser;
  if (const error_code error = parser.parse(head)) return std::unexpected(status_of(error, head));
  return parser.result();
}

std::expected<ReplyHead, std::string> parse_reply(Bytes head, ReplyTo request) {
  ReplyParser parser(request);
  if (const error_code error = parser.parse(head)) {
    const std::string_view text = as_text(head);
    return std::unexpected(fmt::format("the head of a reply cannot be read ({}): it begins with '{}'",
                                       error.message(), snippet(text.substr(0, text.find('\r')))));
  }
  return parser.result();
}

}  // namespace joust::http
