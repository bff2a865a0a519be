// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The parts of CLI11 that the sub-commands need. Its headers take seconds to compile, so one file includes
// them: command_line.cpp.
namespace joust {

// The heading of the options of protocols in --help.
inline constexpr const char* kProtocolOptions = "Protocol options";

// An option of a command. A handle: it may be copied, and is valid for as long as its CommandLine.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option type_name(const std::string& name);             // the word for the value in --help: "ADDRESS". Of an
                                                         // option with one_of() it is the list of its words
  Option group(const std::string& heading);              // the heading in --help; "" hides the option
  Option one_of(const std::vector<std::string>& words);  // other values are usage errors
  Option excludes(Option other);                         // both together are a usage error
  Option show_default();                                 // --help shows the present value of the variable
  Option value_optional();                               // "--switch" alone gives an empty value
  Option required();

  bool given() const;  // on the command line; valid after parsing

 private:
  CLI::Option* option_;
};

// A sub-command, or the program itself. A handle like Option. Variables named here outlive the CommandLine.
class Command {
 public:
  // Takes a value. Returns the error message, or an empty string.
  using Take = std::function<std::string(const std::string& value)>;

  explicit Command(CLI::App* app) : app_(app) {}

  Command add_command(const std::string& name, const std::string& summary);
  Option add_option(const std::string& names, std::string& into, const std::string& help);
  // Adds an option that may be given several times, with one value each time.
  Option add_option(const std::string& names, std::vector<std::string>& into, const std::string& help);
  Option add_option(const std::string& names, const Take& take, const std::string& help);
  // Adds an option that may be given several times: `take` gets each value, in their order.
  Option add_list(const std::string& names, const Take& take, const std::string& help);
  // Adds arguments without a dash, any number of them. `shown`: as --help has them, "RESULT...".
  void add_words(const std::string& shown, std::vector<std::string>& into, const std::string& help);
  Option add_flag(const std::string& names, bool& into, const std::string& help);
  Option add_flag(const std::string& names, const std::function<void()>& given, const std::string& help);
  void footer(const std::string& text);  // at the end of its --help
  // Shows only these options in its --help, and those of a few protocols; '--help all' shows all. Called
  // after all were added.
  void first_options(const std::vector<std::string>& names);
  void callback(const std::function<void()>& command);  // the function that runs it

  std::string program() const;  // the name of the program the command belongs to

 private:
  CLI::App* app_;
};

// A row of a command's --help.
struct OptionText {
  std::string long_name{}, short_name{};  // "--wait", "-w"; both empty for an argument without a dash
  std::string value{};                    // the word for it: "ADDRESS"; empty for a flag
  std::vector<std::string> allowed{};     // all values, if they are a list
  std::string help{};
};

struct CommandText {
  std::string name{}, summary{}, footer{};
  std::vector<OptionText> options{};
};

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& summary, const std::string& version);
  ~CommandLine();

  Command program();
  std::vector<std::string> commands() const;
  std::string help() const;
  // Shows these options in the --help of a command too, if the command has them; see first_options().
  void also_show(const std::string& command, const std::vector<std::string>& names);
  // Returns what '--help all' shows of every command, for manuals and shells.
  std::vector<CommandText> texts() const;

  // Runs the command that was asked for, and passes on its exceptions. --help and --version print their
  // texts. Arguments that do not fit throw UsageError.
  void run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

// Returns the option that was meant by `word`, such as "--rouds" or "--rouds=5": the only option that begins
// so, the nearest one, or the one with the same meaning under its name in other programs. `options` are those
// of the command, with their dashes. Empty where no option is near.
std::string meant_option(std::string_view word, std::span<const std::string> options);

}  // namespace joust
