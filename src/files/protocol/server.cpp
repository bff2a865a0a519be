// SPDX-License-Identifier: MIT
//
// The server side of file: a directory, and the shared state of its sessions.
#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "base/shared_memory.hpp"
#include "base/units.hpp"
#include "files/protocol/options.hpp"
#include "files/protocol/protocol.hpp"
#include "files/protocol/server_session.hpp"
#include "files/store/disk/directory_tree.hpp"
#include "files/store/upload/memory_tree.hpp"
#include "files/store/name.hpp"
#include "files/store/upload/tree_storage.hpp"

namespace joust::file {
namespace {

// A file in memory, offered for download.
struct Sample {
  std::string name;
  Fd contents;
};

std::optional<Sample> sample_of(const Parameters& parameters) {
  std::string sample = parameters.option("sample");
  if (sample.empty()) {
    if (!parameters.option("root").empty()) return std::nullopt;
    sample = std::string(kSampleName) + "=" + kSampleBytes;
  }
  const auto refuse = [&](std::string_view why) {
    return std::invalid_argument(fmt::format("--sample {}: {}", sample, why));
  };
  const std::size_t sign = sample.find('=');
  if (sign == std::string::npos) throw refuse("say NAME=BYTES, such as sample=1GiB");
  const std::string name = sample.substr(0, sign);
  if (const auto objection = objection_to(name); !objection.empty()) throw refuse(objection);
  const auto bytes = parse_bytes(sample.substr(sign + 1));
  if (!bytes) throw refuse(bytes.error());
  try {
    return Sample{name, generated_file(*bytes)};
  } catch (const std::system_error& error) {
    throw refuse(error.what());
  }
}

std::unique_ptr<FileTree> files_of(const Parameters& parameters) {
  const std::string& root = parameters.option("root");
  if (root.empty()) return std::make_unique<MemoryTree>();
  return std::make_unique<DirectoryTree>(root);
}

class FileServer : public Service {
 public:
  FileServer(const Parameters& parameters, const StorageRules& rules)
      : parameters_(parameters),
        sample_(sample_of(parameters)),
        storage_(files_of(parameters), rules),
        server_(storage_, digests_, count_of(parameters, "requests-per-connection"),
                RateRules::of(bytes_of(parameters, "min-rate")), parameters.option("access") != "write",
                parameters.option("access") != "read") {
    if (sample_) storage_.add_sample(sample_->name, std::move(sample_->contents));
  }

  std::unique_ptr<Session> open(const ConnectionInfo& info) override {
    return std::make_unique<ServerSession>(*server_, Uploader{info.peer, info.connection});
  }
  std::vector<ResultGroup> results() const override;

 private:
  const Parameters parameters_;
  std::optional<Sample> sample_;
  TreeStorage storage_;
  std::atomic<unsigned> digests_{0};
  SharedMemory<ServerState> server_;
};

std::vector<ResultGroup> FileServer::results() const {
  const PlainBytes& plain = storage_.plain_bytes();
  // Bytes that arrive together with the head before them are always written, and never spliced.
  const bool written = file_write(parameters_) == FileWrite::splice
                           ? plain.written > 0 && plain.written >= server_->bytes_stored
                           : plain.written > 0 && plain.gathered == 0;
  return {{"files",
           {{"queries", server_->queries.load()},
            {"fragments", server_->fragments.load()},
            {"uploads", server_->uploads.load()},
            {"refused", server_->refused.load()},
            {"abandoned", server_->abandoned.load()},
            {"unfinished", std::uint64_t{storage_.unfinished()}},
            {"too_slow", server_->too_slow.load()},
            {"bytes_sent", server_->bytes_sent.load()},
            {"bytes_stored", server_->bytes_stored.load()},
            {"file_read",
             way_used(parameters_.option("file-read"), "read", plain.read > server_->bytes_digested)},
            {"file_write", way_used(parameters_.option("file-write"), "write", written)}}}};
}

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& parameters) {
  const StorageRules rules{.existing = is_yes(parameters, "overwrite") ? Existing::replace : Existing::keep,
                           .largest_file = bytes_of(parameters, "max-file-bytes"),
                           .most_uploads = count_of(parameters, "max-uploads"),
                           .most_stored = bytes_if_given(parameters, "max-stored-bytes"),
                           .read = file_read(parameters),
                           .write = file_write(parameters)};
  try {
    return std::make_unique<FileServer>(parameters, rules);
  } catch (const std::system_error& error) {
    if (parameters.option("root").empty()) throw;  // this machine's memory, and no option
    throw std::invalid_argument(std::string("--root: ") + error.what());
  }
}

}  // namespace joust::file
