// SPDX-License-Identifier: MIT
#include "history/store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "history/series.hpp"
#include "joust/bytes.hpp"
#include "joust/time.hpp"

namespace joust::history {
namespace {

constexpr int kVersion = 1;  // of the tables: PRAGMA user_version
constexpr int kPatienceMs = 10'000;

constexpr const char* kTables = R"(
CREATE TABLE result (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  digest TEXT NOT NULL UNIQUE,
  started TEXT NOT NULL,
  host TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  version TEXT NOT NULL,
  title TEXT NOT NULL,
  load TEXT NOT NULL,
  verdict TEXT NOT NULL,
  command TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;
CREATE TABLE figure (
  result INTEGER NOT NULL REFERENCES result(id) ON DELETE CASCADE,
  series TEXT NOT NULL,
  "case" TEXT NOT NULL,
  contestant TEXT NOT NULL,
  name TEXT NOT NULL,
  value REAL NOT NULL
) STRICT;
CREATE INDEX figure_of_series ON figure(series, name);
CREATE INDEX figure_of_result ON figure(result);
CREATE TABLE tag (
  name TEXT PRIMARY KEY,
  result INTEGER NOT NULL REFERENCES result(id) ON DELETE CASCADE
) STRICT;
)";

constexpr const char* kColumns =
    "SELECT id, started, host, fingerprint, version, title, load, verdict, command, bytes FROM "
    "result ";

// The file cannot be used, and another one takes its place.
struct Unusable : std::runtime_error {
  Unusable(const char* what, const char* kind_of) : runtime_error(what), kind(kind_of) {}
  const char* kind;  // "damaged" or "newer": a part of the name that it gets
};

bool is_damage(const SQLite::Exception& error) {
  return error.getErrorCode() == SQLITE_CORRUPT || error.getErrorCode() == SQLITE_NOTADB;
}

// Makes the tables in a new file. Throws Unusable.
void ensure_tables(SQLite::Database& database) {
  database.exec("PRAGMA foreign_keys = ON");
  const auto version = [&] { return database.execAndGet("PRAGMA user_version").getInt(); };
  const auto is_empty = [&] {
    return database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  };
  if (version() == 0 && is_empty()) {
    SQLite::Transaction alone(database, SQLite::TransactionBehavior::IMMEDIATE);
    if (version() == 0) {  // nobody was faster
      database.exec(kTables);
      database.exec(fmt::format("PRAGMA user_version = {}", kVersion));
    }
    alone.commit();
  }
  if (version() > kVersion) throw Unusable("was made by a newer version of joust", "newer");
  if (version() < kVersion) throw Unusable("is none that joust has made", "damaged");
  try {
    SQLite::Statement(database, "SELECT bytes FROM result LIMIT 0");
  } catch (const SQLite::Exception&) {
    throw Unusable("has other tables than this version of joust", "older");
  }
}

SQLite::Database open_database(const std::string& path) {
  // A new file is for this user alone: SQLite would make it for all who may enter the folder. A file that is
  // there must not be opened beside SQLite: to close it would end the locks of this process.
  Fd(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600)).close();
  SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kPatienceMs);
  ensure_tables(database);
  return database;
}

// Makes the folder of a file and those above it, for this user alone.
void make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty() || std::filesystem::exists(folder)) return;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw std::runtime_error(
        fmt::format("the folder {} cannot be made: {} (XDG_STATE_HOME and HOME say where it is)",
                    folder.string(), failed.message()));
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
}

// Returns a name for a file that is set aside: "history.damaged-2.db".
std::filesystem::path name_aside(const std::filesystem::path& path, const char* kind) {
  for (int number = 1;; ++number) {
    std::filesystem::path name = path;
    name.replace_filename(
        fmt::format("{}.{}-{}{}", path.stem().string(), kind, number, path.extension().string()));
    if (!std::filesystem::exists(name)) return name;
  }
}

// Waits for a lock for as long as for other transactions.
Fd locked(const std::string& path) {
  Fd lock(checked(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600), "open({})", path));
  const Time end = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) checked(-1, "flock({})", path);
    if (Clock::now() >= end)
      throw std::runtime_error(fmt::format("{}: another process holds the lock", path));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return lock;
}

