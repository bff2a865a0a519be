// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

#include "race/model/scenario.hpp"
#include "race/scenario/toml_reader.hpp"

namespace joust::race {

// The sizes for which a scenario has tables.
using Sizes = std::set<Size>;

// Reads the table [socket] of a document or of a case, which overwrites only the values it gives.
void read_socket(TableReader& reader, SocketPlan& socket);

// Returns the transports of a document's [sweep] transport = ["tcp", "unix"]; none without it.
std::vector<std::string> read_transports(const toml::table& document);

// Reads the cases of a scenario, whose file and [socket] are known: the document's own protocol, [options],
// [load] and [sweep], and its [[case]] tables. A [[case]] table overwrites only the values it gives, also
// those of [socket]. So do the tables [quick] and [full], of the document or a case, where their size is
// wanted.
Sizes read_cases(TableReader& reader, const Catalogue& catalogue, Size wanted, Scenario& scenario);

}  // namespace joust::race
