// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "files/store/disk/directory_tree.hpp"
#include "files/store/disk/disk_file.hpp"
#include "files/store/storage.hpp"

namespace joust {

enum class SinkKind : std::uint8_t { null, memory, file };

struct LocalFilesRules {
  SinkKind sink = SinkKind::null;
  std::string output{};                  // path of the file, for SinkKind::file
  std::string source{};                  // path of a local source file; empty: none
  std::optional<std::uint64_t> bytes{};  // size of a generated source, if `source` is empty
  FileRead read = FileRead::read;
  FileWrite write = FileWrite::write;
};

// A local file that cannot be used as asked.
class UnusableFile : public std::runtime_error {
 public:
  UnusableFile(const std::string& path, const std::string& reason) : runtime_error(path + ": " + reason) {}
};

// The client's files: on disk, in memory, or discarded.
class LocalFiles : public TransferFiles {
 public:
  // Opens the source and digests it. Throws UnusableFile and std::system_error.
  explicit LocalFiles(const LocalFilesRules& rules);

  const OpenFile& source() const override { return source_; }
  FileAnswer<std::unique_ptr<Sink>> sink(std::uint64_t size) override;
  const PlainBytes& plain_bytes() const { return plain_; }

 private:
  void open_output();
  void open_source();

  const LocalFilesRules rules_;
  PlainBytes plain_;
  std::optional<DirectoryTree> into_;  // the output's directory
  std::string output_;                 // the output's name in it
  OpenFile source_;
};

}  // namespace joust
