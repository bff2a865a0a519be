// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "cli/file_tool/client_arguments.hpp"
#include "cli/file_tool/transfer_arguments.hpp"
#include "files/store/name.hpp"
#include "files/transfer/file_get.hpp"
#include "files/transfer/get.hpp"
#include "files/transfer/listing.hpp"
#include "files/transfer/send.hpp"

namespace joust {
namespace {

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

namespace fs = std::filesystem;

// The least weight of a file. A file takes some time however small it is, so that many files need several
// connections.
constexpr std::uint64_t kLeastWeight = 256 << 10;  // bytes

// The top directory. It is created, and gets its mode when its content is complete.
class Top {
 public:
  // Creates the directory if it does not exist. Throws UsageError.
  Top(std::string path, std::uint32_t mode, const FileWishes& wishes) : path_(std::move(path)), mode_(mode) {
    struct stat facts {};
    const bool is_there = ::stat(path_.c_str(), &facts) == 0;
    if (is_there && !S_ISDIR(facts.st_mode))
      refuse("is no directory; move it away, or choose another directory (-o)");
    if (!is_there && ::mkdir(path_.c_str(), 0700) != 0) refuse(std::strerror(errno));
    gets_mode_ = !is_there || wishes.overwrites;
    set_mode(mode_ | transfer::kOwnersPermissions);
    if (!is_there && wishes.synced) sync_name();
  }
  void close() const { set_mode(mode_); }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw UsageError(fmt::format("-o {}: {}", printable(path_), why));
  }
  void set_mode(std::uint32_t mode) const {
    if (gets_mode_ && ::chmod(path_.c_str(), mode & kPermissionBits) != 0) refuse(std::strerror(errno));
  }
  void sync_name() const {
    const fs::path above = fs::path(path_).has_parent_path() ? fs::path(path_).parent_path() : ".";
    const Fd fd(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.is_open() && ::fsync(fd.get()) != 0) refuse(std::strerror(errno));
  }

