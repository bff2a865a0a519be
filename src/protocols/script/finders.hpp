// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "protocols/script/binary_number.hpp"
#include "session/found_cutter.hpp"

namespace joust::script {

// A size before, or at a place of, a message.
struct SizeRules {
  BinaryNumber form{};
  std::size_t offset = 0;      // the bytes before it
  bool counts_itself = false;  // it counts its own bytes too; those before it are never counted
};

std::unique_ptr<Finder> length_finder(std::size_t size);
std::unique_ptr<Finder> ending_finder(std::string ending);
std::unique_ptr<Finder> size_finder(const SizeRules& rules);

}  // namespace joust::script
