// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

// What the place behind a descriptor can show. All output of a program asks here.
namespace joust {

// Whether it is a terminal that obeys escape sequences. One without a TERM, or a dumb one, shows them.
bool obeys_escapes(int descriptor);

// The same, and colours are wanted: NO_COLOR is unset or empty.
bool shows_colours(int descriptor);

// Asked each time, because a window changes its size. `otherwise`: what is no terminal, or has no width.
std::size_t columns_of(int descriptor, std::size_t otherwise);

}  // namespace joust
