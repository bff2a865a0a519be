# SPDX-License-Identifier: MIT
add_library(CLI11::CLI11 INTERFACE IMPORTED)
