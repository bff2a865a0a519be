# SPDX-License-Identifier: MIT
# OpenSSL's headers, which script/cross-check has put where the compiler looks. There is no library to link.
set(OPENSSL_VERSION 3.0.0)
foreach(part SSL Crypto)
  if(NOT TARGET OpenSSL::${part})
    add_library(OpenSSL::${part} INTERFACE IMPORTED)
  endif()
endforeach()
