// SPDX-License-Identifier: MIT
#include "race/trial/process_generation.hpp"

#include "race/trial/contender.hpp"
#include "race/trial/local_sides.hpp"

namespace joust::race {
namespace {

// A contestant whose both sides are processes of this host.
struct LocalContender {
  LocalContender(const ProcessSetup& setup, const TrialOrder& order)
      : serving(server_order(setup, order)),
        loading(load_order(setup, order)),
        processes(setup.stop, order.count_calls),
        contender(std::make_unique<LocalServer>(processes, serving),
                  std::make_unique<LocalLoad>(processes, loading), order.entry.client_forks, setup.stop) {}

  const ServerOrder serving;
  const LoadOrder loading;
  TrialProcesses processes;
  Contender contender;
};

// A generation of real processes.
class ProcessGeneration : public Generation {
 public:
  ProcessGeneration(const ProcessSetup& setup, const std::vector<TrialOrder>& orders) {
    for (const TrialOrder& order : orders)
      contenders_.push_back(std::make_unique<LocalContender>(setup, order));
  }

  bool start(std::size_t contestant) override { return contenders_[contestant]->contender.start(); }
  std::optional<Turn> take_turn(std::size_t contestant, TurnSize size, bool recorded) override {
    return contenders_[contestant]->contender.take_turn(size, recorded);
  }
  Trial finish(std::size_t contestant) override { return contenders_[contestant]->contender.finish(); }

 private:
  std::vector<std::unique_ptr<LocalContender>> contenders_;
};

}  // namespace

std::unique_ptr<Generation> process_generation(const ProcessSetup& setup,
                                               const std::vector<TrialOrder>& orders) {
  return std::make_unique<ProcessGeneration>(setup, orders);
}

}  // namespace joust::race
