// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <vector>

#include "race/scenario/scenario.hpp"
#include "race/scenario/toml_reader.hpp"

namespace joust::race {

// The sizes that a scenario has tables for.
using Sizes = std::set<Size>;

// Reads the table [socket] of a document or of a case, which overwrites only the values it gives.
void read_socket(TableReader& reader, SocketPlan& socket);

// Reads what a document says of the loads: its own [options], [load] and [sweep], and its [[case]] tables,
// each of which overwrites only the values it gives, of the document's [socket] too. The tables [quick] and
// [full], of the document or a case, do so where their size is wanted.
Sizes read_cases(TableReader& reader, const Catalogue& catalogue, Size wanted, const SocketPlan& socket,
                 std::vector<Case>& cases);

}  // namespace joust::race
