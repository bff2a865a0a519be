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

step("run the installed program" COMMAND ${WORK}/moved/bin/joust)
step("configure the outside project"
     COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/outside -B ${WORK}/outside ${configure_flags}
             -DCMAKE_PREFIX_PATH=${WORK}/moved)
step("build the outside project" COMMAND ${CMAKE_COMMAND} --build ${WORK}/outside)
step("run the outside project" COMMAND ${WORK}/outside/outside)
