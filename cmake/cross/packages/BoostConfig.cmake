# SPDX-License-Identifier: MIT
# Boost's headers, which script/cross-check has put where the compiler looks.
set(Boost_VERSION_STRING 1.81.0)
if(NOT TARGET Boost::headers)
  add_library(Boost::headers INTERFACE IMPORTED)
endif()
