# SPDX-License-Identifier: MIT
# joust_one_file(SOURCES PATTERN NAME) replaces the files of a list whose paths match by one file that
# includes them.
function(joust_one_file sources pattern name)
  set(together ${${sources}})
  list(FILTER together INCLUDE REGEX "${pattern}")
  if(NOT together)
    return()
  endif()
  set(rest ${${sources}})
  list(REMOVE_ITEM rest ${together})
  list(TRANSFORM together REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN together "\n" includes)
  set(file ${PROJECT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${file} CONTENT "${includes}\n" @ONLY)
  set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${sources} ${rest} ${file} PARENT_SCOPE)
endfunction()
