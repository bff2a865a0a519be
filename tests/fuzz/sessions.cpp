// SPDX-License-Identifier: MIT
//
// Sessions, with nothing behind them but memory.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <vector>

#include "connection/stream_connection.hpp"
#include "files/protocol/server_session.hpp"
#include "files/store/name.hpp"
#include "fuzz/checked.hpp"
#include "fuzz/entries.hpp"
#include "load/run.hpp"
#include "protocols/broadcast/protocol.hpp"
#include "protocols/http/protocol.hpp"
#include "protocols/http/server_session.hpp"
#include "protocols/resp/protocol.hpp"
#include "protocols/websocket/protocol.hpp"
#include "protocols/websocket_fixture.hpp"
#include "protocols/work/protocol.hpp"

namespace joust::fuzz {
namespace {

constexpr std::uint64_t kLargest = 1 << 16;  // bytes of a file here

class MemoryFile : public File {
 public:
  explicit MemoryFile(std::size_t size) : bytes_(size) {}
  std::expected<std::size_t, int> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset >= bytes_.size()) return 0;
    const Bytes part = Bytes(bytes_).subspan(offset, std::min(into.size(), bytes_.size() - offset));
    std::ranges::copy(part, into.begin());
    return part.size();
  }
  std::expected<std::size_t, int> write_at(std::uint64_t offset, Bytes bytes) override {
    if (offset > bytes_.size() || bytes.size() > bytes_.size() - offset) std::abort();  // not its range
    std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    return bytes.size();
  }

 private:
  std::vector<std::byte> bytes_;
};

class MemoryUpload : public Upload {
 public:
  explicit MemoryUpload(std::uint64_t size) : size_(size), file_(size), digest_(size) {}
  FileAnswer<void> take(ByteRange range) override {
    if (range.end() > size_ || there_ + range.size > size_)
      return std::unexpected(FileRefusal{FileError::overlap});
    return {};
  }
  void give_back(ByteRange) noexcept override {}
  FileAnswer<void> make_room(ByteRange) override { return {}; }
  void stored(ByteRange, Bytes) override {}
  bool finish(ByteRange range) override {
    return (there_ += range.size) == size_ && !std::exchange(over_, true);
  }
  Resumption resume() override { return {.complete = true}; }
  FileAnswer<void> seal(const std::optional<Digest>&) override {
    if (there_ != size_ || std::exchange(over_, true))
      return std::unexpected(FileRefusal{FileError::malformed});
    return {};
  }
  FileAnswer<Check> check() override {
    const bool through = *digest_.advance(file_);
    return Check{digest_.done(), through ? std::optional(digest_.value()) : std::nullopt};
  }
  std::uint64_t left_to_check() const override { return size_ - digest_.done(); }
  std::uint64_t received() const override { return 0; }
  bool over() const override { return over_; }
  File& file() override { return file_; }

 private:
  std::uint64_t size_, there_ = 0;
  bool over_ = false;
  MemoryFile file_;
  FileDigest digest_;
};

class MemoryEntry : public StoredEntry {
 public:
  bool was_there() const override { return false; }
  FileAnswer<bool> is_on_disk() override { return true; }
};

// As many entries as its name is long, times a hundred.
class MemoryFolder : public FolderReader {
 public:
  explicit MemoryFolder(std::string_view name) : left_(name.size() * 100) {}
  std::expected<std::size_t, int> read(std::size_t most, std::vector<FolderEntry>& into) override {
    const std::size_t count = std::min(most, left_);
    for (std::size_t i = 0; i < count; ++i) into.push_back({.name = std::to_string(left_--)});
    return count;
  }
  std::uint64_t left_out() const override { return 0; }
  const FolderEntry& itself() const override { return itself_; }

 private:
  std::size_t left_;
  const FolderEntry itself_{.name = "folder", .is_folder = true};
};

