// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "conformance/running.hpp"
#include "figure.hpp"
#include "load/run.hpp"
#include "protocols/file/wire.hpp"
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
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
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
    std::ofstream(path("large"), std::ios::binary) << pattern(5'000'000);
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

// The ranges of one upload belong together: they need sessions that do.
inline std::size_t connections_of_an_upload(const Variant& server) {
  return sessions_are_common(server) ? 2 : 1;
}

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
