// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "files/store/storage.hpp"
#include "joust/time.hpp"
#include "race/model/result.hpp"
#include "race/model/scenario.hpp"
#include "race/trial/process_family.hpp"
#include "race/trial/runner.hpp"
#include "race/trial/temporary_folder.hpp"

namespace joust::race {

// The folders between which commands move files.

// The files of a case, named 00000, 00001 ..., and fresh folders as their targets. One thread.
class MovedFiles {
 public:
  // Writes the files, with contents that do not compress. Throws std::system_error.
  explicit MovedFiles(const FilePlan& plan);

  const std::string& from() const { return source_; }
  std::string last() const;  // the name of the last file
  // Makes an empty folder with the same name as the folder of the files. Earlier writes are on the disk by
  // then. For a target in memory, as much memory as it needs was in use recently.
  std::string fresh_target();
  // Compares every byte of the folder that fresh_target() made. Returns the difference in words; empty if the
  // folder has copies of these files and nothing else. Links and the files themselves are no copies.
  std::string difference() const;
  // Returns in words what a command has changed of the source files; empty if they are unchanged. Writes
  // changed files again, for other contestants.
  std::string restore();
  void remove_target();

 private:
  void write_sources();
  void use_memory_once(const std::string& path) const;
  std::string changed() const;

  FilePlan plan_;
  std::vector<FileVersion> versions_;  // versions of the files
  TemporaryFolder source_parent_;
  std::string source_;
  std::unique_ptr<TemporaryFolder> target_;
  Fd target_folder_;  // the folder of the files in target_
};

// The files of all cases of a race. They are written when they are first needed.
class MovedFilesOfRace {
 public:
  MovedFiles& of(const FilePlan& plan);

 private:
  std::map<FilePlan, MovedFiles> files_;
};

// Returns why the files and a copy of them do not fit in their place, beside `beside` bytes of other cases.
// Empty if they do.
std::string no_room_for(const FilePlan& files, std::uint64_t beside);

// Returns the path of this program, as a word of a shell command.
std::string own_program();

// Records a transfer that took so long, with the usage of its command. `wrong`: what is wrong with the files
// that have arrived; empty if nothing is. A wrong file makes the whole transfer a failed one.
void note_transfer(const FilePlan& files, Duration took, const Usage& usage, const std::string& wrong,
                   Trial& trial);

// Runs one contestant that moves the files once, with a server of its own if it has one. The time is that of
// its whole command, from before its start to its end. Whether all bytes arrived is checked afterwards.
Trial run_transfer(const ProcessSetup& setup, const TrialOrder& order, MovedFilesOfRace& files);

}  // namespace joust::race