class MemoryStorage : public Storage {
 public:
  FileAnswer<std::unique_ptr<FolderReader>> read_folder(std::string_view name) override {
    if (!objection_to(name).empty()) return std::unexpected(FileRefusal{FileError::name_refused});
    return std::make_unique<MemoryFolder>(name);
  }
  FileAnswer<OpenFile> open(std::string_view name) override {
    if (!objection_to(name).empty()) return std::unexpected(FileRefusal{FileError::name_refused});
    return OpenFile{.file = std::make_shared<MemoryFile>(name.size() * 100),
                    .version = {.size = name.size() * 101}};
  }
  FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest& request) override {
    if (!objection_to(request.name).empty()) return std::unexpected(FileRefusal{FileError::name_refused});
    if (request.size > kLargest) return std::unexpected(FileRefusal{FileError::too_large});
    return std::make_shared<MemoryUpload>(request.size);
  }
  FileAnswer<std::shared_ptr<StoredEntry>> make_folder(std::string_view name, const FileWishes&) override {
    if (!objection_to(name).empty()) return std::unexpected(FileRefusal{FileError::name_refused});
    return std::make_shared<MemoryEntry>();
  }
  FileAnswer<std::shared_ptr<StoredEntry>> sync(std::string_view name) override {
    return make_folder(name, {});
  }
  void remember(const OpenFile&, const Digest&) override {}
};

// Hears all that a session answers, and answers back nothing.
class Listener {
 public:
  explicit Listener(std::unique_ptr<Session> session) : session_(std::move(session)) {
    session_->on_open(now_);
  }
  void take(Bytes piece) {
    held_.insert(held_.end(), piece.begin(), piece.end());
    for (bool moved = true; moved;) {
      const std::size_t taken = deliver(held_, *session_, now_);
      held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(taken));
      moved = read() || taken > 0;
      if (const auto due = session_->deadline(); due && *due <= now_)
        session_->on_deadline(now_), moved = true;
    }
  }
  std::string heard() const { return heard_; }

 private:
  bool read() {
    Segment segment;
    if (session_->output({&segment, 1}) == 0) return false;
    std::string bytes(segment.size(), '\0');
    if (segment.in_file()) {
      const auto n =
          segment.file.file->read_at(segment.file.offset, std::as_writable_bytes(std::span(bytes)));
      bytes.resize(n.value_or(0));
      if (bytes.empty()) {
        session_->files()->on_source_failed(0, now_);
        return true;
      }
    } else {
      bytes = as_text(segment.bytes);
    }
    heard_ += bytes;
    session_->consumed(bytes.size());
    session_->released(bytes.size());
    return true;
  }

  std::unique_ptr<Session> session_;
  Time now_{std::chrono::hours(1)};
  std::vector<std::byte> held_;
  std::string heard_;
};

class FileServer {
 public:
  void take(Bytes piece) { listener_.take(piece); }
  std::string heard() const { return listener_.heard(); }
  static std::string wrong() { return {}; }

 private:
  MemoryStorage storage_;
  std::atomic<unsigned> digests_{0};
  file::ServerState server_{.storage = storage_, .digests = digests_};
  Listener listener_{std::make_unique<file::ServerSession>(server_)};
};

// A connection of a server that its protocol makes.
class Server {
 public:
  using Make = std::unique_ptr<Service> (*)(const Parameters&);

  Server(Make make, Settings options) : server_(make({.options = std::move(options)})) {}
  void take(Bytes piece) { listener_.take(piece); }
  std::string heard() const { return listener_.heard(); }
  static std::string wrong() { return {}; }

 private:
  std::unique_ptr<Service> server_;
  Listener listener_{server_->open({})};
};

Settings room_options(const std::string& framing) {
  return {{"framing", framing},
          {"flush", "batch"},
          {"room-bytes", "1MiB"},
          {"member-rate", "0"},
          {"min-rate", "1KiB"}};
}

struct Room : Server {
  Room() : Server(broadcast::make_server, room_options("length")) {}
};

struct WorkServer : Server {
  WorkServer()
      : Server(work::make_server, {{"work", "0"},
                                   {"most-work", "100ms"},
                                   {"work-kind", "busy"},
                                   {"loop-speed", "0"},
                                   {"writes", "two"}}) {}
};

struct RespServer : Server {
  RespServer() : Server(resp::make_server, {{"maxmemory", "4KiB"}}) {}
};

class HttpServer {
 public:
  void take(Bytes piece) { listener_.take(piece); }
  std::string heard() const { return listener_.heard(); }
  static std::string wrong() { return {}; }

 private:
  MemoryStorage storage_;
  http::HttpCounts counts_;
  http::HttpSite site_{
      .storage = &storage_, .clock = http::DateClock([] { return std::int64_t{0}; }), .counts = counts_};
  Listener listener_{std::make_unique<http::HttpSession>(site_)};
};

// A complaint ends with what had come, which depends on how it was cut.
std::string without_what_came(const std::string& complaint) {
  return complaint.substr(0, complaint.rfind("; ", complaint.find(" came: ")));
}

