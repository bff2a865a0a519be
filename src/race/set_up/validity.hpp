// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "race/model/scenario.hpp"

namespace joust::race {

// The functions below return error messages that name the allowed values and the nearest match.
std::optional<std::string> check_engine(const std::string& name, Role role, const Catalogue& catalogue);
std::optional<std::string> check_name(const std::string& name);  // of a contestant
// Sets the protocol of a case: by its name, or by the path of a plug-in, which has a '/' and is relative to
// the folder of `file` (empty: to the current one). Another protocol begins without options.
std::optional<std::string> set_protocol(Case& one, const std::string& name, const Catalogue& catalogue,
                                        const std::string& file);
std::optional<std::string> check_load(const Case& one, GivenIn place = GivenIn::scenario);
std::optional<std::string> check_reference(const Scenario& scenario);
std::optional<std::string> check_payload(const Case& one, const Catalogue& catalogue);
std::optional<std::string> check_cpus(const std::string& list);

// Checks an option of the case's protocol.
std::optional<std::string> check_option(const std::string& protocol, const std::string& option,
                                        const std::string& value, const Catalogue& catalogue);

// Fills in the remaining defaults and checks the whole: unique names, an existing reference, at least one
// contestant and one case.
std::optional<std::string> complete(Scenario& scenario, const Catalogue& catalogue);

}  // namespace joust::race
