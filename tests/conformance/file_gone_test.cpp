// SPDX-License-Identifier: MIT
//
// Files whose sender is gone before the disk has them, on every engine.
#include <chrono>
#include <thread>

#include "base/bytes.hpp"
#include "conformance/files.hpp"
#include "failing_calls.hpp"

namespace joust::conformance {
namespace {

class FileGoneOn : public FileTest {
 protected:
  static constexpr FileWishes kWholeAtOnce{.modified_ns = 1'000'000'000, .mode = 0644, .synced = true};
  static constexpr FileWishes kInRanges{
      .modified_ns = 1'000'000'000, .mode = 0644, .resumable = true, .synced = true};

  static Digest digest_of(const std::string& text) {
    Digester digester;
    digester.add(as_bytes(text));
    return digester.value();
  }
  static std::string data(const std::string& text) {
    return wire({1, file::Data{static_cast<std::uint32_t>(text.size())}}) + text +
           wire({1, file::End{text.size()}});
  }
  bool appears(const std::string& name) const {
    const auto until = Clock::now() + kPatience;
    while (!fs::exists(path(name)) && Clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return fs::exists(path(name));
  }
};
JOUST_ENGINES(FileGoneOn, uploading_variants, Role::serve, defaults);

// All of it has come: the sender, who has heard nothing of that, finds it done.
TEST_P(FileGoneOn, GetItsNameWhenTheDiskHasIt) {
  const test::SlowDisk slow(std::chrono::seconds(2));  // of which the server speaks after one
  const auto service = serve();
  const std::string text = pattern(file::kLargestData);  // a thread is left to wait for so much
  Server server(GetParam(), *service);
  Asker whole(server), offering(server);
  offering.say(wire({1, file::Offer{text.size(), 1, kInRanges, "offered"}}));
  EXPECT_EQ(offering.hear_a<file::Offered>().there, 0U);
  offering.say(wire({1, file::UploadRange{.file_size = text.size(),
                                          .range = {0, text.size()},
                                          .id = 1,
                                          .name = "offered",
                                          .offered = true}}) +
               data(text));
  offering.hear_a<file::Stored>();
  offering.say(wire({2, file::Seal{text.size(), 1, digest_of(text), "offered"}}));
  whole.say(wire({1, file::Whole{text.size(), digest_of(text), kWholeAtOnce, "whole"}}) + data(text));
  for (Asker* const asker : {&offering, &whole}) {
    asker->hear_a<file::Working>();
    asker->peer().reset();
  }
  for (const char* const name : {"offered", "whole"}) {
    ASSERT_TRUE(appears(name)) << name;
    EXPECT_TRUE(text_of(path(name)) == text) << name;
  }
}

}  // namespace
}  // namespace joust::conformance
