// SPDX-License-Identifier: MIT
//
// Uploads of servers whose sessions live in different processes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <optional>

#include "base/fd.hpp"
#include "files/store/forked.hpp"
#include "files/store/storage_fixture.hpp"
#include "files/store/upload_claims.hpp"

namespace joust {
namespace {

using test::Forked;

class ClaimedUpload : public test::StorageTest {
 protected:
  ClaimedUpload() { storage(); }
  FileAnswer<std::shared_ptr<Upload>> begin(std::uint64_t id, std::string_view name = "new") {
    return storage().upload({.name = name, .size = 10, .id = id});
  }
  // In a process of its own: the error of such an upload, or none.
  FileError error_elsewhere(std::uint64_t id, std::string_view name = "new") {
    const Forked other([&] {
      const auto upload = begin(id, name);
      return upload ? 0 : static_cast<int>(upload.error().error);
    });
    return static_cast<FileError>(other.exit_code());
  }
};

// A process that has begun the upload 1, twice, until this object is gone.
class Holder {
 public:
  explicit Holder(const std::function<FileAnswer<std::shared_ptr<Upload>>()>& begin) {
    std::array<int, 2> begun{}, end{};
    EXPECT_TRUE(::pipe(begun.data()) == 0 && ::pipe(end.data()) == 0);
    process_.emplace([&] {
      ::close(end[1]);
      const auto mine = begin(), again = begin();
      const char same = mine && again && *mine == *again ? 'y' : 'n';
      char none = 0;
      return ::write(begun[1], &same, 1) == 1 && ::read(end[0], &none, 1) == 0 ? 0 : 1;
    });
    ::close(begun[1]), ::close(end[0]);
    char same = 0;
    EXPECT_EQ(::read(begun[0], &same, 1), 1);
    EXPECT_EQ(same, 'y') << "a connection begins each range with the same words";
    ::close(begun[0]);
    until_ = Fd(end[1]);
  }
  ~Holder() {
    until_ = Fd();
    EXPECT_EQ(process_->exit_code(), 0);
  }

 private:
  std::optional<Forked> process_;
  Fd until_;
};

TEST_F(ClaimedUpload, IsRefusedToASecondProcess) {
  {
    const Holder holder([&] { return begin(1); });
    EXPECT_EQ(error_elsewhere(1), FileError::other_connection);
    EXPECT_EQ(error_elsewhere(2), FileError::none);
    EXPECT_EQ(error_elsewhere(1, "other"), FileError::none);
  }
  EXPECT_EQ(error_elsewhere(1), FileError::none) << "the upload is over";
}

TEST_F(ClaimedUpload, IsRefusedWithTheReason) {
  const Holder holder([&] { return begin(1); });
  const Forked second([&] {
    const auto refused = begin(1);
    return !refused && refused.error().text == "unsupported: sessions live in different processes" ? 0 : 1;
  });
  EXPECT_EQ(second.exit_code(), 0);
}

// Such processes end without a word to anybody. A new upload has a new id.
TEST_F(ClaimedUpload, ConcernsNoOtherAfterACrash) {
  const Forked crashing([&] {
    const auto mine = begin(1);
    ::_exit(mine ? 0 : 1);
    return 1;
  });
  EXPECT_EQ(crashing.exit_code(), 0);
  EXPECT_EQ(error_elsewhere(1), FileError::other_connection);
  EXPECT_EQ(error_elsewhere(2), FileError::none);
}

TEST_F(ClaimedUpload, BeginsAlsoWhereNoPlaceIsLeft) {
  UploadClaims claims;
  const Forked greedy([&] {
    for (std::uint64_t id = 1; id <= UploadClaims::kPlaces; ++id)
      if (claims.take(UploadClaims::of({.name = "new", .id = id})) == nullptr) return 1;
    return UploadClaim::begin(claims, {.name = "new", .id = 0}) ? 0 : 2;
  });
  EXPECT_EQ(greedy.exit_code(), 0);
}

// One process shares its uploads between connections.
TEST_F(ClaimedUpload, IsNoneInTheProcessThatMadeTheStorage) {
  const auto mine = begin(1);
  const auto again = begin(1);
  ASSERT_TRUE(mine && again);
  EXPECT_EQ(*mine, *again);
}

}  // namespace
}  // namespace joust
