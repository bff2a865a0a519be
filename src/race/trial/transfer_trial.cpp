// SPDX-License-Identifier: MIT
#include "race/trial/transfer_trial.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "files/store/file_version.hpp"
#include "measure/histogram.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/trial/local_sides.hpp"
#include "race/trial/orders.hpp"
#include "race/trial/process_family.hpp"
#include "race/trial/surroundings.hpp"

namespace joust::race {
namespace {

namespace fs = std::filesystem;

// The last part of both folders' paths. It is the same, because a program that sends a folder may send its
// name too.
constexpr const char* kName = "files";
constexpr std::size_t kBlock = 1 << 20;
constexpr std::uint64_t kSpare = 4 << 20;  // for other programs

std::string name_of(std::uint64_t number) {
  return fmt::format("{:05}", number);
}

Fd open_file(const std::string& path, int flags, mode_t mode = 0) {
  return Fd(checked(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode), "open({})", path));
}

void write_all(const Fd& file, const std::vector<std::uint64_t>& words, std::size_t bytes) {
  const auto* const data = reinterpret_cast<const char*>(words.data());
  for (std::size_t at = 0; at < bytes;)
    at += static_cast<std::size_t>(checked(::write(file.get(), data + at, bytes - at), "write()"));
}

using Block = std::vector<char>;

// Reads a block of the file. Returns its number of bytes, which is smaller at the file's end.
std::size_t read_block(const Fd& file, Block& into) {
  std::size_t at = 0;
  while (at < into.size()) {
    const auto got =
        static_cast<std::size_t>(checked(::read(file.get(), into.data() + at, into.size() - at), "read()"));
    if (got == 0) break;
    at += got;
  }
  return at;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Returns the names in the folder, without "." and "..".
std::vector<std::string> names_in(const Fd& folder) {
  Fd again(checked(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "openat(the target)"));
  const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(again.get()));
  if (!stream) checked(-1, "fdopendir(the target)");
  static_cast<void>(again.release());  // it is the stream's now
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) checked(-1, "readdir(the target)");
  return names;
}

bool is_one_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Compares files with one pair of blocks for all of them: new memory for each takes longer than small files
// do.
class FileComparison {
 public:
  // Returns in words how the file of this name in the target differs from the source; empty if it is a copy.
  std::string difference(const std::string& source, const Fd& target, const std::string& name) {
    struct stat entry {};
    checked(::fstatat(target.get(), name.c_str(), &entry, AT_SYMLINK_NOFOLLOW), "fstatat({})", name);
    if (!S_ISREG(entry.st_mode)) return fmt::format("{} is no file in the target", name);
    const Fd left = open_file(source, O_RDONLY);
    const Fd right(
        checked(::openat(target.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC),
                "openat({})", name));
    struct stat from {};
    checked(::fstat(left.get(), &from), "fstat({})", source);
    checked(::fstat(right.get(), &entry), "fstat({})", name);
    if (is_one_file(from, entry))
      return fmt::format("{} in the target is the source itself, and no copy", name);
    return same(left, right) ? "" : fmt::format("{} in the target differs from the file", name);
  }

 private:
  bool same(const Fd& left, const Fd& right) {
    for (;;) {
      const std::size_t bytes = read_block(left, here_);
      if (read_block(right, there_) != bytes || std::memcmp(here_.data(), there_.data(), bytes) != 0)
        return false;
      if (bytes < here_.size()) return true;
    }
  }

  Block here_ = Block(kBlock), there_ = Block(kBlock);
};

}  // namespace

MovedFiles::MovedFiles(const FilePlan& plan)
    : plan_(plan), source_parent_(folder_of(plan)), source_(source_parent_.path() + '/' + kName) {
  write_sources();
}

// Writes random contents from a seed, so that files that are written again have the same bytes.
void MovedFiles::write_sources() {
  checked(::mkdir(source_.c_str(), 0777), "mkdir({})", source_);
  std::vector<std::uint64_t> words(std::min<std::uint64_t>(plan_.bytes, kBlock) / sizeof(std::uint64_t) + 1);
  std::uint64_t state = kMixStep;
  for (std::uint64_t i = 0; i < plan_.count; ++i) {
    const Fd file = open_file(source_ + '/' + name_of(i), O_WRONLY | O_CREAT | O_EXCL, 0644);
    for (std::uint64_t left = plan_.bytes; left > 0;) {
      for (std::uint64_t& word : words) word = mixed(state += kMixStep);
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, kBlock));
      write_all(file, words, part);
      left -= part;
    }
    versions_.push_back(version_of(file.get()));
  }
}

