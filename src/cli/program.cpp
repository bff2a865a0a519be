// SPDX-License-Identifier: MIT
#include "joust/main.hpp"
#include "protocols/table.hpp"

int main(int argc, char** argv) {
  return joust::main(argc, argv, joust::builtin_protocols());
}
