// SPDX-License-Identifier: MIT
#include <joust/time.hpp>

int main() { return joust::Clock::now() > joust::Time{} ? 0 : 1; }
