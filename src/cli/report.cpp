// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <system_error>

#include "cli/common/command.hpp"
#include "cli/common/faces.hpp"

namespace joust {
namespace {

// A document above this size is none that a race has made.
constexpr std::size_t kLargestDocument = std::size_t{256} << 20;

// Reads a whole file. Throws UsageError.
std::string whole_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestDocument)
      throw UsageError(fmt::format("{}: is larger than 256 MiB, and no result of a race", path));
  }
  if (!file.eof())
    throw UsageError(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(errno)));
  return text;
}

struct Report {
  const Program& program;
  std::string file{};
  FaceArguments faces{};

  void run() const {
    if (!faces.any())
      throw UsageError(
          fmt::format("nothing to write; give --html FILE, --markdown FILE, --csv FILE or --svg DIR; "
                      "see '{} report --help'",
                      program.name));
    faces.write(whole_file(file), file, {&file, 1});
  }
};

}  // namespace

void add_report(Command root, const Program& program, int& /*exit_code*/) {
  auto report = std::make_shared<Report>(program);
  Command command = root.add_command("report", "Make a page, pictures or tables of the result of a race");
  command.add_option("result", report->file, "the file of 'race --json'").type_name("RESULT").required();
  report->faces.add_to(command, "What to write");
  command.footer(fmt::format(R"(Examples:
  {0} report result.json --html result.html
  {0} report result.json --markdown comment.md
  {0} report result.json --svg pictures --csv result.csv

If the document is wrong, or a file cannot be written, nothing is written, and the exit code is 2.)",
                             program.name));
  command.callback([report] { report->run(); });
}

}  // namespace joust
