// SPDX-License-Identifier: MIT
#include "history/store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <filesystem>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "base/digest.hpp"
#include "base/fd.hpp"
#include "base/words.hpp"
#include "history/series.hpp"
#include "joust/bytes.hpp"

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
    "SELECT id, started, host, fingerprint, version, title, load, verdict, command, length(document) FROM "
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
  if (version() == 0) {
    SQLite::Transaction alone(database, SQLite::TransactionBehavior::IMMEDIATE);
    if (version() == 0) {  // nobody was faster
      database.exec(kTables);
      database.exec(fmt::format("PRAGMA user_version = {}", kVersion));
    }
    alone.commit();
  }
  if (version() > kVersion) throw Unusable("was made by a newer version of joust", "newer");
  if (version() < kVersion) throw Unusable("is none that joust has made", "damaged");
}

SQLite::Database open_database(const std::string& path) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kPatienceMs);
  ensure_tables(database);
  return database;
}

// Makes the folder of a file and those above it, for this user alone.
void make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty() || std::filesystem::exists(folder)) return;
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
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

// Gives an unusable file another name, unless another process has done so meanwhile. Returns the remark.
std::string set_aside(const std::string& path) {
  const Fd lock(
      checked(::open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600), "open({}.lock)", path));
  checked(::flock(lock.get(), LOCK_EX), "flock({}.lock)", path);
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
  for (std::string* part : {&entry.started, &entry.host, &entry.fingerprint, &entry.version, &entry.title,
                            &entry.load, &entry.verdict, &entry.command})
    *part = text();
  entry.bytes = static_cast<std::uint64_t>(row.getColumn(at).getInt64());
  return entry;
}

std::string load_of(const report::page::Document& document) {
  std::string load = document.heats.front().load;
  if (const std::size_t others = document.heats.size() - 1; others > 0)
    load += fmt::format("; and {}", counted(others, "other case"));
  return load;
}

// The tables of one file.
class Tables final : public Store {
 public:
  explicit Tables(std::string path) : path_(std::move(path)) {
    make_folder_of(path_);
    run([](SQLite::Database& /*database*/) { return 0; });
  }

  std::int64_t add(const std::string& document) override;
  std::vector<Entry> entries() override;
  std::string document(std::int64_t id) override;
  void tag(std::int64_t id, const std::string& tag) override;
  bool untag(const std::string& tag) override;
  std::uint64_t prune(std::uint64_t keep) override;
  std::vector<double> earlier(const std::string& series, const std::string& figure,
                              const Origin& origin) override;
  const std::string& remark() const override { return remark_; }

 private:
  // Runs some work on the tables. Where the file turns out to be unusable it is set aside, and the work runs
  // on a new one.
  template <typename Work>
  std::invoke_result_t<Work, SQLite::Database&> run(Work work) {
    try {
      try {
        if (!database_) open();
        return work(*database_);
      } catch (const Unusable&) {
      } catch (const SQLite::Exception& error) {
        if (!is_damage(error)) throw;
      }
      database_.reset();
      remark_ = set_aside(path_);
      open();
      return work(*database_);
    } catch (const SQLite::Exception& error) {
      throw std::runtime_error(fmt::format("{}: {}", path_, error.what()));
    }
  }

  void open() { database_.emplace(open_database(path_)); }

  std::string path_, remark_{};
  std::optional<SQLite::Database> database_{};
};

void add_figures(SQLite::Database& database, std::int64_t id, const report::page::Document& document) {
  SQLite::Statement insert(database, "INSERT INTO figure VALUES (?, ?, ?, ?, ?, ?)");
  for (const report::page::Heat& heat : document.heats)
    for (const report::page::Runner& runner : heat.runners) {
      if (runner.kind != report::page::Kind::contestant || (!runner.ranked && !runner.at_least)) continue;
      for (const Figure& figure : figures_of(heat, runner)) {
        if (figure.values.empty()) continue;
        SQLite::bind(insert, id, series_of(heat, runner), heat.name, runner.name, figure.name,
                     geometric_mean(figure.values));
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
    SELECT id FROM (SELECT id, sum(length(document)) OVER (ORDER BY id DESC) AS bytes FROM result
                    WHERE id NOT IN (SELECT result FROM tag)) WHERE bytes > ?))");
  remove.bind(1, static_cast<std::int64_t>(Store::kMostBytes));
  remove.exec();
}

std::int64_t insert_result(SQLite::Database& database, const std::string& digest,
                           const report::page::Document& document) {
  SQLite::Statement insert(database, R"(INSERT INTO result (digest, started, host, fingerprint, version,
    title, load, verdict, command, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?))");
  SQLite::bind(insert, digest, document.started, fact(document, "host"), fact(document, "fingerprint"),
               document.version, document.title, load_of(document), document.verdict,
               join(document.command, " "), document.json);
  insert.exec();
  return database.getLastInsertRowid();
}

std::int64_t Tables::add(const std::string& document) {
  const auto read = report::page::read_document(document);
  if (!read) throw std::runtime_error(read.error());
  Digester digester;
  digester.add(as_bytes(document));
  const std::string digest = to_hex(digester.value());
  return run([&](SQLite::Database& database) {
    SQLite::Transaction alone(database, SQLite::TransactionBehavior::IMMEDIATE);
    if (const auto known = number_of(database, digest)) return *known;
    const std::int64_t id = insert_result(database, digest, *read);
    add_figures(database, id, *read);
    remove_oldest(database);
    alone.commit();
    return id;
  });
}

std::vector<Entry> Tables::entries() {
  return run([](SQLite::Database& database) {
    std::vector<Entry> entries;
    SQLite::Statement rows(database, std::string(kColumns) + "ORDER BY id DESC");
    while (rows.executeStep()) entries.push_back(entry_of(rows));
    SQLite::Statement tags(database, "SELECT name, result FROM tag ORDER BY name");
    while (tags.executeStep())
      for (Entry& entry : entries)
        if (entry.id == tags.getColumn(1).getInt64()) entry.tags.push_back(tags.getColumn(0).getString());
    return entries;
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
    database.exec("VACUUM");  // gives the room back
    return removed;
  });
}

std::vector<double> Tables::earlier(const std::string& series, const std::string& figure,
                                    const Origin& origin) {
  return run([&](SQLite::Database& database) {
    SQLite::Statement rows(database, R"(SELECT value FROM figure JOIN result ON result.id = figure.result
      WHERE series = ? AND name = ? AND host = ? AND fingerprint = ? ORDER BY result.id)");
    rows.bind(1, series);
    rows.bind(2, figure);
    rows.bind(3, origin.host);
    rows.bind(4, origin.fingerprint);
    std::vector<double> values;
    while (rows.executeStep()) values.push_back(rows.getColumn(0).getDouble());
    return values;
  });
}

}  // namespace

bool is_available() {
  return true;
}

std::unique_ptr<Store> open_store(const std::string& path) {
  return std::make_unique<Tables>(path);
}

}  // namespace joust::history
