// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "files/protocol/server_fixture.hpp"

namespace joust::file::test {

// What a client says to send whole files, and files that it has offered.
class FileUploading : public FileServerTest {
 protected:
  static std::string whole(const std::string& name, const std::string& text, const FileWishes& wishes = {},
                           std::uint32_t request = 1) {
    return wire({request, Whole{text.size(), joust::test::digest_of(text), wishes, name}}) +
           (text.empty() ? "" : data(text, request)) + end(text.size(), request);
  }
  static std::string range(const std::string& name, const std::string& text, ByteRange range,
                           std::uint32_t request) {
    return wire({request, UploadRange{text.size(), range, 9, std::nullopt, false, name, true}}) +
           data(text.substr(range.offset, range.size), request) + end(range.size, request);
  }
  static std::string offer(const std::string& name, const std::string& text, const FileWishes& wishes = {}) {
    return wire({1, Offer{text.size(), 9, wishes, name}});
  }
  static std::string seal(const std::string& name, const std::string& text, const std::string& digested) {
    return wire({8, Seal{text.size(), 9, joust::test::digest_of(digested), name}});
  }
};

}  // namespace joust::file::test
