# SPDX-License-Identifier: MIT
# Steps shared by the package tests.

# Runs a command; a failure ends the test with the command and what it printed.
function(step what)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "COMMAND")
  message(STATUS "${what}")
  execute_process(COMMAND ${arg_COMMAND} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    list(JOIN arg_COMMAND " " command)
    message(FATAL_ERROR "${what}: '${command}' exits with ${result}:\n${output}\n${errors}")
  endif()
  if(arg_OUTPUT)
    set(${arg_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()

# A fresh build directory compiles without optimization, which is quickest; but where a compiler cache holds
# the objects of the build under test, asking for the same ones is quicker still.
set(configure_flags -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER})
if(LAUNCHER)
  list(APPEND configure_flags -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
else()
  list(APPEND configure_flags -DCMAKE_BUILD_TYPE=Debug)
endif()
