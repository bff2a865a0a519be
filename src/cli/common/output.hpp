// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/command.hpp"

namespace joust {

// Returns "joust 0.3.0 (abc1234)" or, for another program, "calculator (joust 0.3.0, abc1234)". The commit is
// left out where the sources were no checkout.
std::string version_of(const Program& program);

// Formats rows under headings in aligned columns, each line ending with a newline. Control characters in a
// cell become \xHH.
std::string columns(std::vector<std::vector<std::string>> rows);

// Standard output cannot be written: a full disk behind a redirection, or a closed terminal.
class OutputError : public std::runtime_error {
 public:
  OutputError() : runtime_error("standard output: cannot be written") {}
};

// The reader of the pipe has closed it: head(1) has seen enough. No message is due, so main() writes none.
class ReaderLeft : public OutputError {};

// Writes and flushes the whole text: JSON, which is UTF-8 everywhere. Throws OutputError. For what the reader
// must have before the program goes on; print_list() is for all else.
void print_out(const std::string& text);
// Returns text for people: control characters that a terminal would obey are \xHH (printable()), and the rest
// is in the form that their locale can show.
std::string for_people(std::string_view text);
void print_text(const std::string& text);

// Prints a measured result that is ready to be shown. If standard output cannot be written, the text goes to
// standard error, and OutputError is thrown. A reader that has closed the pipe is no error.
void print_result(const std::string& text);

// Prints a listing, a help or last words. A reader that closes the pipe early is no error.
void print_list(const std::string& text);

// Prints text, and goes on if it cannot be written, because more must be reported: main() reports at the end
// that standard output is lost. Any thread.
void try_print_out(const std::string& text);
bool output_is_lost();  // a write has failed, and not because the reader has left

// Flushes at the end of the program. Throws OutputError if a write has failed: a full disk behind a
// redirection must not look like success.
void finish_output();

}  // namespace joust
