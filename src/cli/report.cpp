// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "cli/common/command.hpp"
#include "cli/common/faces.hpp"
#include "cli/common/stored_result.hpp"

namespace joust {
namespace {

struct Report {
  const Program& program;
  std::string file{};
  FaceArguments faces{};

  void run() const {
    if (!faces.any())
      throw UsageError(fmt::format(
          "nothing to write; give --html FILE, --markdown FILE, --csv FILE, --svg DIR or --export "
          "FORMAT=FILE; "
          "see '{} report --help'",
          program.name));
    const history::NamedDocument result = read_stored_result(file);
    faces.ensure_writable({&file, 1});
    const auto [unwritten, strange] = faces.write(result.document);
    note_strange_files(program, strange);
    if (!unwritten.empty()) throw std::runtime_error(unwritten);
  }
};

}  // namespace

void add_report(Command root, const Program& program, int& /*exit_code*/) {
  auto report = std::make_shared<Report>(program);
  Command command = root.add_command("report", "Make a page, pictures or tables of the result of a race");
  command.add_option("result", report->file, "the file of 'race --json', or a tag or number of 'history'")
      .type_name("RESULT")
      .required();
  report->faces.add_to(command, "What to write");
  command.footer(fmt::format(R"(Examples:
  {0} report result.json --html result.html
  {0} report result.json --markdown comment.md
  {0} report result.json --svg pictures --csv result.csv
  {0} report result.json --export junit=result.xml --export hgrm=percentiles

Exit codes: 0 ok, 1 a file cannot be written after all, 2 the document is wrong, or a file cannot be written:
then nothing is written.)",
                             program.name));
  command.callback([report] { report->run(); });
}

}  // namespace joust
