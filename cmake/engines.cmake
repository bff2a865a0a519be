# SPDX-License-Identifier: MIT
# Engines that need Linux. A file of src/engines/ says so in a line at its top:
#
#     // Needs Linux: REASON        the page of an engine
#     // Needs Linux.               a file without a descriptor
#
# On other systems such files are not compiled. joust_replace_linux_engines() takes them out of a list of
# sources, and writes a file with a row for each of their engines, so that a command can name the engine and
# reports the reason.
function(joust_replace_linux_engines sources rows)
  set(kept "")
  set(text "// Made by cmake/engines.cmake.\n#include \"engines/engine.hpp\"\n\nnamespace joust {\n")
  foreach(source IN LISTS ${sources})
    file(STRINGS "${source}" need REGEX "^// Needs Linux[.:]" LIMIT_COUNT 1)
    if(NOT need)
      list(APPEND kept "${source}")
      continue()
    endif()
    file(READ "${source}" page)
    if(NOT page MATCHES "\nextern const Engine (k[A-Za-z]+){[ \n]*\\.name = \"([^\"]+)\"")
      continue()
    endif()
    string(REPLACE "\\;" ";" need "${need}")
    set(engine ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2})
    if(NOT need MATCHES "^// Needs Linux: (.+)$")
      message(FATAL_ERROR "${source}: write the reason that other systems show: // Needs Linux: REASON")
    endif()
    string(APPEND text "\nextern const Engine ${engine}{\n"
           "    .name = \"${name}\", .summary = \"for Linux only\", .threads = \"-\",\n"
           "    .unavailable = [] { return std::string(\"${CMAKE_MATCH_1}\"); }};\n")
  endforeach()
  file(CONFIGURE OUTPUT "${rows}" CONTENT "${text}\n}  // namespace joust\n" @ONLY)
  set(${sources} ${kept} "${rows}" PARENT_SCOPE)
endfunction()
