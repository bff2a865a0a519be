// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

// How this program was built. The values come from CMake, and only build_facts.cpp is compiled anew when one
// of them changes.
namespace joust::build {

extern const std::string_view kVersion;  // of joust: "0.3.0"
extern const std::string_view
    kCommit;  // "abc1234", or "abc1234-dirty"; empty where the sources were no checkout
extern const std::string_view kType;        // "Release" or "Debug"
extern const std::string_view kSanitizers;  // "address,undefined"; empty for none
extern const std::string_view kLibraries;   // "liburing=2.3,qt=none"
extern const std::string_view kFolder;      // where it was built, an absolute path

}  // namespace joust::build