  const std::string path_;
  const std::uint32_t mode_;
  bool gets_mode_ = false;
};

std::uint64_t weight_of(const std::vector<transfer::GetItem>& items) {
  std::uint64_t bytes = 0;
  for (const transfer::GetItem& item : items) bytes += std::max(item.facts->size, kLeastWeight);
  return bytes;
}

transfer::GetPlan TreeGet::plan(std::vector<transfer::RemoteItem> items) const {
  transfer::GetPlan plan{.folder = output,
                         .server = checksum(as_bytes(remote.address)),
                         .wishes = common.wishes(),
                         .connections = [this](std::uint64_t bytes) { return common.dials(bytes); },
                         .bytes_per_s = common.limit,
                         .most_retries = static_cast<unsigned>(common.client.retries)};
  for (transfer::RemoteItem& item : items) {
    if (item.is_folder) {
      plan.folders.push_back(std::move(item));
      continue;
    }
    const file::Facts facts{.size = item.size, .modified_ns = item.modified_ns, .mode = item.mode};
    plan.items.push_back({.name = joined(remote.path, item.name), .file = item.name, .facts = facts});
  }
  return plan;
}

// Prints the files that would be fetched. Does not check which of them exist here already.
int TreeGet::rehearse(const transfer::GetPlan& plan, std::vector<std::string> missing) const {
  std::string text;
  std::uint64_t bytes = 0;
  for (const transfer::RemoteItem& folder : plan.folders)
    text += fmt::format("directory  {0} -> {1}/{2}\n", printable(joined(remote.path, folder.name)),
                        printable(output), printable(folder.name));
  for (const transfer::GetItem& item : plan.items) {
    bytes += item.facts->size;
    text += fmt::format("{}  {} -> {}/{}\n", grouped(item.facts->size), printable(item.name),
                        printable(output), printable(item.file));
  }
  if (!common.json.empty())
    complain(common.program, fmt::format("--json {}: a dry run writes no result", common.json));
  print_list(text + fmt::format("{}, {}: nothing was fetched\n", counted(plan.items.size(), "file"),
                                format_data(static_cast<double>(bytes))));
  for (const std::string& why : missing) complain(common.program, why);
  return missing.empty() ? kOk : kRunError;
}

std::optional<int> TreeGet::run() const {
  const std::string& address = remote.address;
  transfer::Listing listing(
      {.name = remote.path, .recursive = true, .most_retries = static_cast<unsigned>(common.client.retries)});
  const auto listed = common.client.run(listing, address, {.first = 1}, ProgressMeter::Kind::none);
  if (!listing.over() || !listing.facts())
    return common.tell(listing, listed, {"get", "fetched", counted_files(0, 0)}, address);
  if (listing.is_file()) return std::nullopt;
  std::vector<std::string> notes;
  if (const std::uint64_t left_out = listing.left_out(); left_out > 0)
    notes.push_back(
        fmt::format("left out: {} on the server: links, devices, or names that cannot be asked for",
                    counted(left_out, "name")));
  for (const std::string& note : notes) complain(common.program, note);
  transfer::GetPlan fetched = plan(listing.take_items());
  if (common.dry_run) return rehearse(fetched, listing.complaints());
  fetched.missing = listing.complaints();
  const Top top(output, listing.facts()->mode.value_or(0755), fetched.wishes);
  transfer::GetTransfer getting(std::move(fetched));
  getting.make_folders();
  auto run = common.dial(getting, address, {.first = common.dials(weight_of(getting.plan().items))});
  run.seconds += listed.seconds;
  const transfer::Counts& counts = getting.counts();
  if (!run.interrupted) getting.close_folders();
  if (!run.interrupted && counts.failed == 0) top.close();
  return common.tell(getting, run,
                     {"get", "fetched", counted_files(counts.files, counts.folders), std::nullopt, notes},
                     address);
}

// The folder of `get -o -`, in the directory for temporary files, which is removed with this object. The file
// is fetched into it, and copied to standard output once all of it has arrived and is verified: written bytes
// cannot be taken back.
class OutputSpool {
 public:
  OutputSpool();  // throws std::system_error, and UsageError if standard output is closed
  ~OutputSpool();
  OutputSpool(const OutputSpool&) = delete;
  OutputSpool& operator=(const OutputSpool&) = delete;

  const std::string& folder() const { return folder_; }
  static constexpr auto kFile = "file";  // name of the file in the folder

  void copy() const;  // throws OutputError if standard output cannot be written, and std::system_error

 private:
  std::string folder_;
};

// Refuses a closed standard output: the next file or connection that is opened would get its number.
OutputSpool::OutputSpool() : folder_(temporary_directory() + "/joust-get-XXXXXX") {
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) throw UsageError("-o -: standard output is closed");
  if (::mkdtemp(folder_.data()) == nullptr)
    checked(-1, "-o -: the file cannot be kept in {}; set TMPDIR to another directory",
            printable(temporary_directory()));
}

OutputSpool::~OutputSpool() {
  std::error_code none;
  std::filesystem::remove_all(folder_, none);
}

