# SPDX-License-Identifier: MIT
# FreeBSD on x86-64, from any system.
set(CMAKE_SYSTEM_NAME FreeBSD)
set(CMAKE_SYSTEM_VERSION 14)
set(CMAKE_SYSTEM_PROCESSOR amd64)
set(JOUST_CROSS_TARGET x86_64-freebsd.14.0)
include("${CMAKE_CURRENT_LIST_DIR}/zig.cmake")
