// SPDX-License-Identifier: MIT
#include "cli/common/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "cli/common/command.hpp"

namespace joust {

Option Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
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

void CommandLine::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& request) {
    app_->exit(request);  // prints the help or the version
  } catch (const CLI::ParseError& error) {
    std::string command = app_->get_name();
    for (const CLI::App* chosen : app_->get_subcommands()) command += ' ' + chosen->get_name();
    throw UsageError(fmt::format("{}\nTry '{} --help'.", error.what(), command));
  }
}

}  // namespace joust
