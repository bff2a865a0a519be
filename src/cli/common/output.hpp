// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace joust {

// A full disk behind a redirection, or a terminal that has been closed.
class OutputError : public std::runtime_error {
 public:
  OutputError() : runtime_error("standard output: cannot be written") {}
};

// Writes and flushes the whole text: JSON, which is UTF-8 everywhere. Throws OutputError.
void print_out(const std::string& text);
// Text for people: what a terminal would obey is \xHH (printable()), and the rest as their locale can show
// it.
std::string for_people(std::string_view text);
void print_text(const std::string& text);

// The same of what was measured, ready to be shown: where standard output cannot take it, standard error
// does, unless a reader has left.
void print_result(const std::string& text);

// The same of a listing or a help. A reader that has seen enough of it, such as head(1), is no error.
void print_list(const std::string& text);

// The same for what others must hear of even so: main() says at the end that standard output is lost.
void try_print_out(const std::string& text);
bool output_is_lost();  // something could not be written

// At the end of the program. Throws OutputError if anything could not be written: a full disk behind a
// redirection must not look like success.
void finish_output();

}  // namespace joust