// Gives an unusable file another name, unless another process has done so meanwhile. Returns the remark.
std::string set_aside(const std::string& path) {
  const Fd lock = locked(path + ".lock");
  std::string why;
  const char* kind = "damaged";
  try {
    SQLite::Database database = open_database(path);
    const std::string checked_as = database.execAndGet("PRAGMA quick_check(1)").getString();
    if (checked_as == "ok") return {};
    why = "is damaged";
  } catch (const Unusable& unusable) {
    why = unusable.what();
    kind = unusable.kind;
  } catch (const SQLite::Exception& error) {
    if (!is_damage(error)) throw;
    why = "is damaged";
  }
  const std::filesystem::path aside = name_aside(path, kind);
  std::filesystem::rename(path, aside);
  for (const char* beside : {"-journal", "-wal", "-shm"})
    if (std::filesystem::exists(path + beside))
      std::filesystem::rename(path + beside, aside.string() + beside);
  return fmt::format("{} {}: it is now {}, and a new history begins", path, why, aside.string());
}

Entry entry_of(SQLite::Statement& row) {
  int at = 0;
  const auto text = [&] { return row.getColumn(at++).getString(); };
  Entry entry{.id = row.getColumn(at++).getInt64()};
  for (std::string* part : {&entry.started, &entry.host, &entry.fingerprint, &entry.joust, &entry.title,
                            &entry.load, &entry.verdict, &entry.command})
    *part = text();
  entry.bytes = static_cast<std::uint64_t>(row.getColumn(at).getInt64());
  return entry;
}

std::string load_of(const report::page::Document& document) {
  std::string load = document.cases.front().load_words;
  if (const std::size_t others = document.cases.size() - 1; others > 0)
    load += fmt::format("; and {}", counted(others, "other case"));
  return load;
}

// The tables of one file.
class Tables final : public Store {
 public:
  explicit Tables(std::string path) : path_(std::move(path)) {}

  std::int64_t add(const std::string& document) override;
  std::vector<Entry> entries() override;
  std::optional<Entry> find(const std::string& tag_or_id) override;
  std::string document(std::int64_t id) override;
  void tag(std::int64_t id, const std::string& tag) override;
  bool untag(const std::string& tag) override;
  std::uint64_t prune(std::uint64_t keep) override;
  std::vector<double> earlier(const std::string& series, const std::string& figure, const Origin& origin,
                              std::span<const std::string> documents) override;
  std::vector<SeriesPoint> series_of_result(std::int64_t id) override;
  const std::string& remark() const override { return remark_; }

 private:
  // Runs some work on the tables. All errors name the file.
  template <typename Work>
  std::invoke_result_t<Work, SQLite::Database&> run(Work work, void (Tables::*opens)() = &Tables::look) {
    try {
      (this->*opens)();
      return work(*database_);
    } catch (const Unusable& unusable) {
      throw std::runtime_error(fmt::format(
          "{} {}: the next race gives it another name, and begins a new history", path_, unusable.what()));
    } catch (const SQLite::Exception& error) {
      if (!is_damage(error)) throw std::runtime_error(fmt::format("{}: {}", path_, error.what()));
      throw std::runtime_error(
          fmt::format("{} is damaged ({}): 'sqlite3 {} .recover' may save its results; the next race gives "
                      "it another name, "
                      "and begins a new history",
                      path_, error.what(), path_));
    }
  }

  // Opens the file unless it is open, and makes it where there is none. Throws Unusable or SQLite::Exception.
  void open() {
    if (database_ && !is_stand_in_) return;
    make_folder_of(path_);
    database_.emplace(open_database(path_));
    is_stand_in_ = false;
  }

  // Opens the file unless it is open. Where there is none, empty tables in memory stand in for it: who only
  // looks makes no files. Throws as open() does.
  void look() {
    std::error_code unknown;
    const bool is_there = std::filesystem::exists(path_, unknown) || unknown;
    if (is_there || (database_ && !is_stand_in_)) return open();
    database_.emplace(":memory:", SQLite::OPEN_READWRITE);
    ensure_tables(*database_);
    is_stand_in_ = true;
  }

  std::int64_t insert(const std::string& digest, const report::page::Document& document);

  std::string path_, remark_{};
  std::optional<SQLite::Database> database_{};
  bool is_stand_in_ = false;  // database_ is not the file
};

std::string digest_of(const std::string& document) {
  Digester digester;
  digester.add(as_bytes(document));
  return to_hex(digester.value());
}

