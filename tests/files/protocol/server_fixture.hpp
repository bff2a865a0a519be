// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "connection/stream_connection.hpp"
#include "files/protocol/messages.hpp"
#include "files/protocol/server_session.hpp"
#include "files/store/storage_fixture.hpp"
#include "session/pair.hpp"

namespace joust::file::test {

// Writes what it was given, reads all that comes.
class RawClient : public Session {
 public:
  RawClient(std::string says, std::string& heard) : says_(std::move(says)), heard_(heard) {}

  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    heard_ += as_text(chunk);
    return chunk.size();
  }
  void on_drain(Time /*now*/) override {}
  std::size_t output(std::span<Segment> into) const override {
    if (said_ == says_.size()) return 0;
    into[0].bytes = as_bytes(says_).subspan(said_);
    return 1;
  }
  bool finished() const override { return said_ == says_.size(); }
  void consumed(std::size_t n) override { said_ += n; }
  void released(std::size_t /*n*/) override {}

 private:
  const std::string says_;
  std::string& heard_;
  std::size_t said_ = 0;
};

// A server session over a real directory, and a peer that says just what a test wants.
class FileServerTest : public joust::test::StorageTest {
 protected:
  // What the server answers to these bytes, after which the peer is silent and ends.
  Decoded ask(std::string says, Pair::Cut cut = Pair::whole) {
    std::string heard;
    Pair pair(std::make_unique<RawClient>(std::move(says), heard), std::make_unique<ServerSession>(server()),
              std::move(cut));
    pair.settle();
    for (int ms = 0; ms < 10'000 && !pair.over(); ++ms) {  // a thread may be waiting for the disk
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      pair.pass(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(pair.over()) << "the server does not come to its end";
    return decode_all(heard);
  }
  // The text of the only error, or what came instead.
  std::string error_of(const std::string& says) {
    const Decoded heard = ask(says);
    if (heard.messages.size() == 1)
      if (const auto* error = std::get_if<Error>(&heard.messages[0].body))
        return std::string(error_name(error->refusal.error));
    return heard.text();
  }
  ServerState& server() {
    if (!server_) server_ = std::make_unique<ServerState>(storage(), digests_);
    return *server_;
  }

  static std::string upload(const std::string& name, const std::string& text, std::uint32_t request = 1) {
    return upload_head(name, text.size(), {0, text.size()}, request, joust::test::digest_of(text)) +
           data(text, request) + end(text.size(), request);
  }
  static std::string upload_head(const std::string& name, std::uint64_t size, ByteRange range,
                                 std::uint32_t request = 1, std::optional<Digest> digest = {},
                                 std::uint64_t id = 1) {
    return wire({request, UploadRange{size, range, id, digest, false, name}});
  }
  static std::string data(const std::string& text, std::uint32_t request = 1) {
    return wire({request, Data{static_cast<std::uint32_t>(text.size())}}) + text;
  }
  static std::string end(std::uint64_t size, std::uint32_t request = 1) {
    return wire({request, End{size, std::nullopt}});
  }

  std::atomic<unsigned> digests_{0};
  std::unique_ptr<ServerState> server_;
};

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
