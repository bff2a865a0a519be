// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/running.hpp"
#include "figure.hpp"
#include "files/protocol/wire.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"
#include "temporary_folder.hpp"

// Shared code of the suites about files.
namespace joust::conformance {

namespace fs = std::filesystem;
using Options = std::map<std::string, std::string>;
using file::Message;

inline const Protocol& protocol() {
  static const std::vector<Protocol> all = builtin_protocols();
  return *std::ranges::find(all, "file", &Protocol::name);
}

inline Parameters with(Role side, const Options& options) {
  Parameters parameters = standard_parameters(protocol(), side);
  for (const auto& [name, value] : options) parameters.options[name] = value;
  return parameters;
}

inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

inline std::string wire(const Message& message) {
  return std::string(as_text(encode(message)));
}

// A directory served by the engine under test.
class FileTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    fs::create_directories(path("sub"));
    std::ofstream(path("small")) << "0123456789";
    static const std::string large = pattern(5'000'000);
    std::ofstream(path("large"), std::ios::binary) << large;
  }
  std::string path(const std::string& name) const { return folder_.file("root/" + name); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path("")), fs::directory_iterator{}));
  }
  std::unique_ptr<Service> serve(Options options = {}) const {
    options.emplace("root", folder_.file("root"));
    return protocol().make_server(with(Role::serve, options));
  }
  test::TemporaryFolder folder_;
};
inline const Variant& plain_epoll() {
  static const std::vector<Variant> all = variants(Role::dial, Settings::defaults);
  return *std::ranges::find(all, "epoll", &Variant::name);
}

// The engines that take uploads: their sessions are in one process.
inline std::vector<Variant> uploading_variants(Role role, Settings which) {
  std::vector<Variant> all = variants(role, which);
  std::erase_if(all, [](const Variant& variant) { return !sessions_are_common(variant); });
  return all;
}

// The ways in which the engine gets a peer's bytes into a file.
inline std::vector<std::string> ways_to_write(const Variant& variant) {
  std::vector<std::string> ways{"write", "splice", "mmap"};
  if (variant.engine->no_file_ring.empty()) ways.emplace_back("writev");
  return ways;
}

// A figure of a service's results that is a text.
inline std::string words(const Service& service, const std::string& name) {
  for (const ResultGroup& group : service.results())
    for (const auto& [key, value] : group.figures)
      if (key == name) return std::get<std::string>(value);
  return "no such figure";
}

// During its lifetime no file can grow beyond `bytes`.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGXFSZ, &ignore, nullptr);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
};

// Runs a load against a server and expects every range to be verified.
inline void carry(const Variant& client, Server& server, std::size_t connections, std::uint64_t ranges,
                  const Options& options, std::uint64_t messages = 1) {
  LoadRun run({.connections = connections, .messages = messages, .request_timeout = kPatience});
  const auto asking = protocol().make_client(with(Role::dial, options), run);
  {
    Dialling dialling(client, *asking, {server.endpoint()}, connections);
    dialling.run().wait();
  }
  for (const std::string& complaint : run.complaints()) ADD_FAILURE() << complaint;
  EXPECT_EQ(run.recorder().counts().verified, ranges);
  EXPECT_EQ(run.connections_failed(), 0U);
}

// A peer that sends requests by hand and reads the answers. Each answer is one frame and, for data, its
// bytes.
class Asker {
 public:
  explicit Asker(const Server& server) : peer_(server.endpoint()) {}

  void say(const std::string& bytes) { peer_.send(bytes); }
  Message hear() {
    file::Decoder decoder;
    for (;;) {
      const auto step = decoder.next(as_bytes(peer_.receive(1)));
      if (!step) throw std::runtime_error("not the protocol");
      if (step->message) return *step->message;
    }
  }
  template <typename Body>
  Body hear_a() {
    const Message message = hear();
    if (const auto* body = std::get_if<Body>(&message.body)) return *body;
    ADD_FAILURE() << "kind " << message.body.index() << " of frame is not what was expected";
    return {};
  }
  FileError hear_error() { return hear_a<file::Error>().refusal.error; }
  std::string hear_fragment() {
    hear_a<file::Facts>();
    std::string text;
    for (;;) {
      const Message message = hear();
      if (std::holds_alternative<file::End>(message.body)) return text;
      const auto* data = std::get_if<file::Data>(&message.body);
      if (data == nullptr) throw std::runtime_error("a fragment is cut short: " + text);
      text += peer_.receive(data->size);
    }
  }
  Peer& peer() { return peer_; }

 private:
  Peer peer_;
};

inline std::string upload(const std::string& name, const std::string& text, std::uint64_t id = 1) {
  return wire({1,
               file::UploadRange{
                   .file_size = text.size(), .range = {0, text.size()}, .id = id, .name = name}}) +
         wire({1, file::Data{static_cast<std::uint32_t>(text.size())}}) + text +
         wire({1, file::End{text.size()}});
}

}  // namespace joust::conformance