// Adds the figures of a race that can be compared: it was not interrupted, and had several rounds.
void add_figures(SQLite::Database& database, std::int64_t id, const report::page::Document& document) {
  SQLite::Statement insert(database, "INSERT INTO figure VALUES (?, ?, ?, ?, ?, ?)");
  if (!document.race.complete) return;
  constexpr std::size_t kLeastRounds = 2;
  for (const report::page::Case& load_case : document.cases)
    for (const report::page::Contestant& contestant : load_case.contestants) {
      if (contestant.kind != report::page::Kind::contestant || !contestant.ranked) continue;
      for (const Figure& figure : figures_of(load_case, contestant)) {
        if (figure.values.size() < kLeastRounds) continue;
        SQLite::bind(insert, id, series_of(load_case, contestant), load_case.name, contestant.name,
                     figure.name, geometric_mean(figure.values));
        insert.exec();
        insert.reset();
      }
    }
}

std::optional<std::int64_t> number_of(SQLite::Database& database, const std::string& digest) {
  SQLite::Statement known(database, "SELECT id FROM result WHERE digest = ?");
  known.bind(1, digest);
  return known.executeStep() ? std::optional(known.getColumn(0).getInt64()) : std::nullopt;
}

// Removes the oldest documents without a tag while they have more than kMostBytes together.
void remove_oldest(SQLite::Database& database) {
  SQLite::Statement remove(database, R"(DELETE FROM result WHERE id IN (
    SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS so_far FROM result
                    WHERE id NOT IN (SELECT result FROM tag)) WHERE so_far > ?))");
  remove.bind(1, static_cast<std::int64_t>(Store::kMostBytes));
  remove.exec();
}

std::int64_t insert_result(SQLite::Database& database, const std::string& digest,
                           const report::page::Document& document) {
  SQLite::Statement insert(database, R"(INSERT INTO result (digest, started, host, fingerprint, version,
    title, load, verdict, command, bytes, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))");
  SQLite::bind(insert, digest, document.race.started, fact(document, "host"), fact(document, "fingerprint"),
               document.race.joust, document.race.scenario.title, load_of(document), document.race.verdict,
               document.command(), static_cast<std::int64_t>(document.json.size()), document.json);
  insert.exec();
  return database.getLastInsertRowid();
}

std::int64_t Tables::insert(const std::string& digest, const report::page::Document& document) {
  SQLite::Transaction alone(*database_, SQLite::TransactionBehavior::IMMEDIATE);
  if (const auto known = number_of(*database_, digest)) return *known;
  const std::int64_t id = insert_result(*database_, digest, document);
  add_figures(*database_, id, document);
  remove_oldest(*database_);
  alone.commit();
  return id;
}

std::int64_t Tables::add(const std::string& document) {
  const auto read = report::page::read_document(document);
  if (!read) throw std::runtime_error(read.error());
  const std::string digest = digest_of(document);
  try {
    open();
    return insert(digest, *read);
  } catch (const Unusable&) {
  } catch (const SQLite::Exception& error) {
    if (!is_damage(error)) throw std::runtime_error(fmt::format("{}: {}", path_, error.what()));
  }
  database_.reset();
  remark_ = set_aside(path_);
  return run([&](SQLite::Database& /*database*/) { return insert(digest, *read); }, &Tables::open);
}

std::vector<Entry> Tables::entries() {
  return run([](SQLite::Database& database) {
    std::vector<Entry> entries;
    SQLite::Statement rows(database, fmt::format("{} ORDER BY id DESC", kColumns));
    while (rows.executeStep()) entries.push_back(entry_of(rows));
    std::map<std::int64_t, std::vector<std::string>> tags;
    SQLite::Statement all(database, "SELECT name, result FROM tag ORDER BY name");
    while (all.executeStep()) tags[all.getColumn(1).getInt64()].push_back(all.getColumn(0).getString());
    for (Entry& entry : entries)
      if (const auto of_it = tags.find(entry.id); of_it != tags.end()) entry.tags = of_it->second;
    return entries;
  });
}

