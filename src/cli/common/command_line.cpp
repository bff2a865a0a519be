// SPDX-License-Identifier: MIT
#include "cli/common/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"

namespace joust {
namespace {

// Names of options in other programs, and the names here; the first that a command has is meant.
constexpr std::array kElsewhere{std::pair{"address", "listen connect"},
                                std::pair{"bind", "listen"},
                                std::pair{"bytes", "payload"},
                                std::pair{"clients", "connections"},
                                std::pair{"concurrency", "connections"},
                                std::pair{"count", "messages rounds"},
                                std::pair{"directory", "root into"},
                                std::pair{"folder", "root into"},
                                std::pair{"host", "listen connect"},
                                std::pair{"keepalive", "reconnect"},
                                std::pair{"length", "payload"},
                                std::pair{"loops", "threads"},
                                std::pair{"parallel", "connections"},
                                std::pair{"pipeline", "depth"},
                                std::pair{"port", "listen connect"},
                                std::pair{"qps", "rate"},
                                std::pair{"requests", "messages"},
                                std::pair{"rps", "rate"},
                                std::pair{"runs", "rounds"},
                                std::pair{"seconds", "duration"},
                                std::pair{"size", "payload"},
                                std::pair{"time", "duration"},
                                std::pair{"timeout", "request-timeout idle-timeout"},
                                std::pair{"url", "connect"},
                                std::pair{"workers", "threads"}};

std::string without_dashes(std::string_view option) {
  const std::size_t begin = std::min(option.find_first_not_of('-'), option.size());
  return std::string(option.substr(begin, option.find('=') - begin));
}

}  // namespace

std::string meant_option(std::string_view word, std::span<const std::string> options) {
  std::vector<std::string> names;
  for (const std::string& option : options)
    if (option.starts_with("--")) names.push_back(without_dashes(option));
  const std::string wanted = without_dashes(word);
  if (const std::string near = nearest(wanted, names); !near.empty()) return "--" + near;
  const auto* const known = std::ranges::find(
      kElsewhere, std::string_view(wanted), [](const auto& entry) { return std::string_view(entry.first); });
  if (known == kElsewhere.end()) return {};
  for (std::string_view here = known->second; !here.empty();) {
    const std::string name(here.substr(0, here.find(' ')));
    if (std::ranges::find(names, name) != names.end()) return "--" + name;
    here.remove_prefix(std::min(name.size() + 1, here.size()));
  }
  return {};
}

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

// Names the arguments of a command that must be given and were not; empty if there are none.
std::string missing_arguments(const CLI::App& command) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : command.get_options())
    if (option->get_required() && option->count() == 0)
      missing.push_back(option->nonpositional() ? option->get_name() : option->get_type_name());
  if (missing.empty()) return {};
  return fmt::format("{} {} missing", join(missing, " and "), missing.size() == 1 ? "is" : "are");
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

// Splits "block|spin", or "[no|yes]", into the values that are allowed. Other words name any value.
std::vector<std::string> allowed_by(std::string type) {
  std::vector<std::string> allowed;
  if (!type.contains('|')) return allowed;
  std::erase_if(type, [](char c) { return c == '[' || c == ']'; });
  for (const std::string_view word : split(type, '|')) allowed.emplace_back(word);
  return allowed;
}

OptionText option_text(const CLI::Option& option) {
  OptionText text{.help = option.get_description()};
  if (!option.get_lnames().empty()) text.long_name = "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) text.short_name = "-" + option.get_snames().front();
  if (option.get_expected_max() == 0) return text;
  text.value = option.get_type_name();
  text.allowed = allowed_by(text.value);
  return text;
}

constexpr std::size_t kFewOptions = 8;  // so many of protocols are always shown

// The form of --help. Arguments without a dash have the word for their value as their name, and a command
// with many options shows the first of them, unless all are asked for.
class HelpText : public CLI::Formatter {
 public:
  bool all = false;

  // Leaves all other options of the command to '--help all', but for those of protocols if they are few.
  void first_options(const CLI::App* command, const std::vector<std::string>& names) {
    std::set<const CLI::Option*> first{command->get_help_ptr()};
    for (const std::string& name : names) first.insert(command->get_option(name));
    const auto of_protocols =
        command->get_options([](const CLI::Option* each) { return each->get_group() == kProtocolOptions; });
    if (of_protocols.size() <= kFewOptions) first.insert(of_protocols.begin(), of_protocols.end());
    for (const CLI::Option* option : command->get_options({}))
      if (!first.contains(option) && option->nonpositional() && !option->get_group().empty())
        later_.insert(option);
  }

  void show(const CLI::Option* option) { later_.erase(option); }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return is_positional ? option->get_type_name() : Formatter::make_option_name(option, is_positional);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->nonpositional() ? Formatter::make_option_opts(option) : "";
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = make_option_name(option, true);
    const bool is_list = option->get_expected_max() > 1;  // its word has brackets where it needs them
    return option->get_required() || is_list ? name : "[" + name + "]";
  }

  std::string make_group(std::string heading, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::erase_if(options, [&](const CLI::Option* each) { return is_left_out(each); });
    return options.empty() ? ""
                           : Formatter::make_group(std::move(heading), is_positional, std::move(options));
  }

  std::string make_footer(const CLI::App* command) const override {
    const auto left_out = command->get_options([&](const CLI::Option* each) { return is_left_out(each); });
    if (left_out.empty()) return Formatter::make_footer(command);
    return fmt::format(
        "'{0} {1} --help all' has {2} more options, '{0} protocols NAME' those of a protocol.\n\n{3}",
        command->get_parent()->get_name(), command->get_name(), left_out.size(),
        Formatter::make_footer(command));
  }

 private:
  bool is_left_out(const CLI::Option* option) const { return !all && later_.contains(option); }

  std::set<const CLI::Option*> later_{};
};

