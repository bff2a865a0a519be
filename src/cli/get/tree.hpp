// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/remote_path.hpp"
#include "cli/common/transfer_arguments.hpp"
#include "transfer/fetch.hpp"

namespace joust {

// `get -r`: fetches the content of a server's directory.
struct TreeFetch {
  const TransferArguments& common;
  const RemotePath& remote;
  std::string output;  // local copy of the server's directory; need not exist

  // Fetches the tree. Returns the exit code; nothing if the server has a file under that name. Throws
  // UsageError if the local directory is not possible.
  std::optional<int> run() const;

 private:
  transfer::FetchPlan plan(std::vector<transfer::RemoteItem> items) const;
  int rehearse(const transfer::FetchPlan& plan, std::vector<std::string> missing) const;
};

}  // namespace joust
