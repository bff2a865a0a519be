// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "history/store.hpp"

// The forms of what the sub-command `history` shows.
namespace joust {

std::string history_table(std::span<const history::Entry> entries, const std::string& program);
std::string history_entry(const history::Entry& entry);
// Returns the document that docs/history.schema.json describes. `file`: of the history.
std::string history_json(const std::string& file, std::span<const history::Entry> entries);

// Returns a row for each race of the history that has all figures of this one, in the same environment, the
// oldest first. Columns: its time, number and version, then one for each figure of each contestant. Throws
// std::runtime_error if this result has no figures.
std::string otava_csv(history::Store& store, const history::Entry& entry);

}  // namespace joust
