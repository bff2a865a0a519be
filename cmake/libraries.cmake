# SPDX-License-Identifier: MIT
# The libraries that joust is built on. One that is missing ends the configuration, unless it is optional.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Boost 1.81 REQUIRED)  # headers only: Asio, Beast and PFR
find_package(OpenSSL 3.0 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(PROTOBUF REQUIRED IMPORTED_TARGET protobuf-lite)  # the library without reflection
find_program(PROTOC protoc REQUIRED)

# Code for AVX2 and AVX-512, chosen at run time: on x86, where the distribution has built it in.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::XXHASH)
check_cxx_source_compiles("#include <xxh_x86dispatch.h>
int main() { return static_cast<int>(XXH3_64bits(\"\", 0)); }" JOUST_XXHASH_DISPATCHES)
unset(CMAKE_REQUIRED_LIBRARIES)

# Optional are those that a system may really lack, or that would burden every user. JOUST_HAVE_... is set for
# those that are there. An engine whose library is missing keeps its row, with the reason.
foreach(part URING QT ZEROMQ LIBUV LIBEVENT LIBEV MPI KQUEUE)
  set(JOUST_HAVE_${part} "")
endforeach()
# joust_optional(PART MODULE) looks for a library by pkg-config.
function(joust_optional part module)
  string(TOUPPER ${part} upper)
  if(part IN_LIST JOUST_DISABLE)
    unset(${upper}_VERSION CACHE)
    unset(__pkg_config_checked_${upper} CACHE)  # asked again if it is wanted again
  else()
    pkg_check_modules(${upper} IMPORTED_TARGET ${module})
    set(JOUST_HAVE_${upper} "${${upper}_FOUND}" PARENT_SCOPE)
  endif()
endfunction()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  joust_optional(uring liburing>=2.3)
  joust_optional(zeromq libzmq>=4.3)
  joust_optional(mpi ompi-c>=4.0)  # Open MPI, of which joust knows the variables and options
  # A relay sleeps until bytes come to one of MPI's sockets. With Open MPI 5.0 it then gets no message.
  if(JOUST_HAVE_MPI AND MPI_VERSION VERSION_GREATER_EQUAL 5)
    message(STATUS "Loads and races over several hosts need Open MPI 4, and here is ${MPI_VERSION}")
    set(JOUST_HAVE_MPI "")
  endif()
endif()
joust_optional(libuv libuv>=1.40)
joust_optional(libevent libevent_core>=2.1)
if(NOT "qt" IN_LIST JOUST_DISABLE)
  find_package(Qt6 6.4 QUIET COMPONENTS Core Network)
  set(JOUST_HAVE_QT "${Qt6_FOUND}")
endif()
# libev has no file for pkg-config.
if(NOT "libev" IN_LIST JOUST_DISABLE)
  find_library(LIBEV_LIBRARY ev)
  find_path(LIBEV_INCLUDE ev.h)
  if(LIBEV_LIBRARY AND LIBEV_INCLUDE)
    set(JOUST_HAVE_LIBEV ON)
    file(STRINGS "${LIBEV_INCLUDE}/ev.h" lines REGEX "^#define EV_VERSION_(MAJOR|MINOR) ")
    string(REGEX REPLACE "[^0-9]+([0-9]+);[^0-9]+([0-9]+).*" "\\1.\\2" LIBEV_VERSION "${lines}")
  endif()
endif()
# kqueue is a part of macOS and BSD; on Linux it is a library.
include(CheckSymbolExists)
check_symbol_exists(kqueue "sys/types.h;sys/event.h" JOUST_NATIVE_KQUEUE)
if(NOT JOUST_NATIVE_KQUEUE)
  joust_optional(kqueue libkqueue)
elseif(NOT "kqueue" IN_LIST JOUST_DISABLE)
  set(JOUST_HAVE_KQUEUE ON)
endif()
set(JOUST_LINKS_KQUEUE "")
if(JOUST_HAVE_KQUEUE AND NOT JOUST_NATIVE_KQUEUE)
  set(JOUST_LINKS_KQUEUE ON)
endif()

# The versions, for results: "liburing=2.3,boost=1.81.0". Boost.Asio and Boost.Beast have Boost's number. Qt
# and ZeroMQ are loaded when one of their engines runs.
set(versions liburing=${URING_VERSION} boost=${Boost_VERSION_STRING} qt=${Qt6_VERSION}
    zeromq=${ZEROMQ_VERSION} libuv=${LIBUV_VERSION} libevent=${LIBEVENT_VERSION} libev=${LIBEV_VERSION}
    protobuf=${PROTOBUF_VERSION} openssl=${OPENSSL_VERSION} libkqueue=${KQUEUE_VERSION})
list(TRANSFORM versions REPLACE "=$" "=none")
list(JOIN versions "," JOUST_LIBRARIES)
