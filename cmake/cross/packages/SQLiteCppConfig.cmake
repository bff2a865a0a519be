# SPDX-License-Identifier: MIT
# SQLiteCpp's headers, which script/cross-check has put where the compiler looks. There is no library to link.
if(NOT TARGET SQLiteCpp)
  add_library(SQLiteCpp INTERFACE IMPORTED)
endif()
