// SPDX-License-Identifier: MIT
#include <joust/engines.hpp>

int main() { return joust::list_engines().empty() ? 1 : 0; }
