// SPDX-License-Identifier: MIT
#include "report/page/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/page/ratios.hpp"
#include "report/race_cells.hpp"
#include "report/row_order.hpp"

namespace joust::report::page {
namespace {

std::string place_words(const std::optional<Place>& place) {
  if (!place) return kNone;
  return place->first == place->last ? fmt::format("{}", place->first)
                                     : fmt::format("{}-{}", place->first, place->last);
}

std::string cell_of(const Runner& runner, std::string_view key) {
  const Measured* const figure = runner.figure(key);
  return figure == nullptr ? kNone : figure_text(figure->value, figure_row(key).unit);
}

// Marks a percentile that few samples lie beyond.
std::string percentile_cell(const Runner& runner, const std::string& percentile) {
  const Measured* const figure = runner.percentile(percentile);
  const std::string text = figure == nullptr ? kNone : figure_text(figure->value, Unit::ns);
  return (text != kNone && runner.few_beyond.contains(percentile) ? "~" : "") + text;
}

std::string ratio_cell(const Heat& heat, const Runner& runner, RatioOf of) {
  const Measured* const ratio = ratio_of(heat, runner, of);
  if (ratio == nullptr) return kNone;
  if (runner.name == heat.reference) return "1";
  return is_of_two_bounds(heat, runner, of) ? kNone : ratio_text(heat, runner, of);
}

std::string throughput_cell(const Runner& runner) {
  const std::string mark = runner.has_result() ? bound_mark(runner.at_least, runner.limit_unknown) : "";
  return mark + cell_of(runner, "throughput_per_s");
}

std::string name_cell(const Heat& heat, const Runner& runner) {
  if (!runner.has_result()) return fmt::format("{} (no result: {})", runner.name, runner.reason);
  if (!runner.ranked && !runner.at_least)
    return fmt::format("{} (not ranked: {})", runner.name, runner.reason);
  return runner.name == heat.reference ? runner.name + " (reference)" : runner.name;
}

}  // namespace

const FigureRow& first_figure_of(const Heat& heat) {
  if (heat.by_latency()) return figure_row("latency_ns." + heat.ranked_by);
  return figure_row(heat.moves_files ? "mb_per_s" : "throughput_per_s");
}

FaceTable results_of(const Heat& heat) {
  const bool files = heat.moves_files;
  FaceTable table{.columns = {{"place"},
                              {"contestant", false},
                              {files ? "files/s" : "messages/s"},
                              {heat.by_latency() ? "ratio of " + heat.ranked_by : "ratio"},
                              {files ? "CPU us/file" : "server CPU us/message"},
                              {"ratio of cost"},
                              {files ? "MB/s" : "p50"},
                              {files ? "time of a command" : "p99"},
                              {"max"}}};
  for (const Runner* runner : heat.contestants())
    table.rows.push_back(
        {place_words(runner->place), name_cell(heat, *runner), throughput_cell(*runner),
         ratio_cell(heat, *runner, RatioOf::ranking),
         cell_of(*runner, files ? "cost_us_per_message" : "server_cpu_us_per_message"),
         ratio_cell(heat, *runner, RatioOf::cost),
         files ? cell_of(*runner, "mb_per_s") : percentile_cell(*runner, "p50"),
         files ? cell_of(*runner, "latency_ns.intervals.mean") : percentile_cell(*runner, "p99"),
         cell_of(*runner, "latency_ns.max")});
  return table;
}

FaceTable resources_of(const Heat& heat) {
  static constexpr const char* kKeys[] = {"peak_memory_bytes.server",
                                          "peak_memory_bytes.client",
                                          "system_calls_per_message.server",
                                          "system_calls_per_message.client",
                                          "switches_per_message.server",
                                          "switches_per_message.client",
                                          "server_utilisation",
                                          "client_utilisation"};
  const std::string each = heat.unit();
  FaceTable table{.columns = {{"contestant", false}}};
  for (const std::string& title : {std::string("memory"), "system calls/" + each, "context switches/" + each,
                                   std::string("CPU in use")}) {
    table.columns.push_back({title + ", server"});
    table.columns.push_back({title + ", client"});
  }
  for (const Runner* runner : heat.contestants()) {
    if (!runner->has_result()) continue;
    std::vector<std::string> cells{runner->name};
    for (const char* key : kKeys) cells.push_back(cell_of(*runner, key));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

namespace {

struct Crossing {
  std::string client{}, server{};
  const Runner* runner = nullptr;
};

// Removes contestants that are alone with their client or their server: they are beside the matrix.
void drop_lonely_crossings(std::vector<Crossing>& all) {
  std::size_t before = 0;
  while (before != all.size()) {
    before = all.size();
    std::map<std::string, std::size_t> clients, servers;
    for (const Crossing& one : all) {
      ++clients[one.client];
      ++servers[one.server];
    }
    std::erase_if(all,
                  [&](const Crossing& one) { return clients[one.client] < 2 || servers[one.server] < 2; });
  }
}

// Returns the engines of a contestant. A pair that occurs several times has its own name in the place of the
// server's, so that all of them are shown.
Crossing crossing_of(const Runner& runner, const std::vector<Crossing>& others) {
  const bool taken = std::ranges::any_of(others, [&](const Crossing& other) {
    return other.client == runner.client && other.server == runner.server;
  });
  return {runner.client, taken ? runner.name : runner.server, &runner};
}

std::string crossing_cell(const Runner& runner, const FigureRow& figure) {
  const std::string text = cell_of(runner, figure.key);
  if (text == kNone) return text;
  if (!runner.is_sound()) return fmt::format("({})", text);
  const bool is_rate = figure.unit == Unit::per_s;
  return (is_rate ? bound_mark(runner.at_least, runner.limit_unknown) : "") + text;
}

std::vector<std::string> sides_of_crossings(const std::vector<Crossing>& all, std::string Crossing::*side) {
  std::vector<std::string> names;
  for (const Crossing& one : all)
    if (std::ranges::find(names, one.*side) == names.end()) names.push_back(one.*side);
  return names;
}

}  // namespace

FaceTable matrix_of(const Heat& heat, const FigureRow& figure) {
  std::vector<Crossing> all;
  for (const Runner& runner : heat.runners)
    if (runner.kind == Kind::contestant && !runner.server.empty() && !runner.client.empty())
      all.push_back(crossing_of(runner, all));
  drop_lonely_crossings(all);
  FaceTable table;
  if (all.empty()) return table;
  const std::vector<std::string> servers = sides_of_crossings(all, &Crossing::server);
  table.columns.push_back({"client \\ server", false});
  for (const std::string& server : servers) table.columns.push_back({server});
  for (const std::string& client : sides_of_crossings(all, &Crossing::client)) {
    std::vector<std::string> cells{client};
    for (const std::string& server : servers) {
      const auto found = std::ranges::find_if(
          all, [&](const Crossing& one) { return one.client == client && one.server == server; });
      cells.push_back(found == all.end() ? kNone : crossing_cell(*found->runner, figure));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string remedy_of(std::uint64_t check) {
  static const std::map<std::uint64_t, const char*> kRemedies{
      {1,
       "Give the client more CPUs or threads (--client-cpus, --client-threads), or the server more work, so "
       "that the server is the limit."},
      {2, "Ask for a lower rate (-R, --rates), or give the load more CPUs."},
      {3,
       "Look at the errors and the last words of the contestant, which gave wrong replies, or none; where "
       "nothing "
       "says what a right reply is, say it (--expect)."},
      {4, "Race longer (--time), on a quieter machine."},
      {5, "Race again with more rounds (--time), and look for what runs beside the race."},
      {6, "Give a longer warm-up (-w), or race longer (--time)."},
      {7, "End other programs, or race on CPUs that nothing else uses (--server-cpus, --client-cpus)."},
      {8, "Race longer (--time), or ask for more --rounds."},
      {9, "Race longer (--time): four times the time halves the smallest difference that can be told."},
      {10, "Build all contestants with optimization, and give all of them the same socket options and CPUs."},
      {11, "Compare only results of this machine as it is, or change what the text names."},
      {12, "End the programs that use the CPUs of the race, and look at the counts that differ."},
      {13, "Ask for a lower rate or fewer connections: messages were lost."},
      {14,
       "Race longer (--time), or look at the turns that the text names: a contestant may stall in them."}};
  const auto found = kRemedies.find(check);
  return found == kRemedies.end() ? "" : found->second;
}

}  // namespace joust::report::page
