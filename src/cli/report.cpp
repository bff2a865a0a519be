// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/terminal.hpp"
#include "cli/common/command.hpp"
#include "cli/common/faces.hpp"
#include "cli/common/output.hpp"
#include "cli/common/result_file.hpp"
#include "report/page/faces.hpp"
#include "report/text.hpp"

namespace joust {
namespace {

struct Report {
  const Program& program;
  std::string file{}, table{};
  FaceArguments faces{};

  void run() const {
    if (!faces.any() && table.empty())
      throw UsageError(fmt::format(
          "nothing to write; give --html FILE, --markdown FILE, --csv FILE, --svg DIR, --export FORMAT=FILE "
          "or --table NAME; see '{} report --help'",
          program.name));
    const history::NamedDocument result = read_stored_result(file);
    const report::Terminal terminal = report::terminal_of(STDOUT_FILENO);
    const std::string shown = report::page::table_text(result.document, table, terminal);
    if (!table.empty() && shown.empty())
      throw UsageError(
          fmt::format("{}: none of its cases has the table '{}': a matrix is that of several clients with "
                      "several servers ('{} race --server A,B --client C,D')",
                      file, table, program.name));
    faces.ensure_writable({&file, 1});
    const auto [unwritten, strange] = faces.write(result.document);
    note_strange_files(program, strange);
    print_list(in_locale(shown));
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
  command
      .add_option("--table", report->table,
                  "print a table of each case: its results, its resources, or every client with every server")
      .one_of(report::page::table_names())
      .group("What to write");
  command.footer(fmt::format(R"(Examples:
  {0} report result.json --html result.html
  {0} report result.json --markdown comment.md
  {0} report result.json --svg pictures --csv result.csv
  {0} report result.json --export junit=result.xml --export hgrm=percentiles
  {0} report result.json --table results

Exit codes: 0 ok, 1 a file cannot be written after all, 2 the document is wrong, or a file cannot be written:
then nothing is written.)",
                             program.name));
  command.callback([report] { report->run(); });
}

}  // namespace joust
