# SPDX-License-Identifier: MIT
# The part that all toolchain files of this folder share: Clang and the other system's headers, both from zig.
# They are used by script/cross-check, which also puts the compiler where it is looked for here.
get_filename_component(cross "${CMAKE_CURRENT_LIST_DIR}/../../build/cross" ABSOLUTE)
set(zig "${cross}/zig")

set(CMAKE_CXX_COMPILER "${zig}" c++)
set(CMAKE_CXX_COMPILER_TARGET ${JOUST_CROSS_TARGET})
set(CMAKE_CXX_FLAGS_INIT "-isystem ${cross}/include")
# The program is compiled and linked, never run: fast code would be wasted time.
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -fno-sanitize=all" CACHE STRING "")
# zig is one program, and CMake wants the name of one for each tool.
set(CMAKE_AR "${zig}" CACHE FILEPATH "")
set(CMAKE_RANLIB "${zig}" CACHE FILEPATH "")
set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> ar q <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "<CMAKE_RANLIB> ranlib <TARGET>")

# Nothing of this machine's: the packages stand in `packages`, their headers in build/cross/include.
set(CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}/packages")
set(CMAKE_PREFIX_PATH "${CMAKE_CURRENT_LIST_DIR}/packages")
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_PACKAGE_PREFER_CONFIG ON)
foreach(package fmt CLI11 nlohmann_json Boost OpenSSL SQLiteCpp)
  set(${package}_DIR "${CMAKE_CURRENT_LIST_DIR}/packages")
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} "${CMAKE_CURRENT_LIST_DIR}/packages")
