// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/common/merged_load.hpp"
#include "cli/hosts/cluster.hpp"
#include "cli/hosts/layout.hpp"
#include "cli/load/command.hpp"

namespace joust {

// One load that several hosts make together: conducts it, on rank 0. The order: the servers listen; all
// connections open; all begin at one time; each host has its result in a file of its own; the results are
// merged. A host that fails is named with the reason, and its connections count as failed. One thread.
class LoadOverHosts {
 public:
  // `load`: with a plan and valid arguments.
  explicit LoadOverHosts(Load& load);

  int run();

 private:
  // A process that loads.
  struct Generator {
    std::size_t rank;
    std::string id, file;
    LoadPartArguments part;
    bool is_ready = false;
    LoadOfHost outcome;
  };

  void divide();
  void start_servers();
  void connect();
  void measure();
  void post_run(std::size_t rank);
  void take_results(std::size_t rank);
  void take_result_from(Generator& generator, const nlohmann::json& reply, std::size_t number);
  void take_result(Generator& generator, const nlohmann::json& result);
  void stop_servers();
  std::string servers_text() const;
  int conclude();
  void fail(Generator& generator, const std::string& why);
  Duration longest_window() const;
  std::vector<std::string> server_words() const;
  std::string file_of(std::size_t number) const;
  std::vector<Generator*> of_rank(std::size_t rank, bool ready);

  Load& load_;
  const std::vector<std::string> names_;
  Cluster cluster_;
  const Layout layout_;
  std::vector<std::string> addresses_{};                              // of the servers
  nlohmann::ordered_json servers_ = nlohmann::ordered_json::array();  // what each used until its end
  std::vector<Generator> generators_{};
  Time begins_{};  // of all, on this host's clock
};

// Checks the arguments, and conducts the load or starts the hosts. Returns the exit code.
int load_over_hosts(Load& load);

}  // namespace joust
