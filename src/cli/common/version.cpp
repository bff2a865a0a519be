// SPDX-License-Identifier: MIT
#include "cli/common/version.hpp"

#include <fmt/format.h>

#include "base/build_facts.hpp"

namespace joust {

std::string version_of(const Program& program) {
  const std::string library = fmt::format("joust {}", build::kVersion);
  if (program.name == "joust")
    return build::kCommit.empty() ? library : fmt::format("{} ({})", library, build::kCommit);
  return fmt::format("{} ({}{}{})", program.name, library, build::kCommit.empty() ? "" : ", ",
                     build::kCommit);
}

}  // namespace joust
