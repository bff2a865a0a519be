// SPDX-License-Identifier: MIT
#include "cli/get/standard_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/printable.hpp"
#include "base/temporary_directory.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"

namespace joust {

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

}  // namespace joust
