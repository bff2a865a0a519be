// SPDX-License-Identifier: MIT
#pragma once

#include "base/settings.hpp"

// The settings that a race has beside its loads: the rows of a Scenario and of a SocketPlan.
namespace joust::race {

SettingRows race_settings();
SettingRows socket_settings();

}  // namespace joust::race