void OutputSpool::copy() const {
  const std::string path = folder_ + '/' + kFile;
  checked(::chmod(path.c_str(), 0600), "chmod {}", path);  // the file's mode on the server does not matter
  const Fd file(checked(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open {}", path));
  std::vector<char> part(1 << 20);
  for (;;) {
    const ssize_t n = checked(retry_interrupted([&] { return ::read(file.get(), part.data(), part.size()); }),
                              "read {}", path);
    if (n == 0) return;
    for (ssize_t done = 0; done < n;) {
      const ssize_t written = retry_interrupted(
          [&] { return ::write(STDOUT_FILENO, part.data() + done, static_cast<std::size_t>(n - done)); });
      if (written < 0 && errno == EPIPE) throw ReaderLeft();
      if (written < 0) throw OutputError();
      done += written;
    }
  }
}

std::string get_examples(const Program& program) {
  return fmt::format(R"(Examples:
  {0} get 127.0.0.1:9000/images/disk.img
  {0} get 127.0.0.1:9000/images/disk.img -o copy.img -c 8 --overwrite
  {0} get 127.0.0.1:9000/images/disk.img --limit 10MB
  {0} get unix:/run/files.sock//images/disk.img
  {0} get -r 127.0.0.1:9000/photos -o back
  {0} get 127.0.0.1:9000/photos.tar -o - | tar x

The file gets its name when all of it is there and its digest is the server's. Interrupted, by whatever, the
same command goes on where it was. A small file comes over one connection. Of a larger one -c says how many
carry it at the most; there is another one for the digest, unless the server knows it. -r fetches what is
below a directory, empty directories too; -o then names the directory that becomes the server's. -o - writes
the file to standard output, once all of it is in TMPDIR and verified; an interruption begins anew.
Exit code 0: the file is there. 1: it is not, and what is there is kept. 2: wrong usage.)",
                     program.name);
}

struct Get {
  explicit Get(const Program& owner) : program(owner), common(owner) {}

  const Program& program;
  TransferArguments common;
  std::vector<std::string> words;  // the file on the server
  std::string output;
  bool recursive = false;

  int run();
  int run_file(const RemotePath& remote) const;
  int run_to_output(const RemotePath& remote);
  transfer::GetPlan plan_of(const RemotePath& remote) const;
  transfer::DialPlan dials() const;
  std::string tree_here(const RemotePath& remote) const;
  std::string source() const;
  transfer::GetPlan plan(const RemotePath& remote) const;
};

// Returns the plan without the local destination.
transfer::GetPlan Get::plan_of(const RemotePath& remote) const {
  return {.server = checksum(as_bytes(remote.address)),
          .wishes = common.wishes(),
          .connections = [this](std::uint64_t bytes) { return common.dials(bytes); },
          .bytes_per_s = common.limit,
          .most_retries = static_cast<unsigned>(common.client.retries),
          .only_asks = common.dry_run};
}

// Returns the connections: one asks for the facts, which show how many others are useful; one of them is for
// the digest.
transfer::DialPlan Get::dials() const {
  return {.first = 1, .later = common.dials(UINT64_MAX)};
}

// Returns the plan of one file. Only the last part of the server's path names the local file, so that no name
// from the server leads to another directory.
transfer::GetPlan Get::plan(const RemotePath& remote) const {
  namespace fs = std::filesystem;
  const std::string last(split_name(remote.path).last);
  const fs::path here = output.empty() ? fs::path(last) : fs::path(output);
  std::error_code none;
  const bool is_folder = output.ends_with('/');
  if (is_folder && !fs::exists(here, none))
    throw UsageError(
        fmt::format("-o {}: there is no such directory; make it first, and name the file: -o {}{}",
                    printable(output), printable(output), printable(last)));
  if (is_folder || (!output.empty() && fs::is_directory(here, none)))
    throw UsageError(fmt::format("-o {0}: is a directory; name the file: -o {0}{1}{2}", printable(output),
                                 is_folder ? "" : "/", printable(last)));
  if (const std::string error = transfer::output_error(here); !error.empty())
    throw UsageError(fmt::format("{}{} {}", output.empty() ? "" : "-o ", printable(here.string()), error));
  transfer::GetPlan plan = plan_of(remote);
  plan.items = {{.name = remote.path, .file = here.filename().string()}};
  plan.folder = here.has_parent_path() ? here.parent_path().string() : ".";
  if (const auto objection = objection_to(plan.items.front().file); !objection.empty())
    throw UsageError(fmt::format("-o {}: {}", printable(here.string()), objection));
  return plan;
}

// Returns the source. The word orders of other programs, "get HOST:PORT/PATH FILE" or "get FILE
// HOST:PORT/PATH", are refused with the right form.
std::string Get::source() const {
  const char* const form = "HOST:PORT/PATH, or unix:SOCKET//PATH";
  if (words.empty()) throw UsageError(fmt::format("get {}: which file?", form));
  const auto remote = std::ranges::find_if(words, is_remote);
  const bool is_one = words.size() == 1 && (remote != words.end() || !is_remote(output));
  if (is_one) return words.front();
  if (words.size() > 2 || (remote == words.end() && !is_remote(output)))
    throw UsageError(fmt::format("get takes one file, {}; -o names the one to be made", form));
  const std::string& other = remote == words.begin() ? words.back() : words.front();
  throw UsageError(fmt::format("the file to be made is named by -o: {} get {} -o {}", program.name,
                               printable(remote == words.end() ? output : *remote), printable(other)));
}

int Get::run() {
  const std::string from = source();
  const RemotePath remote = split_remote(from);
  const std::array made{output.empty() ? std::string(split_name(remote.path).last) : output};
  common.check(made);
  if (recursive) {
    if (const auto objection = objection_to(remote.path); !remote.path.empty() && !objection.empty())
      throw UsageError(fmt::format("'{}': {}", printable(remote.path), objection));
    const TreeGet tree{common, remote, tree_here(remote)};
    if (const auto code = tree.run()) return *code;
  }
  if (remote.path.empty())
    throw UsageError(fmt::format("'{}': which file? Say {}{}PATH", printable(from),
                                 from.starts_with("unix:") ? "unix:SOCKET" : "HOST:PORT", before_path(from)));
  if (const auto objection = objection_to(remote.path); !objection.empty())
    throw UsageError(fmt::format("'{}': {}", printable(remote.path), objection));
  return output == "-" ? run_to_output(remote) : run_file(remote);
}

// Returns the local directory that becomes a copy of the server's. It may exist: the same command continues
// in it.
std::string Get::tree_here(const RemotePath& remote) const {
  if (output == "-") throw UsageError("-r -o -: a directory cannot go to standard output; name one: -o DIR");
  std::string here = output.empty() ? std::string(split_name(remote.path).last) : output;
  while (here.size() > 1 && here.ends_with('/')) here.pop_back();
  if (here.empty())
    throw UsageError(fmt::format("get -r {}: the server's own directory has no name; say one: -o DIR",
                                 printable(remote.address)));
  return here;
}

// Writes the file's bytes, and nothing else, to standard output.
int Get::run_to_output(const RemotePath& remote) {
  if (common.json == "-" || common.progress == "json")
    throw UsageError("-o -: standard output is the file's; say --json FILE, and another --progress");
  common.bytes_on_output = true;
  const OutputSpool spool;
  transfer::GetPlan plan = plan_of(remote);
  plan.items = {{.name = remote.path, .file = OutputSpool::kFile}};
  plan.folder = spool.folder();
  plan.wishes = {};
  transfer::GetTransfer getting(plan);
  const auto run = common.dial(getting, remote.address, dials());
  const auto digest = getting.fetched();
  if (digest) spool.copy();
  return common.tell(getting, run, {"get", "fetched", printable(remote.path), digest}, remote.address);
}

int Get::run_file(const RemotePath& remote) const {
  const transfer::GetPlan fetched = plan(remote);
  std::unique_ptr<transfer::GetTransfer> getting;
  try {
    getting = std::make_unique<transfer::GetTransfer>(fetched);
  } catch (const std::system_error& error) {
    throw UsageError(
        fmt::format("-o {}: its directory cannot be opened: {}", printable(output), error.code().message()));
  }
  return common.run(*getting, remote.address, dials(), [&] {
    return TransferStory{"get", "fetched", printable(fetched.items.front().file), getting->fetched()};
  });
}

}  // namespace

void add_get(Command root, const Program& program, int& exit_code) {
  auto get = std::make_shared<Get>(program);
  Command command =
      root.add_command("get", "Fetch files over several connections, verified, and go on if interrupted");
  command.add_words("HOST:PORT/PATH", get->words,
                    "the file on the server, with -r a directory; or unix:SOCKET//PATH");
  command
      .add_option("-o,--output", get->output,
                  "the file to make, with -r the directory [the last part of PATH, here]")
      .type_name("FILE");
  command.add_flag("-r,--recursive", get->recursive, "fetch what is below a directory");
  get->common.add_to(command);
  command.footer(get_examples(program));
  command.callback([get, &exit_code] { exit_code = get->run(); });
}

}  // namespace joust
