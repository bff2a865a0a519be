// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <utility>

namespace joust {

// An open file descriptor and the duty to close it. A function with an Fd parameter takes over the duty; one
// with an int borrows. The class has no boolean test, because 0 is a valid descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  void close() {
    // close() is not repeated on EINTR: Linux has already released the number (close(2)).
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace joust
