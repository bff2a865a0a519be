// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/page/markup.hpp"
#include "report/page/picture.hpp"
#include "report/page/tables.hpp"

// The parts that a page is made of. Colours and sizes are attributes; a style only adds to them.
namespace joust::report::page {

Markup heading(std::string_view words);
Markup paragraph(std::string_view kind, const Markup& content);
// Returns a part that is closed until a reader opens it.
Markup folded(const Markup& summary, const Markup& content);

// Returns pictures side by side where there is room, each with its caption and how to read it.
Markup figures_of(const std::vector<Picture>& pictures);
// Returns a table that scrolls by itself where it is too wide; empty for a table without rows.
Markup html_table(const FaceTable& table);

// Returns a whole document with this title and body.
std::string html_document(std::string_view title, const Markup& body);

}  // namespace joust::report::page
