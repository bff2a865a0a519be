// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "race/scenario/files.hpp"
#include "race/trial/temporary_folder.hpp"
#include "store/storage.hpp"

// The folders between which commands move files.
namespace joust::race {

// The files of a case, named 00000, 00001 ..., and fresh folders that they are moved into. One thread.
class MovedFiles {
 public:
  // Writes the files, with contents that do not compress. Throws std::system_error.
  explicit MovedFiles(const FilePlan& plan);

  const std::string& from() const { return source_; }
  std::string last() const;  // the name of the last file
  // Has the same name as the folder of the files. All that was written before is on the disk, and a target in
  // memory finds as much memory as it needs in use of late.
  std::string fresh_target();
  // Compares every byte. What is wrong, in words; empty if the target has these files and no others.
  std::string difference() const;
  // What a command has changed of the files themselves, in words; empty if they are as they were. Files that
  // are not are written again, for others.
  std::string restore();
  void remove_target() { target_.reset(); }

 private:
  void write_sources();
  void use_memory_once(const std::string& path) const;
  std::string changed() const;

  FilePlan plan_;
  std::vector<FileVersion> versions_;  // of the files
  TemporaryFolder source_parent_;
  std::string source_;
  std::unique_ptr<TemporaryFolder> target_;
};

// Of all cases of a race; the files are written when they are first needed.
class MovedFilesOfRace {
 public:
  MovedFiles& of(const FilePlan& plan);

 private:
  std::map<FilePlan, MovedFiles> files_;
};

// Why the files, and a copy of them, do not fit where they are to be beside so many bytes of other cases;
// empty if they do.
std::string no_room_for(const FilePlan& files, std::uint64_t beside);

}  // namespace joust::race
