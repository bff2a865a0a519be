// SPDX-License-Identifier: MIT
#include "base/build_facts.hpp"

#include <joust_commit.hpp>  // written by cmake/commit.cmake

namespace joust::build {

const std::string_view kVersion = JOUST_VERSION, kCommit = JOUST_COMMIT, kType = JOUST_BUILD_TYPE,
                       kSanitizers = JOUST_SANITIZERS, kLibraries = JOUST_LIBRARIES,
                       kFolder = JOUST_BUILD_FOLDER;

}  // namespace joust::build
