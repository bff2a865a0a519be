// SPDX-License-Identifier: MIT
#pragma once

#include "engines/engine.hpp"

namespace joust {

// The engine in template.cpp. It works, but is not in the table, because it is not meant to be raced.
const Engine& template_engine();

}  // namespace joust
