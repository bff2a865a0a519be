// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "files/protocol/server_fixture.hpp"
#include "files/transfer/get.hpp"
#include "files/transfer/send.hpp"

namespace joust::transfer::test {

namespace fs = std::filesystem;
using file::test::FileServerTest;

// One connection between a transfer and the server, on which nothing travels any more after `most` bytes.
class Joined {
 public:
  Joined(Transfer& transfer, file::ServerState& server, Pair::Cut cut = Pair::whole,
         std::uint64_t most = UINT64_MAX)
      : transfer_(transfer),
        left_(most),
        pair_(transfer.open({}), std::make_unique<file::ServerSession>(server),
              [this, cut = std::move(cut)](std::size_t n) { return pass(cut(n)); }) {}

  // Until the transfer is over. The digest of a large file is made by a thread, which announces it: the
  // sessions' time is not to run ahead of that thread's.
  void run() {
    for (int i = 0; i < 20'000 && !transfer_.over(); ++i) {
      pair_.settle();
      pair_.left().on_published(pair_.now());
      if (i <= 100) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      pair_.pass(std::chrono::milliseconds(1));
    }
    pair_.settle();
  }
  void break_off() {
    pair_.settle();
    pair_.left().on_drain(pair_.now());
  }
  void lose() {
    pair_.settle();
    pair_.left().on_failure({Stage::receive, ECONNRESET, ""}, pair_.now());
  }

 private:
  std::size_t pass(std::size_t size) {
    if (size >= left_) pair_.hold(true);
    left_ -= std::min<std::uint64_t>(left_, size);
    return size;
  }

  Transfer& transfer_;
  std::uint64_t left_;  // bytes
  Pair pair_;
};

class Transferring : public FileServerTest {
 protected:
  static std::string content(std::size_t size) {
    std::string text(size, '.');
    for (std::size_t i = 0; i < size; i += 41) text[i] = static_cast<char>('a' + (i + i / 8191) % 26);
    return text;
  }
  std::string source(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return folder_.file(name);
  }
  static SendPlan plan_of(const std::vector<std::string>& paths) {
    auto list = list_sources(paths, true, "");
    EXPECT_TRUE(list) << list.error();
    return {.items = std::move(list->items), .missing = std::move(list->missing)};
  }
  GetPlan fetch_of(const std::string& name) const {
    return {.items = {{.name = name, .file = "fetched"}}, .folder = folder_.path()};
  }
  std::size_t hidden(const std::string& folder) const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder))
      count += entry.path().filename().string().starts_with(".joust-") ? 1 : 0;
    return count;
  }
};

}  // namespace joust::transfer::test
