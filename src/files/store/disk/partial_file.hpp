// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "files/store/disk/temporary_file.hpp"

namespace joust {

// The least number of bytes from the start of a file that are kept. Fewer are not worth two files on the
// disk.
inline constexpr std::uint64_t kLeastKept = 1 << 20;

// A new file that outlives its process. Its temporary name and that of its journal follow from the final
// name, so that the next attempt finds both. The file is locked for as long as this object exists, so that
// two processes do not write one file or its journal.
class PartialFile : public TemporaryFile {
 public:
  using TemporaryFile::TemporaryFile;
  ~PartialFile() override;
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  int create() override;
  std::expected<ReplacedBytes, int> take_name(int fd) override;
  void abandon() override;
  void let_go() override;

  std::vector<Milestone> milestones() const override { return milestones_; }
  std::uint64_t discarded() const override { return discarded_; }
  void keep_milestones(std::size_t count) override;
  void note(const Milestone& milestone) override;
  bool stays() const override { return is_open() && end_of(milestones_) >= kLeastKept; }

 private:
  int open_locked();
  int open_journal();
  void drop_journal();
  int truncate_journal();
  bool begin_journal();
  void write_down(const Milestone& milestone);
  bool is_last_close() const;
  void remove_journal();
  void write_journal_again();
  void named() override {}
  int make_writable(const std::string& name) const;

  Fd lock_;     // a duplicate of the file's descriptor, which may be moved away
  Fd journal_;  // closed: no journal exists
  std::string journal_name_;
  std::vector<Milestone> milestones_;
  std::uint64_t journal_end_ = 0;  // bytes
  std::uint64_t discarded_ = 0;
};

}  // namespace joust
