// SPDX-License-Identifier: MIT
//
// Endpoints as the tests of sockets name them.
#pragma once

#include <string>
#include <string_view>

#include "net/address.hpp"
#include "temporary_folder.hpp"

namespace joust::test {

inline Endpoint parsed(std::string_view text) {
  return resolve(text).value().front();
}

inline Endpoint socket_in(const TemporaryFolder& folder, const std::string& name) {
  return parsed("unix:" + folder.file(name));
}

}  // namespace joust::test
