// SPDX-License-Identifier: MIT
#include "protocols/http/reply_text.hpp"

#include <cassert>
#include <cstring>

#include "protocols/http/date.hpp"
#include "protocols/http/media_type.hpp"

namespace joust::http {

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
  fmt::format_to(std::back_inserter(text_), "HTTP/1.1 {} {}\r\n", static_cast<unsigned>(status),
                 reason_of(status));
  field("Server", "joust");
  field("Date", date);
}

std::string_view ReplyText::end() {
  text_.append(std::string_view("\r\n"));
  return {text_.data(), text_.size()};
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

}  // namespace joust::http
