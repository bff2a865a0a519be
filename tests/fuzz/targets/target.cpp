// SPDX-License-Identifier: MIT
//
// One fuzzer for each entry; JOUST_FUZZ_ENTRY is its name.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "fuzz/entries.hpp"

// Allocations are counted by operators of our own (session/allocations.cpp), which the fuzzer's runtime has
// only in part.
extern "C" const char* __asan_default_options() {
  return "alloc_dealloc_mismatch=0";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string wrong = joust::fuzz::JOUST_FUZZ_ENTRY(std::as_bytes(std::span(data, size)));
  if (wrong.empty()) return 0;
  std::fputs(wrong.c_str(), stderr);
  std::abort();
}
