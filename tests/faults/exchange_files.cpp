// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>

#include "faults/serving.hpp"
#include "files/store/storage.hpp"
#include "hostile/honest.hpp"
#include "protocols/table.hpp"
#include "temporary_folder.hpp"

namespace joust::faults {
namespace {

Outcome run_files(const conformance::Variant& variant, const std::string& read, const std::string& write) {
  const test::TemporaryFolder folder;
  const std::vector<Protocol> all = builtin_protocols();
  const Protocol& protocol = *std::ranges::find(all, "file", &Protocol::name);
  Parameters parameters = standard_parameters(protocol, Role::serve);
  parameters.options["root"] = folder.path();
  parameters.options["file-read"] = read;
  parameters.options["file-write"] = write;
  const auto service = protocol.make_server(parameters);
  Serving serving(variant, *service);
  unsigned refused = 0;
  for (const std::string name : {"first", "second"}) {
    serving.client([&] {
      hostile::Chance chance(1, 1);
      const std::string bytes = conformance::pattern(150'000);
      try {
        hostile::bring_file(serving.endpoint(), name, bytes, chance);
        if (hostile::fetch_file(serving.endpoint(), name) != bytes)
          throw hostile::WrongReply("other bytes than were brought");
      } catch (const FileRefusal&) {
        ++refused;
      }
    });
  }
  Outcome outcome = serving.stop();
  outcome.refused = refused;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().filename().string().starts_with(".joust-"))
      outcome.faults.push_back("left behind: " + entry.path().filename().string());
  return outcome;
}

}  // namespace

const Exchange kFiles{"files", [](const auto& variant) { return run_files(variant, "sendfile", "splice"); },
                      Role::serve};
const Exchange kMapped{"mapped", [](const auto& variant) { return run_files(variant, "mmap", "mmap"); },
                       Role::serve, false, true};
const Exchange kPlain{"plain", [](const auto& variant) { return run_files(variant, "read", "write"); },
                      Role::serve};
const Exchange kRinged{"ringed", [](const auto& variant) { return run_files(variant, "read", "writev"); },
                       Role::serve, true};

}  // namespace joust::faults
