// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

// The names of files that have no final name yet. A temporary name follows from the final one, so that the
// next upload of the final name finds the file that a killed process left. The process that writes such a
// file holds its lock (flock), and no process removes a locked file.
namespace joust {

// The kinds of temporary names: for large files, which outlive their process; for their journals; and for all
// other files.
inline constexpr std::string_view kPartialFile = "partial-", kJournalFile = "journal-", kNewFile = "new-";

// Returns the temporary name for a final name. It contains the digest of the final name, because that may
// have the maximum length already. `number` distinguishes files of one name that are written at the same
// time.
std::string temporary_name(std::string_view kind, std::string_view last_part, unsigned number = 0);

// True if a file of this name may have been left by an interrupted process.
bool is_temporary(std::string_view name);

// Locks an open file. Returns the errno, or 0: EBUSY if another process holds the lock. Returns 0 without a
// lock where the file system has no locks. There, two processes that receive one file at the same time damage
// each other's bytes; the digest detects that at the end.
int lock_file(int fd);

// True for a regular file of this user with one name. A file that another user has put there might be read by
// that user, or be a link to something else.
bool is_own(const struct stat& facts);
// True if the name still refers to the open file.
bool is_named(int fd, int folder, const std::string& name);

// Removes the file of that name. Returns the errno, or 0: ENOENT if no such file exists, EBUSY if it is
// locked.
int remove_left(int folder, const std::string& name);
// Removes an interrupted large file with its journal, unless it is being resumed. Returns whether it is gone;
// false if there was none.
bool remove_partial(int folder, std::string_view last_part);
// Removes the temporary one of two names of a file, whose `facts` these are. A process that was killed
// between linkat() and unlinkat() leaves a file with two names.
void remove_second_name(int folder, std::string_view last_part, const struct stat& facts);

}  // namespace joust
