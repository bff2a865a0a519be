# SPDX-License-Identifier: MIT
# Finds Protocol Buffers: the library without reflection, and the compiler of messages.
# Newer releases have a CMake package of their own, which knows what else they need; the older ones of
# distributions are found by CMake's module.
find_package(Protobuf CONFIG QUIET)
if(NOT TARGET protobuf::libprotobuf-lite)
  find_package(Protobuf MODULE QUIET)
endif()
if(TARGET protobuf::libprotobuf-lite AND TARGET protobuf::protoc)
  set(JOUST_HAVE_PROTOBUF ON)
endif()

# joust_generate_messages(PROTO RESULT) compiles src/X/Y.proto at build time: `#include <X/Y.pb.h>`. RESULT
# is the source to be compiled. It is not our code, so our warnings do not apply to it, nor our
# precompiled headers.
function(joust_generate_messages proto result)
  cmake_path(RELATIVE_PATH proto BASE_DIRECTORY src OUTPUT_VARIABLE name)
  cmake_path(REMOVE_EXTENSION name)
  set(folder ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${folder}/${name}.pb.cc ${folder}/${name}.pb.h
    COMMAND protobuf::protoc --cpp_out ${folder} -I ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/${proto}
    DEPENDS ${PROJECT_SOURCE_DIR}/${proto} protobuf::protoc
    COMMENT "Compiling ${proto}" VERBATIM)
  set_source_files_properties(${folder}/${name}.pb.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                              SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -w)
  set(${result} ${folder}/${name}.pb.cc PARENT_SCOPE)
endfunction()
