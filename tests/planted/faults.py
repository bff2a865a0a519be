# SPDX-License-Identifier: MIT
"""Faults for the upper half of the program, from options to reports: each breaks one thing that users rely
on, and names the case that must notice it. Such a case is never a long one: it takes less than five seconds.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    name: str        # JOUST_PLANTED=NAME has it
    what: str        # what a user gets
    noticed_by: str  # the case, in tests/cli/
    edits: tuple     # triples: a file in src/; a statement or expression, once in it; what is done instead


def fault(name, what, noticed_by, *edits):
    return Fault(name, what, noticed_by, edits)


FAULTS = [
    fault("unknown-option-taken", "A misspelt option is taken, and has no effect.",
          "test_usage.py::Refusals::test_options_that_do_not_exist",
          ("cli/common/command_line.cpp",
           "app_->add_subcommand(name, summary)",
           "app_->add_subcommand(name, summary)->allow_extras()")),
    fault("result-file-overwritten", "A result is written into the old file, which is lost if that fails.",
          "test_usage.py::Results::test_a_file_is_replaced_as_a_whole",
          ("cli/common/result_file.cpp",
           "replace(behind_links(path), text);",
           "write_in_place(behind_links(path), text);")),
    fault("wrong-answers-succeed", "A load whose server answers wrong ends with exit code 0.",
          "test_load.py::Load::test_wrong_bytes_are_found",
          ("cli/load/run.cpp",
           "return result.clean() && unwritten.empty() ? kOk : kRunError;",
           "return kOk;")),
    fault("server-without-limit", "A server takes more connections than --max-connections allows.",
          "test_transfer_refusals.py::Refusals::test_a_server_without_room_is_not_taken_for_none",
          ("cli/serve.cpp",
           "limits.connections = most_connections;",
           "")),
    fault("interrupt-loses-rounds", "Ctrl-C throws away the rounds of a race that have ended.",
          "test_race.py::Race::test_an_interrupted_race_keeps_the_rounds_that_have_ended",
          ("cli/race/run.cpp",
           "!result.complete && result.rounds == 0 && result.lost_hosts.empty()",
           "!result.complete && result.lost_hosts.empty()")),
    fault("quick-ignored", "A race with --quick takes as long as without.",
          "test_race.py::Race::test_a_quick_race_has_few_rounds",
          ("race/scenario/overrides.cpp",
           "std::min(scenario.time, kQuickTime * static_cast<std::int64_t>(scenario.cases.size()))",
           "scenario.time")),
    fault("place-filled-once", "Of two {port} or {into} in a command only the first is replaced.",
          "test_race_files.py::RaceOfFiles::test_who_loses_a_byte_is_not_ranked",
          ("race/scenario/shell_command.cpp",
           "for (std::size_t at = 0; (at = command.find(place, at)) != std::string::npos; "
           "at += value.size())\n"
           "    command.replace(at, place.size(), value);",
           "if (const auto at = command.find(place); at != std::string::npos)\n"
           "      command.replace(at, place.size(), value);")),
    fault("rounds-in-fixed-order", "Every round has the same order: who begins always begins.",
          "test_race.py::Race::test_the_order_is_drawn_for_each_round_and_for_each_round_of_turns",
          ("race/run/plan.cpp",
           "stats::shuffle(order, random);",
           "")),
    fault("turns-in-fixed-order", "Contestants take their turns in the same order throughout a round.",
          "test_race.py::Race::test_the_order_is_drawn_for_each_round_and_for_each_round_of_turns",
          ("race/run/generation_run.cpp",
           "stats::shuffle(order, random);",
           "")),
    fault("server-killed", "The server of a command is killed without having been asked to end.",
          "test_race_commands.py::Commands::test_a_server_is_asked_to_end_before_it_is_killed",
          ("race/trial/local_sides.cpp",
           "part().child->send_all(SIGTERM);",
           "part().child->send_all(foreign() ? SIGKILL : SIGTERM);")),
    fault("wrong-replies-ranked", "A contestant that gives wrong replies is ranked all the same.",
          "test_race_commands.py::Commands::test_a_server_that_answers_wrong_once_is_not_ranked",
          ("race/checks/check_03_answers.cpp",
           "!faults.none()",
           "false")),
    fault("invalid-race-succeeds", "A race of which nothing is valid ends with exit code 0 in place of 3.",
          "test_race.py::Race::test_a_race_without_a_sound_contestant_is_invalid",
          ("race/judgement/judge.cpp",
           "return invalid_because(race).empty() ? 0 : 3;",
           "return 0;")),
    fault("threshold-without-interval", "--fail-below fails by chance: it compares the estimate alone.",
          "test_history.py::History::test_a_slower_result_fails_beyond_the_threshold_only",
          ("race/judgement/thresholds.cpp",
           "ratio.interval.high < beyond && is_certain",
           "ratio.estimate < beyond")),
    fault("unranked-looks-ranked", "A report shows a contestant that is not ranked like one that is.",
          "test_report.py::ShortRace::test_who_is_not_ranked_is_told_with_the_reason",
          ("report/page/tables.cpp",
           "!contestant.ranked && !contestant.at_least",
           "false")),
    fault("history-forgets", "A race is not added to the history.",
          "test_history.py::History::test_a_short_race_is_kept_too",
          ("history/store.cpp",
           "remove_oldest(*database_);\n  alone.commit();",
           "")),
    fault("host-error-lost", "A load over hosts goes on where a host has failed, and does not say why.",
          "test_hosts.py::OnOneHost::test_what_a_host_complains_of_is_told",
          ("hosts/agent.cpp",
           "reply[\"failed\"] = words_of(error);",
           "reply[\"event\"] = Json::object();")),
]
