// SPDX-License-Identifier: MIT
#include "cli/common/faces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <system_error>

#include "base/text.hpp"
#include "cli/common/result_file.hpp"
#include "report/page/faces.hpp"
#include "report/page/pictures.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;
namespace page = report::page;

// A form that is one file.
struct FileFace {
  const char* option;
  std::string FaceArguments::*path;
  std::string (*make)(const page::Document& document);
  const char* help;
};

constexpr FileFace kFiles[] = {
    {"--html", &FaceArguments::html, page::html_page,
     "write the result as a page: pictures, tables, checks; no script, nothing is loaded"},
    {"--markdown", &FaceArguments::markdown, page::markdown_text,
     "write the result as a comment for a pull request"},
    {"--csv", &FaceArguments::csv, page::csv_text,
     "write all figures as a table: a row for each contestant and figure"},
};

// A form for another program.
struct ExportFace {
  const char* name;
  std::string (*make)(const page::Document& document);
};

constexpr ExportFace kExports[] = {{"junit", page::junit_text},
                                   {"bencher", page::bencher_text},
                                   {"bigger-is-better", page::bigger_is_better_text},
                                   {"smaller-is-better", page::smaller_is_better_text},
                                   {"prometheus", page::prometheus_text}};
constexpr std::string_view kHgrm = "hgrm";  // a folder

// An export that was asked for.
struct Export {
  std::string name, path;
  std::string option() const { return "--export " + name; }
};

std::vector<std::string> export_names() {
  std::vector<std::string> names;
  for (const ExportFace& face : kExports) names.emplace_back(face.name);
  names.emplace_back(kHgrm);
  return names;
}

// Throws UsageError.
std::vector<Export> exports_in(const std::vector<std::string>& texts) {
  const std::vector<std::string> names = export_names();
  std::vector<Export> exports;
  for (const std::string& text : texts) {
    const std::size_t end = text.find('=');
    const std::string name = text.substr(0, end);
    if (std::ranges::count(names, name) == 0)
      throw UsageError(not_allowed(fmt::format("--export: there is no format '{}'", name), name, names));
    if (end == std::string::npos || end + 1 == text.size() || text.substr(end + 1) == "-")
      throw UsageError(fmt::format("--export {0}: give it a file: {0}=FILE", name));
    exports.push_back({name, text.substr(end + 1)});
  }
  return exports;
}

struct MadeFile {
  std::string option, path, text;
};

// Makes the folder if it does not exist; its parent must.
void make_folder(const std::string& path, const std::string& option) {
  std::error_code failed;
  fs::create_directory(path, failed);
  std::error_code none;
  if (fs::exists(path, none) && !fs::is_directory(path, none))
    failed = std::make_error_code(std::errc::not_a_directory);
  if (failed) throw UsageError(fmt::format("{} {}: cannot be made: {}", option, path, failed.message()));
}

std::vector<MadeFile> made_from(const page::Document& document, const FaceArguments& asked) {
  std::vector<MadeFile> files;
  for (const FileFace& face : kFiles)
    if (const std::string& path = asked.*face.path; !path.empty())
      files.push_back({face.option, path, face.make(document)});
  if (!asked.svg.empty())
    for (const page::Picture& picture : page::all_pictures(document))
      files.push_back(
          {"--svg", (fs::path(asked.svg) / (picture.name + ".svg")).string(), page::svg_file(picture)});
  for (const Export& one : exports_in(asked.exports)) {
    for (const ExportFace& face : kExports)
      if (one.name == face.name) files.push_back({one.option(), one.path, face.make(document)});
    if (one.name == kHgrm)
      for (page::NamedText& file : page::hgrm_files(document))
        files.push_back({one.option(), (fs::path(one.path) / file.name).string(), std::move(file.text)});
  }
  return files;
}

}  // namespace

void FaceArguments::add_to(Command command, const char* group) {
  for (const FileFace& face : kFiles)
    given.push_back(
        command.add_option(face.option, this->*face.path, face.help).type_name("FILE").group(group));
  given.push_back(
      command
          .add_option("--export", exports,
                      fmt::format("write the result for another program: {}, whose FILE is a folder of "
                                  "percentiles; may be repeated",
                                  join(export_names())))
          .type_name("FORMAT=FILE")
          .group(group));
  given.push_back(command.add_option("--svg", svg, "write the pictures as files into this folder")
                      .type_name("DIR")
                      .group(group));
}

bool FaceArguments::any() const {
  return std::ranges::any_of(given, [](const Option& option) { return option.given(); });
}

void FaceArguments::ensure_writable(std::span<const std::string> used) const {
  std::vector<std::string> all(used.begin(), used.end());
  for (std::size_t i = 0; i < std::size(kFiles); ++i) {
    const std::string& path = this->*kFiles[i].path;
    if (!given[i].given()) continue;
    if (path == "-")
      throw UsageError(fmt::format("{} -: name a file; /dev/stdout is standard output", kFiles[i].option));
    joust::ensure_writable(path, all, kFiles[i].option);
    all.push_back(path);
  }
  for (const Export& one : exports_in(exports)) {
    std::string file = one.path;
    if (one.name == kHgrm) {
      make_folder(one.path, one.option());
      file = (fs::path(one.path) / "01.hgrm").string();
    }
    joust::ensure_writable(file, all, one.option());
    all.push_back(file);
  }
  if (!given.back().given()) return;
  make_folder(svg, "--svg");
  joust::ensure_writable((fs::path(svg) / "latency.svg").string(), all, "--svg");
}

FaceArguments::Written FaceArguments::write(const page::Document& document) const {
  std::vector<std::string> unwritten;
  std::set<fs::path> made, strange;
  for (const MadeFile& file : made_from(document, *this)) {
    made.insert(file.path);
    try {
      write_result(file.path, file.text, file.option);
    } catch (const std::runtime_error& failed) {
      unwritten.emplace_back(failed.what());
    }
  }
  const auto look_into = [&](const std::string& folder, const char* extension) {
    std::error_code unreadable;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, unreadable))
      if (entry.path().extension() == extension && !made.contains(entry.path())) strange.insert(entry.path());
  };
  if (!svg.empty()) look_into(svg, ".svg");
  for (const Export& one : exports_in(exports))
    if (one.name == kHgrm) look_into(one.path, ".hgrm");
  return {join(unwritten, "; "), {strange.begin(), strange.end()}};
}

void note_strange_files(const Program& program, const std::vector<std::string>& files) {
  if (files.empty()) return;
  complain(program, fmt::format("not of this result, but in the same folder: {}", join(files)));
}

}  // namespace joust