std::optional<Entry> Tables::find(const std::string& tag_or_id) {
  return run([&](SQLite::Database& database) -> std::optional<Entry> {
    SQLite::Statement row(
        database,
        fmt::format("{} WHERE id = (SELECT result FROM tag WHERE name = ?1) OR CAST(id AS TEXT) = ?1",
                    kColumns));
    row.bind(1, tag_or_id);
    if (!row.executeStep()) return std::nullopt;
    Entry entry = entry_of(row);
    SQLite::Statement tags(database, "SELECT name FROM tag WHERE result = ? ORDER BY name");
    tags.bind(1, entry.id);
    while (tags.executeStep()) entry.tags.push_back(tags.getColumn(0).getString());
    return entry;
  });
}

std::string Tables::document(std::int64_t id) {
  return run([&](SQLite::Database& database) {
    SQLite::Statement row(database, "SELECT document FROM result WHERE id = ?");
    row.bind(1, id);
    if (!row.executeStep())
      throw std::runtime_error(fmt::format("{}: result {} is not there any more", path_, id));
    return row.getColumn(0).getString();
  });
}

void Tables::tag(std::int64_t id, const std::string& tag) {
  run([&](SQLite::Database& database) {
    SQLite::Statement insert(database, "INSERT OR REPLACE INTO tag VALUES (?, ?)");
    insert.bind(1, tag);
    insert.bind(2, id);
    return insert.exec();
  });
}

bool Tables::untag(const std::string& tag) {
  return run([&](SQLite::Database& database) {
    SQLite::Statement remove(database, "DELETE FROM tag WHERE name = ?");
    remove.bind(1, tag);
    return remove.exec() > 0;
  });
}

std::uint64_t Tables::prune(std::uint64_t keep) {
  return run([&](SQLite::Database& database) {
    SQLite::Statement remove(database, R"(DELETE FROM result WHERE id NOT IN (SELECT result FROM tag)
      AND id NOT IN (SELECT id FROM result ORDER BY id DESC LIMIT ?))");
    remove.bind(1, static_cast<std::int64_t>(keep));
    const auto removed = static_cast<std::uint64_t>(remove.exec());
    database.tryExec("VACUUM");  // gives the room back, if there is room for a copy
    return removed;
  });
}

std::vector<double> Tables::earlier(const std::string& series, const std::string& figure,
                                    const Origin& origin, std::span<const std::string> documents) {
  constexpr int kLatest = 20;
  return run([&](SQLite::Database& database) {
    SQLite::Statement rows(database,
                           R"(SELECT value, digest FROM figure JOIN result ON result.id = figure.result
      WHERE series = ? AND name = ? AND host = ? AND fingerprint = ? ORDER BY result.id DESC)");
    SQLite::bind(rows, series, figure, origin.host, origin.fingerprint);
    std::set<std::string> left_out;
    for (const std::string& document : documents) left_out.insert(digest_of(document));
    std::vector<double> values;
    while (values.size() < kLatest && rows.executeStep())
      if (!left_out.contains(rows.getColumn(1).getString())) values.push_back(rows.getColumn(0).getDouble());
    std::ranges::reverse(values);
    return values;
  });
}

std::vector<SeriesPoint> Tables::series_of_result(std::int64_t id) {
  return run([&](SQLite::Database& database) {
    SQLite::Statement rows(database,
                           R"(SELECT one.id, one.started, one.version, "case", contestant, name, value
      FROM figure JOIN result AS one ON one.id = figure.result JOIN result AS asked ON asked.id = ?1
      WHERE series IN (SELECT series FROM figure WHERE result = ?1)
        AND one.host = asked.host AND one.fingerprint = asked.fingerprint ORDER BY one.id)");
    rows.bind(1, id);
    std::vector<SeriesPoint> points;
    while (rows.executeStep())
      points.push_back({.result = rows.getColumn(0).getInt64(),
                        .started = rows.getColumn(1).getString(),
                        .version = rows.getColumn(2).getString(),
                        .case_ = rows.getColumn(3).getString(),
                        .contestant = rows.getColumn(4).getString(),
                        .figure = rows.getColumn(5).getString(),
                        .value = rows.getColumn(6).getDouble()});
    return points;
  });
}

}  // namespace

std::string default_path() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string state = variable("XDG_STATE_HOME"), home = variable("HOME");
  if (state.starts_with('/')) return state + "/joust/history.db";  // a relative one counts as none
  if (home.empty()) throw std::runtime_error("neither HOME nor XDG_STATE_HOME says where the history is");
  return home + "/.local/state/joust/history.db";
}

std::unique_ptr<Store> open_store(const std::string& path) {
  return std::make_unique<Tables>(path);
}

}  // namespace joust::history
