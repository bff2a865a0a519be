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

# How a fresh build directory uses the compiler and the compiler cache of the build under test.
set(configure_flags -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Debug)
if(LAUNCHER)
  list(APPEND configure_flags -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
endif()
