// SPDX-License-Identifier: MIT
//
// The server side of http: a directory or a text, and the state that its sessions share.
#include <memory>
#include <stdexcept>
#include <system_error>

#include "base/shared_memory.hpp"
#include "files/store/disk/directory_tree.hpp"
#include "files/store/file_version.hpp"
#include "files/store/upload/tree_storage.hpp"
#include "protocols/http/options.hpp"
#include "protocols/http/protocol.hpp"
#include "protocols/http/server_session.hpp"

namespace joust::http {
namespace {

std::unique_ptr<TreeStorage> storage_of(const std::string& root) {
  if (root.empty()) return nullptr;
  try {
    return std::make_unique<TreeStorage>(std::make_unique<DirectoryTree>(root),
                                         StorageRules{.most_uploads = 0, .read = FileRead::sendfile});
  } catch (const std::system_error& error) {
    throw std::invalid_argument(std::string("--root: ") + error.what());
  }
}

class HttpServer : public Service {
 public:
  explicit HttpServer(const Parameters& parameters)
      : storage_(storage_of(parameters.option("root"))),
        site_{.storage = storage_.get(),
              .lists = lists(parameters),
              .dot_files = serves_dot_files(parameters),
              .text = text(parameters),
              .clock = DateClock(wall_clock_ns),
              .requests_per_connection = requests_per_connection(parameters),
              .rates = rates(parameters),
              .hosts = answered_hosts(parameters),
              .counts = *counts_} {}

  std::unique_ptr<Session> open(const ConnectionInfo& /*info*/) override {
    return std::make_unique<HttpSession>(site_);
  }
  std::vector<ResultGroup> results() const override {
    return {{"http",
             {{"requests", counts_->requests.load()},
              {"refused", counts_->refused.load()},
              {"cut_off", counts_->cut_off.load()},
              {"too_slow", counts_->too_slow.load()},
              {"file_bytes_sent", counts_->bytes_sent.load()}}}};
  }

 private:
  const std::unique_ptr<TreeStorage> storage_;  // null without --root
  SharedMemory<HttpCounts> counts_;
  const HttpSite site_;
};

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& parameters) {
  return std::make_unique<HttpServer>(parameters);
}

}  // namespace joust::http
