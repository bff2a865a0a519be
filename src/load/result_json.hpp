// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/rare.hpp"
#include "joust/settings.hpp"
#include "load/result.hpp"

// The document of `joust load --json` (docs/result.schema.json): what is known about the program, the result,
// and what was chosen for the protocol.
namespace joust {

// The load's program: the first members of the document.
struct LoadProgram {
  struct Build {
    std::string type{};        // "Release"
    std::string sanitizers{};  // empty: none
    std::string version{};
    bool operator==(const Build&) const = default;
  };
  // Options read back from the kernel. It reports another size than the one that was asked for, which a
  // repeated load asks for again.
  struct Socket {
    Rare<bool> nodelay{};
    Rare<std::uint64_t> send_buffer{}, receive_buffer{};
    Rare<std::string> congestion{};
    Rare<std::uint64_t> backlog{}, asked_send_buffer{}, asked_receive_buffer{};
  };

  std::string schema{}, protocol{}, address{};
  Rare<std::string> plugin{};
  std::string engine{};
  std::uint64_t threads = 0;
  std::string wait{};
  Settings knobs{};
  Build build{};
  Socket socket{};
};

// The last members of the document.
struct LoadChoices {
  Rare<Settings> options{};  // of the protocol
  // When the window opened, by the host's own clock of the day; null if it never did.
  Rare<std::optional<std::int64_t>> window_utc_ns{};
};

// Add members to a document, or set those that it has.
void add_load(nlohmann::ordered_json& document, const LoadProgram& program);
void add_load(nlohmann::ordered_json& document, const LoadResult& result);
void add_load(nlohmann::ordered_json& document, const LoadChoices& choices);

// Adds an object for each group of figures that a service has.
void add_groups(nlohmann::ordered_json& document, const std::vector<ResultGroup>& groups);

// Removes the histograms, which are large.
void remove_histograms(nlohmann::ordered_json& document);

// Reads the result from such a document: the inverse of add_load(). The texts of groups (ResultGroup::about)
// and LoadPlan::counted_turns are not in a document. The error names the key that is missing or wrong.
std::expected<LoadResult, std::string> load_from(const nlohmann::ordered_json& document);

// Read the other members. Throw WrongDocument.
LoadProgram program_from(const nlohmann::ordered_json& document);
LoadChoices choices_from(const nlohmann::ordered_json& document);

}  // namespace joust
