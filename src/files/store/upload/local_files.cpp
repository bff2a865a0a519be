// SPDX-License-Identifier: MIT
#include "files/store/upload/local_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/system/files.hpp"
#include "files/store/disk/group_commit.hpp"
#include "files/store/file_digest.hpp"
#include "files/store/file_version.hpp"
#include "files/store/upload/tree_storage.hpp"

namespace joust {
namespace {

std::unexpected<FileRefusal> refuse(const std::string& what, int error) {
  return std::unexpected(FileRefusal{error_of(error), what + ": " + std::strerror(error)});
}

// O_NONBLOCK: opening a FIFO without a writer must not block.
Fd open_regular(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) throw UnusableFile(path, std::strerror(errno));
  struct stat facts {};
  checked(::fstat(fd.get(), &facts), "fstat({})", path);
  if (!S_ISREG(facts.st_mode)) throw UnusableFile(path, "is no regular file");
  return fd;
}

class NullSink : public Sink {
 public:
  explicit NullSink(FileWrite method) : file_(method) {}
  File& file() override { return file_; }
  bool keeps() const override { return false; }
  FileAnswer<void> accept() override { return {}; }

 private:
  NullFile file_;
};

class KeepingSink : public Sink {
 public:
  KeepingSink(Fd fd, std::uint64_t size, FileWrite method, PlainBytes& plain)
      : file_(std::move(fd), size, method, &plain) {}
  File& file() override { return file_; }
  bool keeps() const override { return true; }
  FileAnswer<void> accept() override { return {}; }

 protected:
  TargetFile file_;
};

// The file gets its name only when it is complete and correct.
class OutputSink : public KeepingSink {
 public:
  OutputSink(std::unique_ptr<NewFile> new_file, std::uint64_t size, FileWrite method, PlainBytes& plain)
      : KeepingSink(std::move(new_file->descriptor()), size, method, plain), new_file_(std::move(new_file)) {}
  FileAnswer<void> accept() override {
    if (const auto published = publish(*new_file_, file_.number(), false); !published)
      return refuse("naming the output", published.error());
    return {};
  }

 private:
  const std::unique_ptr<NewFile> new_file_;
};

}  // namespace

LocalFiles::LocalFiles(const LocalFilesRules& rules) : rules_(rules) {
  if (rules_.sink == SinkKind::file) open_output();
  if (!rules_.source.empty() || rules_.bytes) open_source();
}

void LocalFiles::open_output() {
  const std::filesystem::path path(rules_.output);
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
    throw UnusableFile(rules_.output, "is there, and is no regular file");
  output_ = path.filename().string();
  try {
    into_.emplace(path.has_parent_path() ? path.parent_path().string() : ".");
  } catch (const std::system_error& error) {
    throw UnusableFile(rules_.output, error.what());
  }
}

void LocalFiles::open_source() {
  Fd fd = rules_.source.empty() ? generated_file(*rules_.bytes) : open_regular(rules_.source);
  source_.version = version_of(fd.get());
  const std::uint64_t size = source_.version.size;
  FileDigest digest(size);
  const SourceFile once(Fd(checked(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0), "fcntl(F_DUPFD)")), size,
                        FileRead::read);
  for (auto through = digest.advance(once); !through || !*through; through = digest.advance(once))
    if (!through)
      throw UnusableFile(rules_.source, through.error() == 0 ? "became shorter while it was read"
                                                             : std::strerror(through.error()));
  std::byte beyond{};
  if (once.read_at(size, {&beyond, 1}).value_or(0) > 0)
    throw UnusableFile(rules_.source, "holds more than its size says: it grows, or is none that is stored");
  source_.digest = digest.value();
  source_.file = std::make_shared<SourceFile>(std::move(fd), size, rules_.read, &plain_);
}

FileAnswer<std::unique_ptr<Sink>> LocalFiles::sink(std::uint64_t size) {
  if (rules_.sink == SinkKind::null) return std::make_unique<NullSink>(rules_.write);
  const auto possible = [&](int fd) {
    if (rules_.write != FileWrite::mmap) return rules_.write;
    // Without reserved space a mapping could end the process. The size is only claimed by the server, so that
    // no more than half of the free space is reserved for it. A reservation that fails may leave a part
    // behind.
    if (size <= available_space(fd, size).bytes / 2 && reserve(fd, 0, size) == 0) return FileWrite::mmap;
    checked(::ftruncate(fd, 0), "ftruncate(0)");
    return FileWrite::write;
  };
  if (rules_.sink == SinkKind::memory) {
    Fd fd = memory_file("joust-sink");
    if (!fd.is_open()) return refuse("memory for what is received", errno);
    if (const Available room = available_space(fd.get(), size); size > room.bytes)
      return std::unexpected(FileRefusal{FileError::no_space, shortage(size, room)});
    const FileWrite method = possible(fd.get());
    return std::make_unique<KeepingSink>(std::move(fd), size, method, plain_);
  }
  auto new_file = into_->create(output_, {.existing = Existing::replace});
  if (!new_file) return refuse("creating the output", new_file.error());
  const FileWrite method = possible((*new_file)->descriptor().get());
  return std::make_unique<OutputSink>(std::move(*new_file), size, method, plain_);
}

}  // namespace joust
