// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "store/storage.hpp"
#include "store/directory_tree.hpp"
#include "store/disk_file.hpp"

namespace joust {

enum class SinkKind : std::uint8_t { null, memory, file };

struct LocalFilesRules {
  SinkKind sink = SinkKind::null;
  std::string output{};                  // the file's path, for SinkKind::file
  std::string source{};                  // a local file's path; if empty, the source is
  std::optional<std::uint64_t> bytes{};  // a generated file of this size
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
