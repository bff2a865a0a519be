// SPDX-License-Identifier: MIT
//
// http: requests for what is there and what is not, and what no client may send.
#include <fmt/format.h>

#include "hostile/messages.hpp"

namespace joust::hostile {
namespace {

class HttpMessages : public Messages {
 public:
  explicit HttpMessages(Chance& chance) : chance_(chance) {}
  std::string valid() override {
    const char* const method = chance_.pick({"GET", "GET", "GET", "HEAD", "OPTIONS", "BREW"});
    const char* const target = chance_.pick({"/", "/sample", "/none", "/a%20b", "http://b/sample?x"});
    return request(method, target, chance_.one_in(2) ? range() : condition());
  }
  std::string small() override { return request("GET", "/", ""); }
  std::string invalid() override {
    const std::string some = chance_.bytes(chance_.size(300));
    switch (chance_.below(7)) {
      case 0:  // beyond the limits
        return request("GET", "/" + std::string(chance_.size(20'000), 'x'), "");
      case 1:
        return request("GET", "/", "X: " + std::string(chance_.size(20'000), 'x') + "\r\n");
      case 2:  // bodies
        return request("GET", "/",
                       chance_.pick({"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"})) +
               some;
      case 3:  // two requests for some, and one for others
        return request("GET", "/", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n") + some;
      case 4:
        return request("GET", "/%zz", "") + some;
      case 5:
        return request("GET", "/", "X: " + some + "\r\n");
      default:
        return some;
    }
  }

 private:
  static std::string request(std::string_view method, std::string_view target, std::string_view fields) {
    return fmt::format("{} {} HTTP/1.1\r\nHost: a\r\n{}\r\n", method, target, fields);
  }
  std::string range() {
    return fmt::format("Range: bytes={}-{}\r\n", chance_.size(kSampleBytes), chance_.size(2 * kSampleBytes));
  }
  std::string condition() {
    return chance_.pick({"", "If-None-Match: *\r\n", "If-Match: \"x\"\r\n", "Connection: close\r\n",
                         "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "Expect: 100-continue\r\n"});
  }

  Chance& chance_;
};

}  // namespace

std::unique_ptr<Messages> http_messages(Chance& chance) {
  return std::make_unique<HttpMessages>(chance);
}

}  // namespace joust::hostile
