// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/common/command.hpp"
#include "report/page/document.hpp"

// The options --html, --markdown, --csv, --svg and --export: the forms of a race's result beside its JSON
// document.
namespace joust {

struct FaceArguments {
  std::string html{}, markdown{}, csv{}, svg{};  // svg: a folder
  std::vector<std::string> exports{};            // "junit=FILE"
  std::vector<Option> given{};

  // Adds the options under a heading of --help.
  void add_to(Command command, const char* group);
  bool any() const;

  // Checks before any work that all can be written. `used`: files that the run reads or writes itself. Throws
  // UsageError.
  void ensure_writable(std::span<const std::string> used) const;

  // The files that write() could not write, in words, and pictures and percentiles in its folders that it did
  // not make: those of an earlier result, for instance.
  struct Written {
    std::string unwritten{};
    std::vector<std::string> strange{};
  };

  // Writes all that was asked for from the document of a race, each file as a whole or not at all. One that
  // cannot be written keeps no other from it.
  Written write(const report::page::Document& document) const;
};

// Says that there are strange files, if there are.
void note_strange_files(const Program& program, const std::vector<std::string>& files);

}  // namespace joust
