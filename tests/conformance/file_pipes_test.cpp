// SPDX-License-Identifier: MIT
//
// The pipes of splice(), on a machine with few or small ones: uploads are correct all the same, and the
// results report the method used.
#include <algorithm>
#include <cerrno>
#include <thread>

#include "conformance/files.hpp"
#include "failing_calls.hpp"

namespace joust::conformance {
namespace {

class FilePipes : public FileTest {
 protected:
  std::unique_ptr<Service> serve_splicing() const { return serve({{"file-write", "splice"}}); }

  // Uploads a file and expects it to be stored correctly.
  void put(Server& server) {
    const std::string name = "new-" + std::to_string(++uploads_), text = pattern(3'000'000, uploads_);
    Asker asker(server);
    asker.say(upload(name, text, uploads_));
    EXPECT_TRUE(asker.hear_a<file::Stored>().complete);
    EXPECT_TRUE(text_of(path(name)) == text);
  }

  static std::string way(const Service& service) {
    for (const ResultGroup& group : service.results())
      for (const auto& [key, value] : group.figures)
        if (key == "file_write") return std::get<std::string>(value);
    return {};
  }

  bool splices() {
    const auto service = serve_splicing();
    Server server(GetParam(), *service);
    put(server);
    return way(*service) == "splice";
  }

 private:
  unsigned uploads_ = 0;
};
JOUST_ENGINES(FilePipes, uploading_variants, Role::serve, defaults);

bool has_note(Server& server, std::string_view words) {
  const std::vector<std::string> notes = server.tally().notes();
  return std::ranges::any_of(notes, [&](const std::string& note) { return note.contains(words); });
}

std::size_t open_pipes() {
  const fs::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::count_if(begin(all), end(all), [](const fs::directory_entry& entry) {
    std::error_code gone;
    return fs::read_symlink(entry, gone).string().starts_with("pipe:");
  }));
}

constexpr const char* kNoSplice = "it does not splice in this process";

TEST_P(FilePipes, ThatAreTooSmallAreNotUsed) {
  checks(Duty::files);
  if (!splices()) GTEST_SKIP() << kNoSplice;
  const auto service = serve_splicing();
  Server server(GetParam(), *service);
  const test::Failing beyond(test::Call::widen_pipe, EPERM);
  put(server);
  EXPECT_GT(beyond.failed(), 0U);
  EXPECT_EQ(way(*service), "write (splice was not possible)");
  EXPECT_TRUE(has_note(server, "pipes were too small (fs.pipe-user-pages-soft)"));
}

TEST_P(FilePipes, ThatAreSmallerThanWantedAreUsed) {
  checks(Duty::files);
  if (!splices()) GTEST_SKIP() << kNoSplice;
  const auto service = serve_splicing();
  Server server(GetParam(), *service);
  const test::Failing beyond(test::Call::widen_pipe, EPERM, 2);
  put(server);
  EXPECT_EQ(beyond.failed(), 2U);
  EXPECT_EQ(way(*service), "splice");
  EXPECT_TRUE(has_note(server, "some pipes are smaller than 1 MiB"));
}

TEST_P(FilePipes, ThatCannotBeMadeAreTriedAgain) {
  checks(Duty::files);
  if (!splices()) GTEST_SKIP() << kNoSplice;
  const auto service = serve_splicing();
  Server server(GetParam(), *service);
  Peer first(server.endpoint());  // what libkqueue needs a pipe for is made by then
  first.finish();
  EXPECT_EQ(first.receive_to_end(), "");
  {
    const test::Failing none(test::Call::pipe2, EMFILE);
    put(server);
    EXPECT_GT(none.failed(), 0U);
  }
  EXPECT_EQ(way(*service), "write (splice was not possible)");
  EXPECT_TRUE(has_note(server, "there was no pipe to be had"));
  const Time give_up = Clock::now() + kPatience;
  while (way(*service) != "splice" && Clock::now() < give_up) put(server);
  EXPECT_EQ(way(*service), "splice");
}

TEST_P(FilePipes, AreNotHeldByUploadsThatStandStill) {
  checks(Duty::files);
  if (!splices()) GTEST_SKIP() << kNoSplice;
  const auto service = serve_splicing();
  Server server(GetParam(), *service, {.address = unix_address()});
  const std::size_t before = open_pipes();
  std::vector<Asker> uploading;
  const std::string text = pattern(100'000);
  for (unsigned i = 0; i < 20; ++i) {
    const std::string name = "still-" + std::to_string(i);
    uploading.emplace_back(server).peer().send_and_see_read(upload(name, text, 100 + i).substr(0, 90'000));
  }
  // The pool keeps a few for reuse.
  EXPECT_LE(open_pipes(), before + 2 * 8);
  for (unsigned i = 0; i < 20; ++i) {
    uploading[i].say(upload("still-" + std::to_string(i), text, 100 + i).substr(90'000));
    EXPECT_TRUE(uploading[i].hear_a<file::Stored>().complete);
    EXPECT_TRUE(text_of(path("still-" + std::to_string(i))) == text);
  }
  EXPECT_EQ(way(*service), "splice");
}

}  // namespace
}  // namespace joust::conformance
