// SPDX-License-Identifier: MIT
#include "files/transfer/source_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"
#include "files/store/disk/temporary_file.hpp"
#include "files/store/file_version.hpp"
#include "files/store/name.hpp"

namespace joust::transfer {
namespace {

namespace fs = std::filesystem;

// Returns the last part of a path: b for "a/b" and "a/b/". Empty for "a/b/.", which means the entries of the
// directory, and for ".." and "/", which have no name of their own.
std::string last_part(const std::string& path) {
  if (path.ends_with("/.") || path.ends_with("/..")) return "";
  fs::path normal = fs::path(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  const std::string last = normal.filename().string();
  return last == "." || last == ".." || last == "/" ? "" : last;
}

// Returns the kind of a file for a note, such as "a FIFO".
std::string_view kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "no regular file";
  }
}

// Gives the path only: it ends with the name, which may be long.
std::string unnamed(const std::string& path, std::string_view objection) {
  return fmt::format("{}: cannot be sent: {}; rename it", printable(path), objection);
}

class Collector {
 public:
  explicit Collector(SourceList& list) : list_(list) {}

  // Adds a file that the user has named. Returns the objection, if any.
  std::string add_named(const std::string& path, const std::string& name) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0)
      return fmt::format("{}: {}", printable(path), std::strerror(errno));
    if (!S_ISREG(facts.st_mode)) return fmt::format("{}: is no regular file", printable(path));
    return add_file({.path = path, .name = name, .version = version_of(facts)});
  }

  // Adds the entries below a directory that the user has named. Returns the objection, if any.
  std::string add_top(const std::string& path, const std::string& name) {
    try {
      top_ = std::make_shared<const Directory>(path);
    } catch (const std::system_error& error) {
      return fmt::format("{}: {}", printable(path), error.code().message());
    }
    add_directory(path, name, "");
    return {};
  }

 private:
  // Returns the objection, if any.
  std::string add_file(SourceItem item) {
    if (const auto objection = objection_to(item.name); !objection.empty())
      return unnamed(item.path, objection);
    if (is_beyond(item.version.modified_ns)) return fmt::format("{}: {}", printable(item.path), kBeyond);
    list_.bytes += item.version.size;
    list_.items.push_back(std::move(item));
    return {};
  }

  // Adds the entries in the order of their names, so that two runs send in the same order.
  void add_directory(const std::string& path, const std::string& name, const std::string& beneath) {
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      entries.push_back(*at);
    if (error) cannot_send(path, error.message());  // the entries read so far are still sent
    std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().native(); });
    const std::size_t missing = list_.missing.size(), items = list_.items.size();
    for (const fs::directory_entry& entry : entries) add_entry(entry, name, beneath);
    const bool is_empty = list_.items.size() == items && list_.missing.size() == missing;
    if (!name.empty() && (is_empty ? !error : list_.items.size() > items)) add_folder(path, name, items);
  }

  // Inserts a directory before its entries. The caller leaves out a directory of which no entry can be sent:
  // the missing entries may be sent later.
  void add_folder(const std::string& path, const std::string& name, std::size_t position) {
    if (const auto objection = objection_to(name); !objection.empty())
      return list_.missing.push_back("not sent: " + unnamed(path, objection));
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return cannot_send(path, std::strerror(errno));
    SourceItem item{.path = path, .name = name, .version = version_of(facts), .is_folder = true};
    item.version.size = 0;
    list_.items.insert(list_.items.begin() + static_cast<std::ptrdiff_t>(position), std::move(item));
  }

  void add_entry(const fs::directory_entry& entry, const std::string& folder, const std::string& above) {
    const std::string path = entry.path().string(), last = entry.path().filename().string();
    const std::string name = joined(folder, last), beneath = joined(above, last);
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) return cannot_send(path, std::strerror(errno));
    if (is_temporary(last)) return leave_out(path, "what an interrupted transfer has left");
    if (S_ISDIR(facts.st_mode)) return add_directory(path, name, beneath);
    if (!S_ISREG(facts.st_mode)) return leave_out(path, std::string(kind_of(facts.st_mode)));
    SourceItem item{
        .path = path, .name = name, .top = top_, .beneath = beneath, .version = version_of(facts)};
    if (const std::string objection = add_file(std::move(item)); !objection.empty())
      list_.missing.push_back("not sent: " + objection);
  }
  void cannot_send(const std::string& path, const std::string& why) {
    list_.missing.push_back(fmt::format("not sent: {}: {}", printable(path), why));
  }
  void leave_out(const std::string& path, const std::string& why) {
    list_.notes.push_back(fmt::format("left out: {}: {}", printable(path), why));
  }

  SourceList& list_;
  std::shared_ptr<const Directory> top_;  // the directory that is being collected
};

