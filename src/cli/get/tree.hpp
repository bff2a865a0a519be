// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/remote_path.hpp"
#include "cli/common/transfer_arguments.hpp"
#include "transfer/fetch.hpp"

namespace joust {

// `get -r`: what is below a directory of a server.
struct TreeFetch {
  const TransferArguments& common;
  const RemotePath& remote;
  std::string output;  // the directory that becomes the server's, whether it exists or not

  // Returns the exit code; nothing if the server has a file under that name. Throws UsageError if there can
  // be no such directory here.
  std::optional<int> run() const;

 private:
  transfer::FetchPlan plan(std::vector<transfer::RemoteItem> items) const;
  int rehearse(const transfer::FetchPlan& plan, std::vector<std::string> missing) const;
};

}  // namespace joust
