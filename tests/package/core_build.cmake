# SPDX-License-Identifier: MIT
# joust as where only the core packages are installed: neither liburing, Boost.Beast, Protocol Buffers,
# OpenSSL, SQLite nor GoogleTest. The configuration is made anew; the program was built beside the tests.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

step("configure without the optional libraries"
     COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK} ${configure_flags}
             "-DJOUST_DISABLE=uring\;protobuf\;http\;openssl\;sqlite\;re2\;mpi" -DJOUST_TESTS=ON
             -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON)

# expect_unavailable(LIST NAME LIBRARY): the row of `joust LIST --json` is there, with the reason.
function(expect_unavailable list name library)
  step("list the ${list}" COMMAND ${PROGRAM} ${list} --json OUTPUT rows)
  string(JSON count LENGTH "${rows}")
  set(row NOTFOUND)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON each GET "${rows}" ${index} name)
    if(each STREQUAL name)
      string(JSON row GET "${rows}" ${index})
    endif()
  endforeach()
  if(NOT row)
    message(FATAL_ERROR "what lacks its library must keep its row; of ${list}, listed is:\n${rows}")
  endif()
  string(JSON available GET "${row}" available)
  string(JSON reason GET "${row}" reason)
  if(available OR NOT reason MATCHES "${library}")
    message(FATAL_ERROR "${name} must be unavailable for want of ${library}; its row is:\n${row}")
  endif()
  message(STATUS "${name}: ${reason}")
endfunction()

expect_unavailable(engines io-uring liburing)
expect_unavailable(protocols work "Protocol Buffers")
expect_unavailable(protocols http "Boost.Beast")
expect_unavailable(protocols websocket "OpenSSL 3")

foreach(command "serve" "load;--connect;127.0.0.1:1" "race;--server;epoll;--quick")
  execute_process(COMMAND ${PROGRAM} ${command} -p work RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(NOT result EQUAL 1 OR NOT errors MATCHES "'work' is unavailable: Protocol Buffers not found")
    message(FATAL_ERROR "'${command} -p work' must be refused with the reason, not ${result}:\n${errors}")
  endif()
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} -E env JOUST_TOKEN=0123456789abcdef0123456789abcdef
                        ${PROGRAM} receive RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 2 OR NOT errors MATCHES "OpenSSL 3 not found .*script/setup tls")
  message(FATAL_ERROR "a token must be refused with the reason, not ${result}:\n${errors}")
endif()

execute_process(COMMAND ${PROGRAM} history RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 1 OR NOT errors MATCHES "without SQLite.*script/setup history")
  message(FATAL_ERROR "the history must be refused with the reason, not ${result}:\n${errors}")
endif()

execute_process(COMMAND ${PROGRAM} load --hosts a,b --connect 192.0.2.1:9
                RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 2 OR NOT errors MATCHES "joust-hosts.*script/setup hosts")
  message(FATAL_ERROR "several hosts must be refused with what to install, not ${result}:\n${errors}")
endif()
