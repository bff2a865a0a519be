// SPDX-License-Identifier: MIT
#include "files/store/storage.hpp"

#include <array>
#include <cerrno>
#include <cstddef>

#include "base/limits.hpp"

namespace joust {

std::string_view error_name(FileError error) {
  static constexpr std::array<std::string_view, 20> kNames{
      "no error",
      "not found",
      "not a file",
      "name refused",
      "exists",
      "beyond the end",
      "too large",
      "no space",
      "input/output error",
      "digest differs",
      "busy",
      "version not spoken",
      "malformed",
      "overlap",
      "shrunk",
      "given up",
      "not permitted",
      "too slow",
      "unknown error",
      "damaged on the way",
  };
  const auto number = static_cast<std::size_t>(error);
  return number < kNames.size() ? kNames[number] : "unknown error";
}

FileError error_of(int error) {
  switch (error) {
    case 0:
      return FileError::none;
    case ENOENT:
    case ENOTDIR:
      return FileError::not_found;
    case ELOOP:  // a symbolic link in the path
    case EXDEV:  // outside of the directory
    case EISDIR:
    case ENXIO:  // a FIFO without a reader, or a socket
    case ENODEV:
    case ETXTBSY:  // a file system is mounted on the file (kMountedOn)
      return FileError::not_a_file;
    case ENAMETOOLONG:
      return FileError::name_refused;
    case EEXIST:
      return FileError::exists;
    case EFBIG:
      return FileError::too_large;
    case ENOSPC:
    case EDQUOT:
      return FileError::no_space;
    case EACCES:
    case EPERM:
    case EROFS:
      return FileError::not_permitted;
    case EAGAIN:
    case EBUSY:  // another process receives that file
      return FileError::busy;
    default:
      return is_shortage(error) ? FileError::busy : FileError::input_output;
  }
}

}  // namespace joust
