// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

// The names of files that have no final name yet. They follow from the final one, so that whoever comes next
// with that name finds what a killed process has left. Whoever writes a file of such a name holds its lock
// (flock), and nobody removes a file that is held.
namespace joust {

// Of large files, which outlive their process; their journals; and of all others.
inline constexpr std::string_view kPartialFile = "partial-", kJournalFile = "journal-", kNewFile = "new-";

// A name may be as long as a name can be: its digest takes its place. `number` tells apart those who write a
// file of the same name at the same time.
std::string temporary_name(std::string_view kind, std::string_view last_part, unsigned number = 0);

// True if a file of this name may be one that an interrupted process has left.
bool is_temporary(std::string_view name);

// Returns the errno, or 0: EBUSY if another process holds the file. Where the file system has no locks, two
// processes that receive one file at the same time spoil it for each other; the digest finds that in the end.
int lock_file(int fd);

// A file that others have put there might be read, or be a link to something else.
bool is_own(const struct stat& facts);
// The name still is that of the open file.
bool is_named(int fd, int folder, const std::string& name);

// Removes the file of that name. Returns the errno, or 0: ENOENT if there is none, EBUSY if it is held.
int remove_left(int folder, const std::string& name);
// Removes a large file that was interrupted, with its journal, unless it is being gone on with.
void remove_partial(int folder, std::string_view last_part);
// A process that was killed between linkat() and unlinkat() leaves the file, whose `facts` these are, under
// two names. Removes the temporary one.
void remove_second_name(int folder, std::string_view last_part, const struct stat& facts);

}  // namespace joust
