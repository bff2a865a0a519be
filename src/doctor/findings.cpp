// SPDX-License-Identifier: MIT
#include "doctor/findings.hpp"

namespace joust::doctor {
namespace {

constexpr Judge kJudges[] = {
    judge_build,        judge_other_load, judge_steal,       judge_quota,     judge_cores,
    judge_allowed_cpus, judge_smt,        judge_governor,    judge_turbo,     judge_clock_source,
    judge_softirq_time, judge_hypervisor, judge_container,   judge_io_uring,  judge_seccomp,
    judge_call_count,   judge_open_files, judge_local_ports, judge_time_wait, judge_congestion_control,
    judge_swap,
};

}  // namespace

std::vector<Finding> findings(const Facts& facts) {
  std::vector<Finding> all;
  for (const Judge judge : kJudges) all.push_back(judge(facts));
  return all;
}

}  // namespace joust::doctor
