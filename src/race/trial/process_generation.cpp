// SPDX-License-Identifier: MIT
#include "race/trial/process_generation.hpp"

#include "race/trial/contender.hpp"

namespace joust::race {
namespace {

// A generation of real processes.
class ProcessGeneration : public Generation {
 public:
  ProcessGeneration(const ProcessSetup& setup, const std::vector<TrialOrder>& orders) {
    for (const TrialOrder& order : orders) contenders_.push_back(std::make_unique<Contender>(setup, order));
  }

  bool start(std::size_t contestant) override { return contenders_[contestant]->start(); }
  std::optional<Turn> take_turn(std::size_t contestant, TurnSize size, bool recorded) override {
    return contenders_[contestant]->take_turn(size, recorded);
  }
  Trial finish(std::size_t contestant) override { return contenders_[contestant]->finish(); }

 private:
  std::vector<std::unique_ptr<Contender>> contenders_;
};

}  // namespace

std::unique_ptr<Generation> process_generation(const ProcessSetup& setup,
                                               const std::vector<TrialOrder>& orders) {
  return std::make_unique<ProcessGeneration>(setup, orders);
}

}  // namespace joust::race
