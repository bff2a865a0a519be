// SPDX-License-Identifier: MIT
//
// Files on every engine, downloaded and uploaded whole and in ranges.
#include "conformance/files.hpp"

namespace joust::conformance {
namespace {

class FileOn : public FileTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(FileOn, Role::serve);

class UploadOn : public FileTest {};
JOUST_ENGINES(UploadOn, uploading_variants, Role::serve, defaults);

class FileFrom : public FileTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(FileFrom, Role::dial);

// Each way of reading is tried with one of writing.
std::string read_beside(const std::string& write, const Variant& variant) {
  const bool maps = write == "mmap" && variant.engine->no_file_mapping.empty();
  return write == "splice" ? "sendfile" : maps ? "mmap" : "read";
}

TEST_P(FileOn, SendsFilesInRanges) {
  const auto service = serve();
  Server server(GetParam(), *service);
  for (const char* way : {"write", "splice", "mmap", "writev"}) {
    const Options got{
        {"name", "large"}, {"output", folder_.file("got")}, {"segments", "4"}, {"file-write", way}};
    carry(plain_epoll(), server, 3, 4, got);
    EXPECT_TRUE(text_of(folder_.file("got")) == pattern(5'000'000)) << way;
  }
}

TEST_P(FileOn, TakesEveryWayToRead) {
  for (const std::string read : {"read", "mmap", "sendfile"}) {
    if (read == "mmap" && !GetParam().engine->no_file_mapping.empty()) continue;
    const auto service = serve({{"file-read", read}});
    Server server(GetParam(), *service);
    carry(plain_epoll(), server, 2, 4, {{"name", "large"}, {"sink", "memory"}}, 2);
  }
}

TEST_P(UploadOn, StoresFilesInRanges) {
  const auto service = serve();
  Server server(GetParam(), *service);
  carry(plain_epoll(), server, 2, 8,
        {{"op", "put"}, {"file", path("large")}, {"name", "sub/put"}, {"segments", "8"}});
  EXPECT_TRUE(text_of(path("sub/put")) == pattern(5'000'000));
}

TEST_P(UploadOn, TakesEveryWayToWrite) {
  for (const std::string& write : ways_to_write(GetParam())) {
    const auto service = serve({{"overwrite", "yes"}, {"file-write", write}});
    Server server(GetParam(), *service);
    carry(plain_epoll(), server, 2, 4, {{"op", "put"}, {"bytes", "1000000"}, {"segments", "2"}}, 2);
    server.stop();
    EXPECT_EQ(test::figure(*service, "bytes_stored"), 2'000'000U);
  }
}

TEST_P(FileFrom, FetchesAndSendsFiles) {
  const auto service = serve({{"overwrite", "yes"}});
  Server server(plain_epoll(), *service);
  for (const std::string& write : ways_to_write(GetParam())) {
    const std::string read = read_beside(write, GetParam());
    carry(GetParam(), server, 3, 4,
          {{"name", "large"}, {"output", folder_.file("got")}, {"segments", "4"}, {"file-write", write}});
    EXPECT_TRUE(text_of(folder_.file("got")) == pattern(5'000'000));
    carry(GetParam(), server, 3, 10,
          {{"op", "put"}, {"file", path("large")}, {"name", "put"}, {"segments", "5"}, {"file-read", read}},
          2);
    EXPECT_TRUE(text_of(path("put")) == pattern(5'000'000));
  }
  carry(GetParam(), server, 5, 50, {{"op", "info"}, {"name", "small"}}, 10);
}

}  // namespace
}  // namespace joust::conformance
