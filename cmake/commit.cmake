# SPDX-License-Identifier: MIT
# Writes the commit of SOURCE_DIR into the header OUTPUT, at each build: "abc1234", or "abc1234-dirty" where
# files of it have changed. Empty in sources without a repository of their own, as from an archive, and
# without git. The header is written only where it changes, so that nothing is compiled for the same commit.
set(commit "")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE_DIR} describe --always --dirty --abbrev=7
                          --exclude=*
                  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(text "// SPDX-License-Identifier: MIT\n#define JOUST_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
