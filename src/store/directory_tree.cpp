// SPDX-License-Identifier: MIT
#include "store/directory_tree.hpp"

#include <cerrno>

#include "store/partial_file.hpp"

namespace joust {

// A directory that is there may have been made a moment ago, for another file.
std::expected<Parent, int> DirectoryTree::parent_of(std::string_view name, const NewFileRules& rules) {
  auto parent = directory_.open_parent(name);
  if (!rules.makes_parents || !name.contains('/')) return parent;
  if (parent ? !rules.synced || synced_.contains(parent->fd.get()) : parent.error() != ENOENT) return parent;
  const ParentRules how{rules.pays, rules.synced ? &synced_ : nullptr};
  if (const int error = directory_.make_parents(name, how); error != 0) return std::unexpected(error);
  return directory_.open_parent(name);
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
  if (rules.source)
    return made(std::make_unique<PartialFile>(directory_, publishing_, name, rules, std::move(*parent)));
  return made(std::make_unique<TemporaryFile>(directory_, publishing_, name, rules, std::move(*parent)));
}

}  // namespace joust
