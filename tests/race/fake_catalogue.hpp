// SPDX-License-Identifier: MIT
#pragma once

#include "race/catalogue.hpp"

namespace joust::race {

// Engines and protocols that exist only in these tests.
inline Catalogue fake_catalogue() {
  return {
      .engines = {{.name = "null", .in_process = true},
                  {.name = "threads"},
                  {.name = "epoll",
                   .knobs = {{.name = "trigger", .choices = {"edge", "level"}, .default_value = "edge"}}},
                  {.name = "io-uring"},
                  {.name = "listener", .dials = false},
                  {.name = "broken", .unavailable = "io_uring_setup: Operation not permitted"}},
      .protocols = {{.name = "echo"},
                    {.name = "work",
                     .parameters = {{.name = "writes", .choices = {"one", "two"}, .default_value = "one"}}}}};
}

}  // namespace joust::race
