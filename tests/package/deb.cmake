# SPDX-License-Identifier: MIT
# The Debian packages and the tarball that script/package makes, of what is built.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
foreach(tool cpack dpkg-deb dpkg-shlibdeps tar)
  find_program(found_${tool} ${tool})
  if(NOT found_${tool})
    message(STATUS "skipped: ${tool} not found")
    return()
  endif()
endforeach()

file(REMOVE_RECURSE ${WORK})
step("pack" COMMAND ${found_cpack} --config ${BUILD_DIR}/CPackConfig.cmake -B ${WORK})

# expect(WHAT LIST PATTERNS...): the list of files matches each pattern.
function(expect what list)
  foreach(pattern IN LISTS ARGN)
    if(NOT list MATCHES "${pattern}")
      message(FATAL_ERROR "${what} has nothing like '${pattern}':\n${list}")
    endif()
  endforeach()
endfunction()

file(GLOB package ${WORK}/joust_*.deb)
step("list the package" COMMAND ${found_dpkg-deb} --contents ${package} OUTPUT files)
expect("the package" "${files}" "-rwxr-xr-x [^\n]* ./usr/bin/joust\n"
       "./usr/share/joust/scenarios/first-look.toml"
       "./usr/share/joust/script/recompute\n" "./usr/share/doc/joust/LICENSE"
       "./usr/share/doc/joust/docs/howto/read-a-report.md"
       "./usr/share/man/man1/joust.1" "./usr/share/bash-completion/completions/joust"
       "./usr/share/zsh/vendor-completions/_joust" "./usr/share/fish/vendor_completions.d/joust.fish")
if(files MATCHES "joust_(qt|zeromq)|joust-relay")
  message(FATAL_ERROR "the engines on large libraries have packages of their own:\n${files}")
endif()
step("read its fields" COMMAND ${found_dpkg-deb} --field ${package} Depends OUTPUT depends)
expect("Depends:" "${depends}" "libc6" "libfmt")
if(depends MATCHES "qt6|zmq|openmpi")
  message(FATAL_ERROR "the program needs neither Qt, ZeroMQ nor Open MPI: ${depends}")
endif()

step("make the tarball" COMMAND ${CMAKE_COMMAND} -DBUILD_DIR=${BUILD_DIR} -DNAME=joust-x -DWORK=${WORK}
                                -P ${CMAKE_CURRENT_LIST_DIR}/../../cmake/tarball.cmake)
step("unpack the tarball" COMMAND ${found_tar} xzf ${WORK}/joust-x.tar.gz -C ${WORK})
step("look where its programs look for libraries"
     COMMAND ${PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/search_paths.py ${WORK}/joust-x)
step("run it" COMMAND ${WORK}/joust-x/bin/joust scenarios OUTPUT scenarios)
expect("joust scenarios" "${scenarios}" "first-look")
# All libraries but that of C are in the tarball.
step("list its libraries" COMMAND ldd ${WORK}/joust-x/bin/joust OUTPUT libraries)
string(REGEX MATCHALL "[^ \n\t]+ => /[^ ]+" libraries "${libraries}")
foreach(library IN LISTS libraries)
  if(NOT library MATCHES "^lib(c|m|dl|rt|pthread)[.]so" AND NOT library MATCHES "/joust-x/")
    message(FATAL_ERROR "the program of the tarball takes a library from the system: ${library}")
  endif()
endforeach()

# Unpacked anywhere, the program of the package finds its scenarios.
step("unpack" COMMAND ${found_dpkg-deb} --extract ${package} ${WORK}/unpacked)
step("look where its programs look for libraries"
     COMMAND ${PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/search_paths.py ${WORK}/unpacked)
step("run it" COMMAND ${WORK}/unpacked/usr/bin/joust scenarios OUTPUT scenarios)
expect("joust scenarios" "${scenarios}" "first-look")
