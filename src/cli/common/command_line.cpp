// SPDX-License-Identifier: MIT
#include "cli/common/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/split.hpp"
#include "base/suggestion.hpp"
#include "base/words.hpp"
#include "cli/common/command.hpp"
#include "cli/common/meant_option.hpp"
#include "cli/common/output.hpp"

namespace joust {
namespace {

const CLI::App* command_called(const CLI::App& program, const std::string& name) {
  const std::vector<const CLI::App*> commands = program.get_subcommands({});
  const auto found = std::ranges::find(commands, name, [](const CLI::App* each) { return each->get_name(); });
  return found == commands.end() ? nullptr : *found;
}

// Returns the arguments, last one first as CLI11 takes them. CLI11 would read "--client= --dry-run" as if
// --dry-run were the value; here an empty value is an argument of its own.
std::vector<std::string> reversed_words(const CLI::App& program, int argc, char** argv) {
  const CLI::App* const command = argc > 1 ? command_called(program, argv[1]) : nullptr;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    const bool is_empty = word.starts_with("--") && word.size() == name.size() + 1;
    const CLI::Option* const option = is_empty && command ? command->get_option_no_throw(name) : nullptr;
    if (option != nullptr && option->get_expected_min() == 0)
      throw UsageError(fmt::format("{}: the value is empty", name));
    words.push_back(option != nullptr ? name : word);
    if (option != nullptr) words.emplace_back();
  }
  std::ranges::reverse(words);
  return words;
}

// Returns the option for one value that was given several values; null if none was.
const CLI::Option* repeated_option(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_expected_max() == 1 && option->count() > 1) return option;
  return nullptr;
}

// Describes an option without its value; empty if the error is another one.
std::string missing_value(const CLI::App& command, CLI::ExitCodes kind, const std::string& what) {
  const std::string name = what.substr(0, what.find(':'));
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (kind != CLI::ExitCodes::ArgumentMismatch || option == nullptr || option->count() > 1) return {};
  return fmt::format("{0}: the value is missing; say {0} {1}", name, option->get_type_name());
}

// Describes an argument that the command does not take.
std::string unexpected(const CLI::App& command, const std::string& argument) {
  if (!argument.starts_with('-')) return fmt::format("'{}' is one argument too many", argument);
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  const std::string meant = meant_option(argument, options);
  return fmt::format("no option '{}'{}", argument.substr(0, argument.find('=')),
                     meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant));
}

// Splits "W:{block,spin}" into the word for a value and the values that are allowed.
void split_type(const std::string& type, OptionText& into) {
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  into.value = type.substr(0, type.find(':'));
  if (begin == std::string::npos || end == std::string::npos) return;
  for (const std::string_view word : split(std::string_view(type).substr(begin + 1, end - begin - 1), ','))
    into.allowed.emplace_back(word);
}

OptionText text_of(const CLI::Option& option) {
  OptionText text{.help = option.get_description()};
  if (!option.get_lnames().empty()) text.long_name = "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) text.short_name = "-" + option.get_snames().front();
  if (option.get_expected_max() > 0) split_type(option.get_type_name(), text);
  if (text.long_name.empty() && text.short_name.empty() && !option.get_option_text().empty())
    text.value = option.get_option_text();
  return text;
}

}  // namespace

Option Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option Option::one_of(const std::vector<std::string>& words) {
  const auto objection = [words](const std::string& word) {
    return std::ranges::count(words, word) > 0
               ? std::string()
               : not_allowed(fmt::format("'{}' is not allowed", word), word, words);
  };
  option_->check(CLI::Validator(objection, fmt::format("{{{}}}", join(words, ","))));
  return *this;
}

Option Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option Option::value_optional() {
  option_->expected(0, 1);
  return *this;
}

Option Option::required() {
  option_->required();
  return *this;
}

bool Option::given() const {
  return option_->count() > 0;
}

Command Command::add_command(const std::string& name, const std::string& summary) {
  return Command(app_->add_subcommand(name, summary));
}

Option Command::add_option(const std::string& names, std::string& into, const std::string& help) {
  return Option(app_->add_option(names, into, help));
}

Option Command::add_option(const std::string& names, std::vector<std::string>& into,
                           const std::string& help) {
  return Option(app_->add_option(names, into, help)->allow_extra_args(false));
}

Option Command::add_option(const std::string& names, const Take& take, const std::string& help) {
  const std::function<void(const std::string&)> read = [names, take](const std::string& value) {
    if (const std::string wrong = take(value); !wrong.empty()) throw CLI::ValidationError(names, wrong);
  };
  return Option(app_->add_option_function(names, read, help));
}

void Command::add_words(const std::string& shown, std::vector<std::string>& into, const std::string& help) {
  app_->add_option("words", into, help)->option_text(shown);
}

Option Command::add_flag(const std::string& names, bool& into, const std::string& help) {
  return Option(app_->add_flag(names, into, help));
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}

void Command::callback(const std::function<void()>& command) {
  app_->callback(command);
}

std::string Command::program() const {
  const CLI::App* app = app_;
  while (app->get_parent() != nullptr) app = app->get_parent();
  return app->get_name();
}

CommandLine::CommandLine(const std::string& program, const std::string& summary, const std::string& version)
    : app_(std::make_unique<CLI::App>(summary, program)) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Command CommandLine::program() {
  return Command(app_.get());
}

std::vector<std::string> CommandLine::commands() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_->get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::string CommandLine::help() const {
  return app_->help();
}

std::vector<CommandText> CommandLine::texts() const {
  std::vector<CommandText> texts;
  for (const CLI::App* command : app_->get_subcommands({})) {
    CommandText text{
        .name = command->get_name(), .summary = command->get_description(), .footer = command->get_footer()};
    for (const CLI::Option* option : command->get_options())
      if (!option->get_group().empty()) text.options.push_back(text_of(*option));
    texts.push_back(std::move(text));
  }
  return texts;
}

void CommandLine::run(int argc, char** argv) {
  try {
    app_->parse(reversed_words(*app_, argc, argv));
  } catch (const CLI::Success& request) {
    std::ostringstream text, none;
    app_->exit(request, text, none);  // prints the help or the version
    print_list(text.str());
  } catch (const CLI::ParseError& error) {
    std::string command = app_->get_name();
    std::string what = error.what();
    const CLI::App* chosen = app_.get();
    if (!app_->get_subcommands().empty()) {
      chosen = app_->get_subcommands().front();
      command += ' ' + chosen->get_name();
    }
    // A missing required option may have been given with a misspelt name.
    const auto kind = static_cast<CLI::ExitCodes>(error.get_exit_code());
    const bool may_be_extra = kind == CLI::ExitCodes::ExtrasError || kind == CLI::ExitCodes::RequiredError;
    if (const std::vector<std::string> extras = chosen->remaining(); may_be_extra && !extras.empty())
      what = unexpected(*chosen, extras.front());
    else if (const std::string missing = missing_value(*chosen, kind, what); !missing.empty())
      what = missing;
    else if (const CLI::Option* const option = repeated_option(*chosen))
      what =
          fmt::format("{} is given {} times; give it once", option->get_name(false, true), option->count());
    throw UsageError(fmt::format("{}\nTry '{} --help'.", what, command));
  }
}

}  // namespace joust