std::string verdict_of(const LoadRun& run) {
  const auto counts = run.recorder().counts();
  auto verdict = fmt::format("{} verified, {} failed", counts.verified, counts.failed);
  for (const auto& text : run.complaints()) verdict += "; " + without_what_came(text);
  return verdict;
}

// True for input that begins with a frame: the right handshake is put before it.
bool lacks_handshake(Bytes piece) {
  return piece[0] != std::byte{'G'} && piece[0] != std::byte{'H'};
}

class WebSocketServer {
 public:
  explicit WebSocketServer(std::unique_ptr<Service> server = websocket::make_server({}))
      : server_(std::move(server)) {}
  void take(Bytes piece) {
    if (piece.empty()) return;
    if (!std::exchange(has_begun_, true) && lacks_handshake(piece))
      listener_.take(as_bytes(websocket::test::request()));
    listener_.take(piece);
  }
  std::string heard() const { return listener_.heard(); }
  static std::string wrong() { return {}; }

 private:
  std::unique_ptr<Service> server_;
  Listener listener_{server_->open({})};
  bool has_begun_ = false;
};

struct WebSocketRoom : WebSocketServer {
  WebSocketRoom() : WebSocketServer(broadcast::make_server({.options = room_options("websocket")})) {}
};

// A connection of a load. What it asks may depend on when it hears the replies; its verdict on them does not.
class Client {
 public:
  using Make = std::unique_ptr<Service> (*)(const Parameters&, LoadRun&);

  Client(Make make, Settings options) : client_(make({.options = std::move(options)}, run_)) {}
  void take(Bytes piece) { listener_.take(piece); }
  std::string asked() const { return listener_.heard(); }
  std::string heard() const { return verdict_of(run_); }
  static std::string wrong() { return {}; }

 private:
  LoadRun run_{LoadPlan{.messages = 20, .depth = 20}};
  std::unique_ptr<Service> client_;
  Listener listener_{client_->open({})};
};

struct HttpClient : Client {
  HttpClient()
      : Client(http::make_client, {{"path", "/"},
                                   {"host", "a"},
                                   {"text", "Hello, World!"},
                                   {"body", "text"},
                                   {"method", "GET"},
                                   {"header", ""},
                                   {"data", ""},
                                   {"status", "200"}}) {}
};

struct RespClient : Client {
  RespClient()
      : Client(resp::make_client, {{"ratio", "1:3"},
                                   {"key-prefix", "k"},
                                   {"key-maximum", "10"},
                                   {"key-pattern", "uniform"},
                                   {"key-zipf-exp", "1"},
                                   {"data-size-range", ""},
                                   {"fill", "no"}}) {}
};

class WebSocketClient : public Client {
 public:
  WebSocketClient()
      : Client(websocket::make_client,
               {{"path", "/"}, {"host", "a"}, {"frame", "binary"}, {"fragment", "0"}}) {}
  void take(Bytes piece) {
    if (piece.empty()) return;
    if (piece.empty()) return;
    if (!std::exchange(has_begun_, true) && lacks_handshake(piece)) {
      const auto key = websocket::key_in(as_bytes(asked()));
      Client::take(as_bytes(websocket::test::answer(websocket::accept_of(key.value_or("")))));
    }
    Client::take(piece);
  }

 private:
  bool has_begun_ = false;
};

struct WorkClient : Client {
  WorkClient() : Client(work::make_client, {{"workload", "1"}, {"writes", "two"}}) {}
};

}  // namespace

std::string file_server(Bytes input) {
  return compare_checked<FileServer>(input);
}

std::string broadcast_room(Bytes input) {
  return compare<Room>(input);
}

std::string websocket_room(Bytes input) {
  return compare<WebSocketRoom>(input);
}

std::string http_server(Bytes input) {
  return compare<HttpServer>(input);
}

std::string http_client(Bytes input) {
  return compare<HttpClient>(input);
}

std::string resp_server(Bytes input) {
  return compare<RespServer>(input);
}

std::string resp_client(Bytes input) {
  return compare<RespClient>(input);
}

std::string websocket_server(Bytes input) {
  return compare<WebSocketServer>(input);
}

std::string websocket_client(Bytes input) {
  return compare<WebSocketClient>(input);
}

std::string work_server(Bytes input) {
  return compare<WorkServer>(input);
}

std::string work_client(Bytes input) {
  return compare<WorkClient>(input);
}

}  // namespace joust::fuzz
