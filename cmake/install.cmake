# SPDX-License-Identifier: MIT
# The program with its documents and scenarios, the library, its public headers and a CMake package:
# find_package(joust), joust::joust.
include(CMakePackageConfigHelpers)

# A component is a package of its own (cmake/package.cmake); `cmake --install` installs all.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
set(JOUST_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/joust)

install(TARGETS joust EXPORT joustTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The tarball has the libraries there (tarball.cmake); a package has them where the system does.
# It has that path as soon as it is built: CMake would else keep room for it by empty entries, and an empty
# entry is the current directory.
set_target_properties(joust_program PROPERTIES INSTALL_RPATH "\$ORIGIN/../lib/joust"
                      INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS joust_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(library qt zeromq)
  if(TARGET joust_${library})
    install(TARGETS joust_${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/joust COMPONENT ${library})
  endif()
endforeach()
if(TARGET joust_relay)
  install(TARGETS joust_relay RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/joust COMPONENT hosts)
endif()
# The manual page and the completions are printed by the program itself. A program for another system cannot
# run here, and one with a sanitizer only under conditions.
if(NOT CMAKE_CROSSCOMPILING AND NOT JOUST_SANITIZE)
  set(manual ${PROJECT_BINARY_DIR}/manual)
  set(printed joust.1 joust.bash _joust joust.fish)
  list(TRANSFORM printed PREPEND ${manual}/)
  add_custom_command(OUTPUT ${printed} DEPENDS joust_program VERBATIM
                     COMMAND joust_program man > ${manual}/joust.1
                     COMMAND joust_program completions bash > ${manual}/joust.bash
                     COMMAND joust_program completions zsh > ${manual}/_joust
                     COMMAND joust_program completions fish > ${manual}/joust.fish)
  file(MAKE_DIRECTORY ${manual})
  add_custom_target(joust_manual ALL DEPENDS ${printed})
  install(FILES ${manual}/joust.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${manual}/joust.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME joust)
  install(FILES ${manual}/_joust DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${manual}/joust.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
# What is installed, without the tests.
add_custom_target(packed DEPENDS joust_program joust $<TARGET_NAME_IF_EXISTS:joust_manual>)
install(DIRECTORY include/joust DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp"
        PATTERN "*.h")
# Under the paths by which the documents name one another and the examples. Left out is what is about the
# sources: how to change them, what was measured of them, and scenarios that need a build of them.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "add-a*.md" EXCLUDE
        PATTERN "bring-your-engine.md" EXCLUDE
        PATTERN "decisions" EXCLUDE PATTERN "benchmarks.md" EXCLUDE
        PATTERN "findings.md" EXCLUDE PATTERN "findings/*.*" EXCLUDE PATTERN "findings/results" EXCLUDE
        PATTERN "findings/scenarios" EXCLUDE PATTERN "teach" EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "examples/CMakeLists.txt" EXCLUDE
        PATTERN "examples/languages" EXCLUDE PATTERN "examples/websocket" EXCLUDE
        PATTERN "examples/engine" EXCLUDE)
install(DIRECTORY scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/joust
        PATTERN "bare-loop.toml" EXCLUDE PATTERN "plain-programs.toml" EXCLUDE)
# The servers of scenarios, which name them by their place beside their own folder.
set(servers apache caddy h2o lighttpd nginx rsync_daemon)
list(TRANSFORM servers REPLACE "(.+)" "benchmarks/\\1.sh")
install(PROGRAMS ${servers} DESTINATION ${CMAKE_INSTALL_DATADIR}/joust/benchmarks)
install(DIRECTORY examples/languages examples/websocket DESTINATION ${CMAKE_INSTALL_DATADIR}/joust/examples
        USE_SOURCE_PERMISSIONS)
install(PROGRAMS script/recompute DESTINATION ${CMAKE_INSTALL_DATADIR}/joust/script)
install(DIRECTORY script/recomputing DESTINATION ${CMAKE_INSTALL_DATADIR}/joust/script
        FILES_MATCHING PATTERN "*.py")
install(EXPORT joustTargets NAMESPACE joust:: DESTINATION ${JOUST_PACKAGE_DIR})

# A static library leaves its dependencies to whoever links it; the package finds those it was built with.
set(JOUST_PACKAGE_NEEDS_URING ${JOUST_HAVE_URING})
set(JOUST_PACKAGE_NEEDS_KQUEUE ${JOUST_LINKS_KQUEUE})
set(JOUST_PACKAGE_NEEDS_LIBUV ${JOUST_HAVE_LIBUV})
set(JOUST_PACKAGE_NEEDS_LIBEVENT ${JOUST_HAVE_LIBEVENT})
configure_package_config_file(cmake/joustConfig.cmake.in ${PROJECT_BINARY_DIR}/joustConfig.cmake
                              INSTALL_DESTINATION ${JOUST_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/joustConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/joustConfig.cmake ${PROJECT_BINARY_DIR}/joustConfigVersion.cmake
        DESTINATION ${JOUST_PACKAGE_DIR})
