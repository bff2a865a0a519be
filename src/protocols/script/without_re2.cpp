// SPDX-License-Identifier: MIT
#include "protocols/script/expression.hpp"

// Takes the place of expression.cpp in a program without RE2.
namespace joust::script {

std::expected<std::shared_ptr<const Expression>, std::string> compile_expression(std::string_view /*text*/) {
  return std::unexpected("this program was built without RE2, and has no regular expressions (libre2-dev)");
}

}  // namespace joust::script
