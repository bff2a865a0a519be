# SPDX-License-Identifier: MIT
# joust as where only the core packages are installed: neither liburing nor GoogleTest. The configuration is
# made anew; the program was built beside the tests.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

step("configure without the optional libraries"
     COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK} ${configure_flags}
             -DJOUST_DISABLE=uring -DJOUST_TESTS=ON -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON)
step("list the engines" COMMAND ${PROGRAM} engines --json OUTPUT engines)

string(JSON count LENGTH "${engines}")
set(row NOTFOUND)
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  string(JSON name GET "${engines}" ${index} name)
  if(name STREQUAL "io-uring")
    string(JSON row GET "${engines}" ${index})
  endif()
endforeach()
if(NOT row)
  message(FATAL_ERROR "an engine whose library is missing must keep its row; listed is:\n${engines}")
endif()
string(JSON available GET "${row}" available)
string(JSON reason GET "${row}" reason)
if(available OR NOT reason MATCHES "liburing")
  message(FATAL_ERROR "io-uring must be unavailable for want of liburing; its row is:\n${row}")
endif()
message(STATUS "io-uring: ${reason}")