// Moves directories to the front. If two paths have the same directory, the first one counts, and both may
// have files in it.
void arrange_folders(SourceList& list) {
  std::set<std::string> seen, entered;
  std::erase_if(list.items,
                [&](const SourceItem& item) { return item.is_folder && !seen.insert(item.name).second; });
  std::string_view before;  // most files follow one of the same directory
  for (const SourceItem& item : list.items)
    if (const auto folder = split_name(item.name).folder; folder != std::exchange(before, folder))
      entered.emplace(folder);
  for (SourceItem& item : list.items) {
    if (!item.is_folder) continue;
    item.is_parent = entered.contains(item.name);
    item.is_nested = seen.contains(std::string(split_name(item.name).folder));
    ++(item.is_parent ? list.parents : list.folders);
  }
  std::ranges::stable_partition(list.items, &SourceItem::is_folder);
}

// Returns an objection to two files with one name: the later one would replace the earlier one, or count as
// skipped.
std::string repeated_name(const std::vector<SourceItem>& items) {
  std::map<std::string_view, const std::string*> paths;
  for (const SourceItem& item : items)
    if (const auto [first, is_new] = paths.emplace(item.name, &item.path); !is_new)
      return fmt::format("{} and {} would both be '{}' there; send them by themselves, or to two folders",
                         printable(*first->second), printable(item.path), printable(item.name));
  return {};
}

// Opens a file without a path again. Its mode is the one that was chosen for it: its own is that of a
// temporary file.
std::expected<OpenSource, std::string> open_again(const SourceItem& item) {
  Fd fd(::fcntl(item.opened->get(), F_DUPFD_CLOEXEC, 0));
  if (!fd.is_open()) return std::unexpected(fmt::format("{}: {}", item.path, std::strerror(errno)));
  FileVersion version = version_of(fd.get());
  version.mode = item.version.mode;
  return OpenSource{std::move(fd), version};
}

std::expected<Fd, int> open_named(const std::string& path) {
  // O_NONBLOCK: a FIFO may have taken the file's place, and opening it must not wait for a writer.
  return only_regular(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)));
}

}  // namespace

std::expected<SourceList, std::string> list_sources(const std::vector<std::string>& paths, bool recursive,
                                                    const std::string& folder) {
  SourceList list;
  Collector collector(list);
  for (const std::string& path : paths) {
    std::error_code error;
    const std::string last = last_part(path);
    if (path.empty()) return std::unexpected("'': the name of a file is empty");
    if (fs::is_directory(path, error)) {
      if (!recursive) return std::unexpected(printable(path) + ": is a directory: -r sends what is below it");
      const auto objection = collector.add_top(path, last.empty() ? folder : joined(folder, last));
      if (!objection.empty()) return std::unexpected(objection);
    } else if (const auto objection = collector.add_named(path, joined(folder, last)); !objection.empty()) {
      return std::unexpected(objection);
    }
  }
  arrange_folders(list);
  std::string objection = paths.size() > 1 ? repeated_name(list.items) : "";
  if (!objection.empty()) return std::unexpected(std::move(objection));
  return list;
}

std::expected<OpenSource, std::string> open_source(const SourceItem& item) {
  const std::string path = printable(item.path);
  if (item.opened) return open_again(item);
  auto opened = item.top ? item.top->open_file(item.beneath) : open_named(item.path);
  if (!opened && opened.error() == ENODEV) return std::unexpected(path + ": is no regular file");
  if (!opened && opened.error() == ELOOP && item.top)
    return std::unexpected(path + ": a symbolic link has taken its place");
  if (!opened) return std::unexpected(fmt::format("{}: {}", path, std::strerror(opened.error())));
  const FileVersion version = version_of(opened->get());
  return OpenSource{std::move(*opened), version};
}

// Asks for one byte more, to notice that the file has grown.
std::expected<std::optional<Bytes>, int> read_whole(const OpenSource& source,
                                                    std::vector<std::byte>& buffer) {
  const std::size_t size = source.version.size;
  buffer.resize(std::max(buffer.size(), size + 1));
  std::size_t done = 0;
  for (bool more = true; more;) {
    const std::size_t wanted = size + 1 - done;
    const ssize_t n = retry_interrupted(
        [&] { return ::pread(source.fd.get(), &buffer[done], wanted, static_cast<off_t>(done)); });
    if (n < 0) return std::unexpected(errno);
    done += static_cast<std::size_t>(n);
    more = n > 0 && done < size;  // the usual read is a byte short: that is the end of the file
  }
  const FileVersion now = version_of(source.fd.get());
  if (done != size || now.modified_ns != source.version.modified_ns) return std::nullopt;
  return Bytes(buffer).first(size);
}

}  // namespace joust::transfer
