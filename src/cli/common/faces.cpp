// SPDX-License-Identifier: MIT
#include "cli/common/faces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

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

struct MadeFile {
  const char* option;
  std::string path, text;
};

// Makes the folder if it does not exist; its parent must.
void make_folder(const std::string& path) {
  std::error_code failed;
  fs::create_directory(path, failed);
  std::error_code none;
  if (fs::exists(path, none) && !fs::is_directory(path, none))
    failed = std::make_error_code(std::errc::not_a_directory);
  if (failed) throw UsageError(fmt::format("--svg {}: cannot be made: {}", path, failed.message()));
}

}  // namespace

void FaceArguments::add_to(Command command, const char* group) {
  for (const FileFace& face : kFiles)
    given.push_back(
        command.add_option(face.option, this->*face.path, face.help).type_name("FILE").group(group));
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
  if (!given.back().given()) return;
  if (svg.empty()) throw UsageError("--svg: the value is empty");
  make_folder(svg);
  joust::ensure_writable((fs::path(svg) / "latency.svg").string(), all, "--svg");
}

void FaceArguments::write(std::string text, const std::string& name,
                          std::span<const std::string> used) const {
  const auto document = page::read_document(std::move(text));
  if (!document) throw UsageError(fmt::format("{}: {}", name, document.error()));
  std::vector<MadeFile> files;
  for (const FileFace& face : kFiles)
    if (const std::string& path = this->*face.path; !path.empty())
      files.push_back({face.option, path, face.make(*document)});
  if (!svg.empty())
    for (const page::Picture& picture : page::all_pictures(*document))
      files.push_back({"--svg", (fs::path(svg) / (picture.name + ".svg")).string(), page::svg_file(picture)});
  ensure_writable(used);
  for (const MadeFile& file : files) write_result(file.path, file.text, file.option);
}

}  // namespace joust
