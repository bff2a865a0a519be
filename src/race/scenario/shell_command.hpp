// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joust::race {

// The text in place of {port} and so on in a contestant's shell commands.
struct CommandValues {
  std::string address = "127.0.0.1";  // where a server has to listen
  std::string port{}, from{}, into{};
  std::string last{};   // the name of the last file
  std::string bytes{};  // size of all files together
  std::string joust{};  // the path of this program
};

// Returns whether a command has the place {name}.
bool has_place(const std::string& command, std::string_view name);
std::string filled(std::string command, const CommandValues& values);
// The same for the command of a server: without {port} it gets the port in the variable PORT.
std::string server_command(const std::string& command, const CommandValues& values);

// Replaces {here} by the folder of a scenario's file, so that files beside it are found wherever the race is
// run. The folder is quoted for a shell.
std::string with_folder(std::string command, const std::string& file);

// Returns whether the command runs a program that script/build makes in the sources, beside whose scenarios
// the scenario's file is. False without a file.
bool is_built_program(const std::string& command, const std::string& file);

// Returns the place that a misspelt word in braces was probably meant to be, as "{into}". Otherwise empty,
// because a shell has words in braces too.
std::string misspelt_name(std::string_view command);

// Puts a text between single quotes of a shell.
std::string in_quotes(std::string_view text);
// Quotes the words for a shell, where they need it.
std::string shell_text(const std::vector<std::string>& words);

}  // namespace joust::race
