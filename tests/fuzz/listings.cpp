// SPDX-License-Identifier: MIT
//
// A client that lists a directory of a server which says anything.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "connection/stream_connection.hpp"
#include "files/protocol/messages.hpp"
#include "files/store/name.hpp"
#include "files/transfer/listing.hpp"
#include "fuzz/checked.hpp"
#include "fuzz/corpus.hpp"
#include "fuzz/entries.hpp"

namespace joust::fuzz {
namespace {

class FileLister {
 public:
  FileLister() { session_->on_open(now_); }
  void take(Bytes piece) {
    held_.insert(held_.end(), piece.begin(), piece.end());
    while (!held_.empty() && !session_->finished()) {
      const std::size_t taken = deliver(held_, *session_, now_);
      if (taken == 0) return;
      held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(taken));
    }
  }
  std::string heard() {
    std::string text = fmt::format("{} {}", listing_.over(), fmt::join(listing_.complaints(), ", "));
    for (const transfer::RemoteItem& item : listing_.take_items()) {
      if (!objection_to(item.name).empty() || item.name.contains('/')) wrong_ = "a name that leads elsewhere";
      text += fmt::format("\n{} {} {}", item.name, item.is_folder, item.size);
    }
    return text;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  transfer::Listing listing_{transfer::ListPlan{.most_retries = 0}};
  std::unique_ptr<Session> session_ = listing_.open({});
  const Time now_{std::chrono::hours(1)};
  std::vector<std::byte> held_;
  std::string wrong_;
};

}  // namespace

std::vector<std::string> listing_corpus() {
  using namespace file;
  using file::test::wire;
  const std::string facts = wire({1, Facts{.mode = 0755}});
  const FolderEntry one{"f", false, 5, 6, 0640}, other{"d", true, 0, 6, 0755}, evil{"..", true, 0, 6, 0755};
  return {
      "a" + facts + wire({1, Entries{{one, other}}}) + wire({1, Listed{2, 1}}),
      "b" + facts + wire({1, Entries{{one}}}) + wire({1, Entries{{other}}}) + wire({1, Listed{2, 0}}),
      "c" + facts + wire({1, Entries{{one, one}}}) + wire({1, Listed{2, 0}}),
      "d" + facts + wire({1, Entries{{one, evil}}}) + wire({1, Listed{2, 0}}),
      "e" + wire({1, Working{1}}) + facts + wire({1, Listed{}}),
      "f" + wire({1, Error{{FileError::not_found, "x"}}}) + facts,
  };
}

std::string file_lister(Bytes input) {
  return compare_checked<FileLister>(input);
}

}  // namespace joust::fuzz
