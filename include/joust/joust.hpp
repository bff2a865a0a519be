// SPDX-License-Identifier: MIT
#pragma once

// Everything a program with a protocol of its own needs.
#include "joust/handler.hpp"
#include "joust/main.hpp"
#include "joust/protocol.hpp"
#include "joust/session.hpp"