// Returns a help text whose groups have one empty line between them, also where a group is left out.
std::string without_gaps(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

HelpText& help_of(const CLI::App& command) {
  return dynamic_cast<HelpText&>(*command.get_formatter());
}

// Takes the word after --help away if it is "all". `words`: last one first.
bool takes_all(std::vector<std::string>& words) {
  const auto found = std::ranges::adjacent_find(words, [](const std::string& after, const std::string& word) {
    return after == "all" && (word == "--help" || word == "-h");
  });
  if (found == words.end()) return false;
  words.erase(found);
  return true;
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
  option_->check(CLI::Validator(objection, ""));
  option_->type_name(join(words, "|"));
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

namespace {

// Adds an option. A protocol's own may have the name of one that the command has: that is an error of the
// protocol.
template <typename Add>
Option added(const std::string& names, const Add& add) {
  try {
    return Option(add());
  } catch (const CLI::OptionAlreadyAdded&) {
    throw UsageError(fmt::format(
        "{}: two options have this name; the option of a protocol needs a name that no other has", names));
  }
}

}  // namespace

Command Command::add_command(const std::string& name, const std::string& summary) {
  return Command(app_->add_subcommand(name, summary));
}

Option Command::add_option(const std::string& names, std::string& into, const std::string& help) {
  const auto refuse_empty = [](const std::string& value) {
    return value.empty() ? std::string("the value is empty") : std::string();
  };
  return added(names, [&] { return app_->add_option(names, into, help)->check(refuse_empty); });
}

Option Command::add_option(const std::string& names, std::vector<std::string>& into,
                           const std::string& help) {
  return added(names, [&] { return app_->add_option(names, into, help)->allow_extra_args(false); });
}

Option Command::add_option(const std::string& names, const Take& take, const std::string& help) {
  const std::function<void(const std::string&)> read = [names, take](const std::string& value) {
    if (const std::string wrong = take(value); !wrong.empty()) throw CLI::ValidationError(names, wrong);
  };
  return added(names, [&] { return app_->add_option_function(names, read, help); });
}

Option Command::add_list(const std::string& names, const Take& take, const std::string& help) {
  const std::function<void(const std::vector<std::string>&)> read =
      [names, take](const std::vector<std::string>& values) {
        for (const std::string& value : values)
          if (const std::string wrong = take(value); !wrong.empty()) throw CLI::ValidationError(names, wrong);
      };
  return Option(app_->add_option_function(names, read, help)->allow_extra_args(false));
}

void Command::add_words(const std::string& shown, std::vector<std::string>& into, const std::string& help) {
  app_->add_option("words", into, help)->type_name(shown);
}

Option Command::add_flag(const std::string& names, bool& into, const std::string& help) {
  return added(names, [&] { return app_->add_flag(names, into, help); });
}

Option Command::add_flag(const std::string& names, const std::function<void()>& given,
                         const std::string& help) {
  return Option(app_->add_flag_callback(names, given, help));
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}

void Command::first_options(const std::vector<std::string>& names) {
  help_of(*app_).first_options(app_, names);
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
  app_->formatter(std::make_shared<HelpText>());
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

void CommandLine::also_show(const std::string& command, const std::vector<std::string>& names) {
  const CLI::App* const called = command_called(*app_, command);
  if (called == nullptr) return;
  for (const std::string& name : names)
    if (const CLI::Option* const option = called->get_option_no_throw(name)) help_of(*called).show(option);
}

std::vector<CommandText> CommandLine::texts() const {
  std::vector<CommandText> texts;
  for (const CLI::App* command : app_->get_subcommands({})) {
    CommandText text{
        .name = command->get_name(), .summary = command->get_description(), .footer = command->get_footer()};
    for (const CLI::Option* option : command->get_options())
      if (!option->get_group().empty()) text.options.push_back(option_text(*option));
    texts.push_back(std::move(text));
  }
  return texts;
}

void CommandLine::run(int argc, char** argv) {
  try {
    std::vector<std::string> words = reversed_words(*app_, argc, argv);
    help_of(*app_).all = takes_all(words);
    app_->parse(std::move(words));
  } catch (const CLI::Success& request) {
    std::ostringstream text, none;
    app_->exit(request, text, none);  // prints the help or the version
    print_list(without_gaps(text.str()));
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
    else if (const std::string arguments = missing_arguments(*chosen);
             kind == CLI::ExitCodes::RequiredError && !arguments.empty())
      what = arguments;
    else if (const CLI::Option* const option = repeated_option(*chosen))
      what =
          fmt::format("{} is given {} times; give it once", option->get_name(false, true), option->count());
    throw UsageError(fmt::format("{}\nTry '{} --help'.", what, command));
  }
}

}  // namespace joust
