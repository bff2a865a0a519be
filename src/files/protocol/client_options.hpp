// SPDX-License-Identifier: MIT
#pragma once

#include "files/protocol/client_transfers.hpp"
#include "files/store/upload/local_files.hpp"
#include "joust/load_plan.hpp"
#include "joust/protocol.hpp"

namespace joust::file {

// Parse the options of a load. Both throw std::invalid_argument for invalid options.
TransferOptions transfer_options(const Parameters& parameters, const LoadPlan& plan);
LocalFilesRules local_files_rules(const Parameters& parameters, const TransferOptions& options,
                                  const LoadPlan& plan);

// Returns the demands of a side's options on engines; the plan of a server is null. Throws
// std::invalid_argument.
Demands demands_of(const Parameters& parameters, const LoadPlan* plan);

}  // namespace joust::file
