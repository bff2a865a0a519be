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
  std::string source{};                  // a local file's path; empty:
  std::optional<std::uint64_t> bytes{};  // as many are generated
  FileRead read = FileRead::read;
  FileWrite write = FileWrite::write;
};

// A file of this machine that is not what is needed.
class UnusableFile : public std::runtime_error {
 public:
  UnusableFile(const std::string& path, const std::string& reason) : runtime_error(path + ": " + reason) {}
};

// The client's own machine: files, memory, or nowhere.
class LocalFiles : public TransferFiles {
 public:
  // Opens the source and digests it. Throws UnusableFile, and std::system_error.
  explicit LocalFiles(const LocalFilesRules& rules);

  const OpenFile& source() const override { return source_; }
  FileAnswer<std::unique_ptr<Sink>> sink(std::uint64_t size) override;
  const PlainBytes& plain_bytes() const { return plain_; }

 private:
  void open_output();
  void open_source();

  const LocalFilesRules rules_;
  PlainBytes plain_;
  std::optional<DirectoryTree> into_;  // where the output lies
  std::string output_;             // its name there
  OpenFile source_;
};

}  // namespace joust
