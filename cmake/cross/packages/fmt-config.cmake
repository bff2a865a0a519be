# SPDX-License-Identifier: MIT
# {fmt} as headers only: what is installed here as a library is for this system.
add_library(fmt::fmt INTERFACE IMPORTED)
set_target_properties(fmt::fmt PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
