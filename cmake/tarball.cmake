# SPDX-License-Identifier: MIT
# cmake -DBUILD_DIR=... -DNAME=... -DWORK=... -P tarball.cmake makes WORK/NAME.tar.gz: the program without the
# engines on Qt and ZeroMQ, and beside it all libraries that it is linked with but the C library. It runs from
# wherever it is unpacked, on any system whose C library is not older.
cmake_minimum_required(VERSION 3.25)
set(folder ${WORK}/${NAME})
file(REMOVE_RECURSE ${folder})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --component program --strip --prefix ${folder}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${folder}/bin/joust RESOLVED_DEPENDENCIES_VAR libraries
     PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread)[.]so")
foreach(library IN LISTS libraries)
  file(COPY ${library} DESTINATION ${folder}/lib/joust FOLLOW_SYMLINK_CHAIN)
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${NAME}.tar.gz ${NAME} WORKING_DIRECTORY ${WORK}
                COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${folder})
