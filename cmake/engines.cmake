# SPDX-License-Identifier: MIT
# Engines that need what a build may lack. A file of src/engines/ says so in lines at its top:
#
#     // Needs PART: REASON        the page of an engine
#     // Needs PART.               a file without a descriptor
#
# PART is Linux, or a part that JOUST_DISABLE may name. The first one that is missing counts.
string(COMPARE EQUAL "${CMAKE_SYSTEM_NAME}" Linux JOUST_HAVE_LINUX)

# joust_missing(SOURCE PART REASON) sets two variables to the part that the file lacks, and to why; both are
# empty if it lacks none.
function(joust_missing source part reason)
  set(${part} "" PARENT_SCOPE)
  set(${reason} "" PARENT_SCOPE)
  file(STRINGS "${source}" needs REGEX "^// Needs [A-Za-z]+[.:]")
  foreach(need IN LISTS needs)
    string(REGEX MATCH "^// Needs ([A-Za-z]+)[.:] *(.*)$" need "${need}")
    string(TOUPPER ${CMAKE_MATCH_1} upper)
    if(NOT DEFINED JOUST_HAVE_${upper})
      message(FATAL_ERROR "${source}: a build has no part '${CMAKE_MATCH_1}'")
    endif()
    if(NOT JOUST_HAVE_${upper})
      set(${part} ${CMAKE_MATCH_1} PARENT_SCOPE)
      set(${reason} "${CMAKE_MATCH_2}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Takes the files that lack something out of a list of sources, and writes a file with a row for each of their
# engines, so that a command can name the engine and reports the reason.
function(joust_replace_missing_engines sources rows)
  set(kept "")
  set(text "")
  foreach(source IN LISTS ${sources})
    set(part "")
    if(source MATCHES "/src/engines/")
      joust_missing("${source}" part reason)
    endif()
    if(NOT part)
      list(APPEND kept "${source}")
      continue()
    endif()
    file(READ "${source}" page)
    set(name_and_summary "[ \n]*\\.name = \"([^\"]+)\",[ \n]*\\.summary = \"([^\"]+)\",")
    if(page MATCHES "\nextern const Engine (k[A-Za-z]+){${name_and_summary}")
      if(NOT reason)
        message(FATAL_ERROR "${source}: write the reason that is shown: // Needs ${part}: REASON")
      endif()
      string(APPEND text "\nextern const Engine ${CMAKE_MATCH_1}{\n"
             "    .name = \"${CMAKE_MATCH_2}\", .summary = \"${CMAKE_MATCH_3}\", .threads = \"-\",\n"
             "    .unavailable = [] { return std::string(\"${reason}\"); }};\n")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    endif()
  endforeach()
  if(text)
    set(head "// Made by cmake/engines.cmake.\n#include \"engines/engine.hpp\"\n\nnamespace joust {\n")
    file(CONFIGURE OUTPUT "${rows}" CONTENT "${head}${text}\n}  // namespace joust\n" @ONLY)
    list(APPEND kept "${rows}")
  endif()
  set(${sources} ${kept} PARENT_SCOPE)
endfunction()
