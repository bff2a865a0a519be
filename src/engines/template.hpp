// SPDX-License-Identifier: MIT
#pragma once

#include "engines/engine.hpp"

namespace joust {

// The engine in template.cpp. It works, and stands in no list: there is nothing about it to be raced.
const Engine& template_engine();

}  // namespace joust
