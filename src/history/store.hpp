// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The results of this user's races, in one SQLite file. docs/history.md describes its tables.
namespace joust::history {

// A result without its document, as it is in the document joust-history/1.
struct Entry {
  std::int64_t id = 0;
  std::string started{};  // "2026-01-31T09:30:00Z"
  std::vector<std::string> tags{};
  std::string title{}, load{}, verdict{}, command{}, host{}, fingerprint{};
  std::string joust{};      // its version
  std::uint64_t bytes = 0;  // of the document
};

// Where results come from: only those of one host with one fingerprint can be compared closely.
struct Origin {
  std::string host{}, fingerprint{};
};

// Returns $XDG_STATE_HOME/joust/history.db, or the same below ~/.local/state. Throws std::runtime_error where
// neither variable is set.
std::string default_path();

// A figure of a contestant in one race.
struct SeriesPoint {
  std::int64_t result = 0;
  std::string started{}, version{}, case_{}, contestant{}, figure{};
  double value = 0;
};

// The file, open. Several processes may use it at once: each change is one transaction, and waits for the
// others for ten seconds. All functions throw std::runtime_error, which names the file.
class Store {
 public:
  // Documents without a tag: where they have more bytes than this together, add() removes the oldest.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20;

  virtual ~Store() = default;

  // Adds the document of a race. Returns its number, that of the first time if it was added before. A damaged
  // file, and one of a newer version of joust, gets another name, which remark() says, and a new one takes
  // its place; all other functions throw then. Throws also if the document is wrong.
  virtual std::int64_t add(const std::string& document) = 0;

  virtual std::vector<Entry> entries() = 0;  // the newest first
  virtual std::string document(std::int64_t id) = 0;
  // Finds a result by its tag or its number.
  virtual std::optional<Entry> find(const std::string& tag_or_id) = 0;

  // Gives a result a tag, which another one may have had before.
  virtual void tag(std::int64_t id, const std::string& tag) = 0;
  // Returns whether there was such a tag.
  virtual bool untag(const std::string& tag) = 0;
  // Removes all results but the newest and those with a tag. Returns how many it has removed.
  virtual std::uint64_t prune(std::uint64_t keep) = 0;

  // Returns the values of a figure in the latest races of one series (history/series.hpp), the oldest first,
  // but for these documents: those that are compared say nothing of how much equals differ.
  virtual std::vector<double> earlier(const std::string& series, const std::string& figure,
                                      const Origin& origin, std::span<const std::string> documents) = 0;
  // Returns the figures of all races that have a series in common with a result, in its environment, the
  // oldest first.
  virtual std::vector<SeriesPoint> series_of_result(std::int64_t id) = 0;

  // Says which file add() has set aside, and why. Empty if none.
  virtual const std::string& remark() const = 0;
};

// Returns the file, which the first use of it opens. add() makes it, with its folders, where there is none;
// for all other functions the history is empty then.
std::unique_ptr<Store> open_store(const std::string& path);

}  // namespace joust::history
