// SPDX-License-Identifier: MIT
#pragma once

// The headers that a program with a protocol of its own needs.
#include "joust/handler.hpp"
#include "joust/main.hpp"
#include "joust/protocol.hpp"
#include "joust/session.hpp"
