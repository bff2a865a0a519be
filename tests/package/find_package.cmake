# SPDX-License-Identifier: MIT
# Installs joust, moves what was installed elsewhere, and builds an outside project against it.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

file(REMOVE_RECURSE ${WORK})
step("install" COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK}/first)
# Moved, because a package that only works where it was first put is of no use to a packager.
file(RENAME ${WORK}/first ${WORK}/moved)

file(GLOB_RECURSE package_files ${WORK}/moved/*.cmake ${WORK}/moved/*.hpp)
foreach(file IN LISTS package_files)
  file(READ ${file} text)
  foreach(path ${SOURCE_DIR} ${WORK}/first)
    string(FIND "${text}" "${path}/" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names ${path}: an installed file must not refer to where it was built")
    endif()
  endforeach()
endforeach()

step("run the installed program" COMMAND ${WORK}/moved/bin/joust engines)
file(GLOB built ${BUILD_DIR}/joust*)  # the program, its modules, the relay
step("look where the programs look for libraries"
     COMMAND ${PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/search_paths.py ${built} ${BUILD_DIR}/benchmarks
             ${BUILD_DIR}/examples ${WORK}/moved)
step("look at what is installed" COMMAND ${PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/installed.py ${WORK}/moved)

# outside: the headers, each on its own. The others: examples, copied out of the source tree as by a user.
set(examples calculator chat two_servers)
list(TRANSFORM examples PREPEND ${SOURCE_DIR}/examples/ OUTPUT_VARIABLE folders)
file(COPY ${folders} ${CMAKE_CURRENT_LIST_DIR}/outside DESTINATION ${WORK}/projects)
foreach(project outside ${examples})
  step("configure ${project}"
       COMMAND ${CMAKE_COMMAND} -S ${WORK}/projects/${project} -B ${WORK}/${project} ${configure_flags}
               -DCMAKE_PREFIX_PATH=${WORK}/moved)
  step("build ${project}" COMMAND ${CMAKE_COMMAND} --build ${WORK}/${project})
endforeach()
step("run outside" COMMAND ${WORK}/outside/outside)
step("run two_servers" COMMAND ${WORK}/two_servers/two_servers)
step("run calculator"
     COMMAND ${WORK}/calculator/calculator load -e null -p calculator -c 2 -m 10 --json ${WORK}/result.json)
file(READ ${WORK}/result.json result)
string(JSON verified GET "${result}" messages verified)
if(NOT verified EQUAL 20)
  message(FATAL_ERROR "2 connections with 10 messages each must verify 20 replies:\n${result}")
endif()
