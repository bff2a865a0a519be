// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/file_tool/remote_path.hpp"
#include "cli/file_tool/transfer_arguments.hpp"
#include "files/transfer/get.hpp"

namespace joust {

// `get -r`: fetches the content of a server's directory.
struct TreeGet {
  const TransferArguments& common;
  const RemotePath& remote;
  std::string output;  // local copy of the server's directory; need not exist

  // Fetches the tree. Returns the exit code; nothing if the server has a file under that name. Throws
  // UsageError if the local directory is not possible.
  std::optional<int> run() const;

 private:
  transfer::GetPlan plan(std::vector<transfer::RemoteItem> items) const;
  int rehearse(const transfer::GetPlan& plan, std::vector<std::string> missing) const;
};

}  // namespace joust