std::string MovedFiles::changed() const {
  for (std::uint64_t i = 0; i < plan_.count; ++i) {
    const std::string path = source_ + '/' + name_of(i);
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (i >= versions_.size() || !file.is_open())
      return fmt::format("the command has taken {} out of its folder", name_of(i));
    if (version_of(file.get()) != versions_[i])
      return fmt::format("the command has changed {} where it came from", name_of(i));
  }
  return {};
}

std::string MovedFiles::restore() {
  std::string what = changed();
  if (what.empty()) return what;
  fs::remove_all(source_);
  versions_.clear();
  write_sources();
  return what;
}

std::string MovedFiles::last() const {
  return name_of(plan_.count - 1);
}

void MovedFiles::remove_target() {
  target_folder_.close();
  target_.reset();
}

std::string MovedFiles::fresh_target() {
  if (versions_.size() != plan_.count) restore();  // a full disk has prevented an earlier restore
  remove_target();
  target_ = std::make_unique<TemporaryFolder>(folder_of(plan_));
  const std::string target = target_->path() + '/' + kName;
  checked(::mkdir(target.c_str(), 0777), "mkdir({})", target);
  target_folder_ = open_file(target, O_RDONLY | O_DIRECTORY);
  if (plan_.on == "memory") use_memory_once(target_->path() + "/memory");
  ::sync();  // otherwise earlier writes of other programs would be written in this contestant's time
  return target;
}

// Writes and frees as much memory as the files need. A virtual machine may have given free memory back to its
// host. Getting it again takes several times as long as copying into it, and would be charged to the first
// contestant.
void MovedFiles::use_memory_once(const std::string& path) const {
  const Fd file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  checked(::unlink(path.c_str()), "unlink({})", path);
  const std::vector<std::uint64_t> words(kBlock / sizeof(std::uint64_t));
  for (std::uint64_t left = plan_.all_bytes(); left > 0;) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, kBlock));
    write_all(file, words, part);
    left -= part;
  }
}

// Reads through the descriptor: a command may have put a link to other files in the folder's place.
std::string MovedFiles::difference() const {
  const std::string path = target_->path() + '/' + kName;
  struct stat made {
  }, named{};
  checked(::fstat(target_folder_.get(), &made), "fstat({})", path);
  checked(::lstat(path.c_str(), &named), "lstat({})", path);
  if (!is_one_file(made, named))
    return "the command has put something else in the place of the folder {into}";
  FileComparison comparison;
  std::uint64_t there = 0;
  for (const std::string& name : names_in(target_folder_)) {
    const auto number = parse_count(name);
    if (!number || *number >= plan_.count || name != name_of(*number))
      return fmt::format("the target has '{}', which is none of the files", printable(name));
    if (std::string wrong = comparison.difference(source_ + '/' + name, target_folder_, name); !wrong.empty())
      return wrong;
    ++there;
  }
  if (there == plan_.count) return {};
  return fmt::format("{} of {} arrived", there, counted(plan_.count, "file"));
}

MovedFiles& MovedFilesOfRace::of(const FilePlan& plan) {
  return files_.try_emplace(plan, plan).first->second;
}

std::string no_room_for(const FilePlan& files, std::uint64_t beside) {
  const std::string folder = folder_of(files);
  const Fd there(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!there.is_open() || ::access(folder.c_str(), W_OK) != 0)
    return fmt::format("unavailable: {}: {}", folder, std::strerror(errno));
  const auto room = file_system_room(there.get());
  const std::uint64_t wanted = beside + 2 * room_for(files) + kSpare;
  if (!room || room->bytes >= wanted) return {};
  return fmt::format("unavailable: {} has room for {}, and {} are needed: the files of all cases, and a copy",
                     folder, format_bytes(static_cast<double>(room->bytes)),
                     format_bytes(static_cast<double>(wanted)));
}

std::string own_program() {
  std::error_code unknown;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return shell_text({unknown ? "joust" : path.string()});
}

void note_transfer(const FilePlan& files, Duration took, const Usage& usage, const std::string& wrong,
                   Trial& trial) {
  LoadResult result;
  result.messages.sent = files.count;
  result.duration_s = std::chrono::duration<double>(took).count();
  (wrong.empty() ? result.messages.verified : result.messages.failed) = files.count;
  if (!wrong.empty()) result.messages_of_errors.push_back(wrong);
  result.throughput_per_s = static_cast<double>(result.messages.verified) / result.duration_s;
  const double mb_per_s = result.throughput_per_s * static_cast<double>(files.bytes) / 1e6;
  result.groups = {{.name = "transfer", .figures = {{"mb_per_s", mb_per_s}}}};
  result.set_usage(usage);
  const auto ns = static_cast<std::uint64_t>(took.count());
  result.latency_ns = Distribution({Histogram::bucket_with(ns, 1)}, ns, ns, ns);
  trial.load = std::move(result);
}

