// SPDX-License-Identifier: MIT
//
// A process is killed at each call that gives a file its name. After the same file has been sent again, no
// hidden file is left.
#include <csignal>
#include <optional>

#include "failing_calls.hpp"
#include "files/store/partial_fixture.hpp"
#include "forked.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;
using test::Call;
using test::check;
using test::digest_of;
using test::Failing;
using test::Forked;
using test::store;
using test::text_of;

// What the file system lacks.
enum class Lacks : std::uint8_t { nothing, nameless_files, renames_that_keep };

struct Case {
  const char* name;
  bool is_large, replaces;
  Lacks lacks = Lacks::nothing;
};

class KillPoints : public test::PartialUploadTest, public testing::WithParamInterface<Case> {
 protected:
  UploadRequest wanted() const {
    UploadRequest request = this->request();
    request.wishes->synced = true;
    request.wishes->overwrites = GetParam().replaces;
    request.wishes->resumable = GetParam().is_large;
    if (!GetParam().is_large) request.digest = digest_of(small_);
    if (!GetParam().is_large) request.size = small_.size();
    return request;
  }
  const std::string& text() const { return GetParam().is_large ? text_ : small_; }
  TreeStorage& fresh() {
    storage_.reset();
    return storage({.existing = Existing::replace});
  }
  // As a sender does it. One that finds its file there asks whether the disk has it.
  bool is_sent() {
    const auto begun = fresh().upload(wanted());
    if (!begun) {
      if (begun.error().error != FileError::exists || text_of(path("new")) != text()) return false;
      return fresh().sync("new").has_value();
    }
    Upload& upload = **begun;
    if (GetParam().is_large) {
      upload_text(upload, resume(upload).verified, text_.size());
      return seal(upload).has_value();
    }
    if (!upload.take({0, small_.size()})) return false;
    store(upload, small_, {0, small_.size()});
    upload.finish({0, small_.size()});
    return check(upload).has_value();
  }
  // Killed at the call behind so many. False if it came to its end.
  bool is_killed(Call call, std::uint64_t passed) {
    storage_.reset();  // with its threads, which a forked process would wait for
    const int status = Forked([&] {
                         const Failing killed(call, test::kKilled, Failing::kAlways, passed);
                         return is_sent() ? 0 : 1;
                       }).end();
    EXPECT_TRUE(WIFSIGNALED(status) || status == 0);
    return WIFSIGNALED(status);
  }

  const std::string small_ = std::string(5000, 's');
};

INSTANTIATE_TEST_SUITE_P(Files, KillPoints,
                         testing::Values(Case{"small_new", false, false}, Case{"small_replaced", false, true},
                                         Case{"large_new", true, false}, Case{"large_replaced", true, true},
                                         Case{"small_new_named", false, false, Lacks::nameless_files},
                                         Case{"small_replaced_named", false, true, Lacks::nameless_files},
                                         Case{"large_new_linked", true, false, Lacks::renames_that_keep}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(KillPoints, LeaveNothingWhenTheFileHasComeAgain) {
  std::optional<Failing> lacking;
  if (GetParam().lacks == Lacks::nameless_files) lacking.emplace(Call::nameless, EOPNOTSUPP);
  if (GetParam().lacks == Lacks::renames_that_keep) lacking.emplace(Call::renameat2, EINVAL);
  unsigned kills = 0;
  for (const Call call :
       {Call::fchmod, Call::fsync, Call::linkat, Call::renameat2, Call::unlinkat, Call::pwrite}) {
    if (call == Call::renameat2 && GetParam().lacks == Lacks::renames_that_keep) continue;
    for (std::uint64_t passed = 0; passed < 100; ++passed) {
      if (GetParam().replaces) std::ofstream(path("new")) << "older";
      const bool killed = is_killed(call, passed);
      kills += killed ? 1 : 0;
      EXPECT_TRUE(is_sent());
      EXPECT_EQ(text_of(path("new")), text());
      EXPECT_EQ(hidden().size(), 0U) << "call " << static_cast<int>(call) << " behind " << passed;
      fs::remove(path("new"));
      for (const auto& [name, left] : hidden()) fs::remove(path(name));
      if (!killed) break;
    }
  }
  EXPECT_GE(kills, 4U);
}

}  // namespace
}  // namespace joust
