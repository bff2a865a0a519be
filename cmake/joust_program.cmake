# SPDX-License-Identifier: MIT
# joust_program(NAME ENGINE.cpp...) makes a joust that has these engines beside its own, and the program
# NAME_conformance, which tests them. The row of an engine begins with `extern const Engine kName{`. Both
# programs have a table of engines of their own, so the one of the library is not linked.
function(joust_program name)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..)
  set(rows "")
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} row REGEX "^extern const Engine k[A-Za-z0-9]+{")
    if(NOT row)
      message(FATAL_ERROR "${file} has no row of an engine: extern const Engine kName{")
    endif()
    string(REGEX REPLACE "^extern const Engine (k[A-Za-z0-9]+){.*" " engine(\\1)" row "${row}")
    string(APPEND rows "${row}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${name}_engines.hpp)
  file(CONFIGURE OUTPUT ${header} CONTENT "#define JOUST_MORE_ENGINES(engine)${rows}\n")

  add_executable(${name} ${root}/src/cli/program.cpp ${root}/src/engines/table.cpp ${ARGN})
  set(programs ${name})
  if(JOUST_TESTS AND GTest_FOUND AND rapidcheck_FOUND)
    set(suite ${name}_conformance)
    add_executable(${suite} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:conformance_tests>
                   $<TARGET_OBJECTS:test_watchdog> ${root}/src/engines/table.cpp ${ARGN})
    # What the program links, which may be named after this call.
    target_link_libraries(${suite} PRIVATE GTest::gtest_main $<TARGET_PROPERTY:${name},LINK_LIBRARIES>)
    list(APPEND programs ${suite})
  endif()
  foreach(program IN LISTS programs)
    set_target_properties(${program} PROPERTIES UNITY_BUILD OFF)
    target_compile_definitions(${program} PRIVATE JOUST_MORE_ENGINES_FILE="${header}")
    target_include_directories(${program} PRIVATE ${root}/src)
    target_link_libraries(${program} PRIVATE joust joust_flags fmt::fmt)
  endforeach()
endfunction()
