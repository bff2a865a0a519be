// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "doctor/finding.hpp"
#include "doctor/floor.hpp"

// The forms of what the sub-command `doctor` has found.
namespace joust {

// Returns the text for people: warnings and notes in two lines each, what is in order, the floor.
std::string doctor_text(std::span<const doctor::Finding> findings,
                        std::span<const doctor::FloorFigure> floor);

// Returns the document that docs/doctor.schema.json describes.
std::string doctor_json(const Environment& environment, std::span<const doctor::Finding> findings,
                        std::span<const doctor::FloorFigure> floor);

}  // namespace joust
