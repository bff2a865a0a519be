// SPDX-License-Identifier: MIT
#include <joust/engine.hpp>

int main() { return joust::find_engine("null") != nullptr ? 0 : 1; }
