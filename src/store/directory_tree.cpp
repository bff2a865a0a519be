// SPDX-License-Identifier: MIT
#include "store/directory_tree.hpp"

#include <cerrno>

#include "store/partial_file.hpp"

namespace joust {

std::expected<Parent, int> DirectoryTree::parent_of(std::string_view name, const NewFileRules& rules) {
  auto parent = tree_.directory.open_parent(name);
  if (parent || parent.error() != ENOENT || !rules.makes_parents) return parent;
  if (const int error = tree_.directory.make_parents(name, rules.pays); error != 0)
    return std::unexpected(error);
  return tree_.directory.open_parent(name);
}

std::expected<std::unique_ptr<NewFile>, int> DirectoryTree::create(std::string_view name,
                                                                   const NewFileRules& rules) {
  auto parent = parent_of(name, rules);
  if (!parent) return std::unexpected(parent.error());
  const auto made = [&]<typename File>(std::unique_ptr<File> file) {
    const int error = file->create();
    using Made = std::expected<std::unique_ptr<NewFile>, int>;
    return error == 0 ? Made(std::move(file)) : Made(std::unexpect, error);
  };
  if (rules.source) return made(std::make_unique<PartialFile>(tree_, name, rules, std::move(*parent)));
  return made(std::make_unique<TemporaryFile>(tree_, name, rules, std::move(*parent)));
}

}  // namespace joust
