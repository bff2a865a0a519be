// SPDX-License-Identifier: MIT
#include "cli/common/version.hpp"

#include <fmt/format.h>
#include <joust_commit.hpp>  // written by cmake/commit.cmake

#include <string_view>

namespace joust {

std::string version_of(const Program& program) {
  constexpr std::string_view kLibrary = "joust " JOUST_VERSION, kCommit = JOUST_COMMIT;
  if (program.name == "joust")
    return kCommit.empty() ? std::string(kLibrary) : fmt::format("{} ({})", kLibrary, kCommit);
  return fmt::format("{} ({}{}{})", program.name, kLibrary, kCommit.empty() ? "" : ", ", kCommit);
}

}  // namespace joust
