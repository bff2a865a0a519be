// SPDX-License-Identifier: MIT
//
// file: files of one directory, whole or in ranges, over one binary protocol (docs/file-protocol.md).
//
//     query --> facts                                  size, time, digest
//     fragment --> facts, data ..., end                a range is downloaded
//     upload, data ..., end --> stored                 a range is uploaded
//
// A server accesses files below --root only. Without --root it keeps files in memory, which the kernel frees
// when the process ends, and offers a sample. A client divides each transfer into --segments ranges.
#include "files/protocol/protocol.hpp"

#include "files/protocol/client_options.hpp"
#include "files/protocol/option_effects.hpp"
#include "files/protocol/options.hpp"

namespace joust {

Protocol file_protocol() {
  Protocol protocol;
  protocol.name = "file";
  protocol.summary = "files of one directory: fetched, sent, asked about";
  protocol.no_messages = "lost ones are not sent again yet";
  // Uploads are an exception, which demands_of() reports.
  protocol.sessions_stand_alone = true;
  protocol.takes_turns = true;
  protocol.counts_turns = true;
  // The first option ends connections, the second writes one file from one transfer.
  protocol.options_without_turns = {"requests-per-connection", "output"};
  protocol.no_reconnect = "a transfer that was begun over other connections cannot be taken over";
  protocol.no_payload = "a transfer has no payload; it has the size of its file (--name, --file), or --bytes";
  protocol.standard_messages = 1;
  protocol.has_ceiling = false;
  protocol.verified = "by size and place, and a copy by its digest after the timed window";
  protocol.options = file::options();
  protocol.make_server = file::make_server;
  protocol.make_client = file::make_client;
  protocol.demands = file::demands_of;
  protocol.no_effect = file::no_effect;
  protocol.repeatable = file::repeatable;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan& plan) {
    file::local_files_rules(parameters, file::transfer_options(parameters, plan), plan);
  };
  return protocol;
}

}  // namespace joust
