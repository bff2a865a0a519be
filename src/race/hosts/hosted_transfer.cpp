// SPDX-License-Identifier: MIT
#include "race/hosts/hosted_transfer.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/units.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/trial/surroundings.hpp"
#include "race/trial/transfer_trial.hpp"

namespace joust::race {
namespace {

constexpr Duration kBetweenLooks = std::chrono::milliseconds(20);

Surroundings read_if(const std::optional<PinnedCpus>& watched) {
  return watched ? read_surroundings(*watched) : Surroundings{};
}

Surroundings window_if(const std::optional<PinnedCpus>& watched, const Surroundings& before) {
  return watched ? window_of(before, read_surroundings(*watched)) : Surroundings{};
}

}  // namespace

HostedTransfer::HostedTransfer(const Stop& stop, const FilePlan& plan, MovedFiles& files)
    : plan_(plan), files_(files), into_(files.fresh_target()), processes_(stop, false) {}

HostedTransfer::~HostedTransfer() {
  listening_ = {};
  processes_.end(std::chrono::seconds(1));
  files_.remove_target();
  try {
    (void)files_.restore();          // what this command has changed is not the fault of the next one
  } catch (const std::exception&) {  // the next one meets it again, and reports it
  }
}

CommandValues HostedTransfer::with_folders(CommandValues values) const {
  values.from = files_.from();
  values.into = into_;
  values.last = files_.last();
  values.bytes = fmt::format("{}", plan_.all_bytes());
  values.joust = own_program();
  return values;
}

Step<ServerStart> HostedTransfer::serve(ServerOrder order) {
  order.values = with_folders(std::move(order.values));
  order_ = std::move(order);
  serving_.emplace(processes_, *order_);
  if (auto started = serving_->start(); !started) return std::unexpected(std::move(started.error()));
  return ServerStart{.address = serving_->address(), .result = serving_->result()};
}

std::optional<Usage> HostedTransfer::usage_of_server() {
  const Part& part = processes_.server;
  return part.running() ? usage_of_processes(part.child->processes()) : std::nullopt;
}

// A server that prints much would wait for a reader. No request comes until the transfer is over, and it is
// not known when that is.
Step<> HostedTransfer::begin() {
  around_before_ = read_if(order_->watched);
  usage_before_ = usage_of_server();
  listening_ = std::jthread([this](const std::stop_token& over) {
    while (!over.stop_requested() && !processes_.interrupted())
      processes_.wait_until(Clock::now() + kBetweenLooks, [] { return false; });
  });
  return {};
}

Step<ServedTransfer> HostedTransfer::rest() {
  listening_ = {};
  if (processes_.server.gone()) return std::unexpected(serving_->early_end());
  ServedTransfer served{.usage = usage_of_server(), .around = window_if(order_->watched, around_before_)};
  if (served.usage && usage_before_) served.usage = *served.usage - *usage_before_;
  if (!usage_before_) served.usage.reset();
  return served;
}

Step<ServerEnd> HostedTransfer::stop() {
  if (auto stopped = serving_->stop(); !stopped) return std::unexpected(std::move(stopped.error()));
  ServerEnd end;
  end.result = std::move(serving_->result());
  return end;
}

Step<TransferEnd> HostedTransfer::run(const TransferOrder& order) {
  ChildCommand command = order.command;
  command.words.back() = filled(command.words.back(), with_folders(order.values));
  const Surroundings before = read_if(order.watched);
  Part& part = processes_.load;
  const Time began = Clock::now();
  if (auto started = processes_.start(part, command); !started)
    return std::unexpected(std::move(started.error()));
  const bool ended = processes_.wait_until(began + order.patience, [&] { return part.gone(); });
  const Time at_end = Clock::now();
  if (!ended)
    return std::unexpected(failure_of(
        part, fmt::format("the transfer did not end within {} and was killed; trial_timeout allows more",
                          format_duration(order.patience))));
  if (part.child->exit_code() != 0)
    return std::unexpected(
        failure_of(part, fmt::format("the transfer failed: {}", part.child->how_it_ended())));
  return TransferEnd{.took_s = std::chrono::duration<double>(at_end - began).count(),
                     .usage = part.child->usage().value_or(Usage{}),
                     .around = window_if(order.watched, before)};
}

Step<std::string> HostedTransfer::compare(bool has_target) {
  if (std::string changed = files_.restore(); !changed.empty())
    return std::unexpected(SideFailure{.what = std::move(changed)});
  return has_target ? files_.difference() : std::string();
}

}  // namespace joust::race
