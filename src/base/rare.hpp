// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

namespace joust {

// A member of a struct that its document (base/document.hpp) leaves out while it is empty. A member that is
// only std::optional is null there.
template <typename T>
struct Rare : std::optional<T> {
  using std::optional<T>::optional;
  Rare(std::optional<T> value) : std::optional<T>(std::move(value)) {}
};

}  // namespace joust
