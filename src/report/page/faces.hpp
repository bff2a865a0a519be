// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/page/document.hpp"

// The forms in which the result of a race is shown to others. Each is made of the document alone.
namespace joust::report::page {

// A page without scripts that loads nothing: it opens from a disk and in a mail.
std::string html_page(const Document& document);
// A comment for a pull request: the verdict, a table for each case, the checks that warn, and the command.
std::string markdown_text(const Document& document);
// A row for each figure of each contestant, exact: comma-separated values as in RFC 4180.
std::string csv_text(const Document& document);

}  // namespace joust::report::page