namespace {

class TransferTrial {
 public:
  TransferTrial(const ProcessSetup& setup, const TrialOrder& order, MovedFiles& files)
      : setup_(setup), order_(order), files_(files) {}

  Trial run() {
    trial_.serverless = order_.entry.contestant.command.empty();
    const bool in_order = start_server() && transfer() && stop_server();
    if (!in_order) processes_.end(setup_.server_stop);
    files_.remove_target();
    if (!in_order && !setup_.stop.requested()) files_.restore();
    trial_.server = std::move(serving_.result());
    if (setup_.stop.requested()) trial_.interrupted = true;
    return std::move(trial_);
  }

 private:
  bool start_server() {
    auto started = serving_.start();
    return succeeded(started, trial_);
  }

  bool stop_server() {
    auto stopped = serving_.stop();
    return !setup_.stop.requested() && succeeded(stopped, trial_);
  }

  bool fail_command(std::string what) { return fail(failure_of(command_, std::move(what)), trial_); }

  std::optional<Usage> usage_of_server() const {
    return server_.running() ? usage_of_processes(server_.child->processes()) : std::nullopt;
  }

  bool transfer() {
    const Surroundings before = read_surroundings(pinned_);
    const auto server_before = usage_of_server();
    if (server_.calls) server_.calls_before = server_.calls->count();
    const Time began = Clock::now();
    auto started = processes_.start(
        command_,
        shell_command(filled(order_.entry.contestant.transfer, serving_.values()), setup_.cpus.client));
    if (!succeeded(started, trial_)) return false;
    const Duration patience = most_time(setup_.scenario.limits, order_.load_case.load);
    const bool ended =
        processes_.wait_until(began + patience, [&] { return command_.gone() || server_.gone(); });
    const Time at_end = Clock::now();
    count_calls();
    const auto server_after = usage_of_server();
    note_surroundings(window_of(before, read_surroundings(pinned_)), trial_);
    if (setup_.stop.requested()) return false;
    if (!ended)
      return fail_command(
          fmt::format("the transfer did not end within {} and was killed; trial_timeout allows more",
                      format_duration(patience)));
    if (!command_.gone()) return fail(serving_.early_end(), trial_);
    if (command_.child->exit_code() != 0)
      return fail_command(fmt::format("the transfer failed: {}", command_.child->how_it_ended()));
    if (const std::string changed = files_.restore(); !changed.empty()) return fail_command(changed);
    if (server_before && server_after) serving_.result().usage = *server_after - *server_before;
    keep(at_end - began);
    return true;
  }

  void count_calls() {
    if (server_.calls)
      trial_.server_calls = static_cast<double>(server_.calls->count() - server_.calls_before);
    if (command_.calls) trial_.client_calls = static_cast<double>(command_.calls->count());
    for (const Part* part : {&server_, &command_})
      if (!part->no_calls.empty()) trial_.calls_reason = part->no_calls;
  }

  void keep(Duration took) {
    const std::string wrong = order_.entry.contestant.moves_files ? files_.difference() : std::string();
    note_transfer(*order_.load_case.files, took, command_.child->usage().value_or(Usage{}), wrong, trial_);
  }

  const ProcessSetup& setup_;
  const TrialOrder& order_;
  MovedFiles& files_;
  const ServerOrder server_order_ =
      server_order(setup_, order_,
                   {.from = files_.from(),
                    .into = files_.fresh_target(),
                    .last = files_.last(),
                    .bytes = fmt::format("{}", order_.load_case.files->all_bytes()),
                    .joust = own_program()});
  TrialProcesses processes_{setup_.stop, order_.count_calls};
  ServerProcess serving_{processes_, server_order_};
  const PinnedCpus pinned_ = pinned_cpus(setup_.cpus, false);
  Trial trial_{};
  Part& server_ = processes_.server;
  Part& command_ = processes_.load;
};

}  // namespace

// A full disk ends a trial, and not the race.
Trial run_transfer(const ProcessSetup& setup, const TrialOrder& order, MovedFilesOfRace& files) {
  try {
    return TransferTrial(setup, order, files.of(*order.load_case.files)).run();
  } catch (const std::system_error& error) {
    Trial trial;
    trial.failure = words_of(error);
    return trial;
  }
}

}  // namespace joust::race
