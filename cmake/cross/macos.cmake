# SPDX-License-Identifier: MIT
# macOS on Apple's processors, from any system.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 22)  # macOS 13
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(JOUST_CROSS_TARGET aarch64-macos.13.0)
include("${CMAKE_CURRENT_LIST_DIR}/zig.cmake")
# zig knows the headers and libraries; Apple's tools, which CMake would ask for them, are not there.
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "")
set(CMAKE_INSTALL_NAME_TOOL true)
