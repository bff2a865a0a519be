// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "history/store.hpp"

namespace joust::history {

bool is_available() {
  return false;
}

std::unique_ptr<Store> open_store(const std::string& /*path*/) {
  throw std::runtime_error("this program was built without SQLite: script/setup history && script/build");
}

}  // namespace joust::history
