// SPDX-License-Identifier: MIT
#include "store/directory_tree.hpp"

#include <cerrno>

#include "store/new_folder.hpp"
#include "store/partial_file.hpp"

namespace joust {

std::expected<Parent, int> DirectoryTree::parent_of(std::string_view name, const NewFileRules& rules) {
  auto parent = tree_.directory.open_parent(name);
  if (parent || parent.error() != ENOENT || !rules.makes_parents) return parent;
  if (const int error = tree_.directory.make_parents(name, rules.pays); error != 0)
    return std::unexpected(error);
  return tree_.directory.open_parent(name);
}

// Only for a file that looks at the folder before it takes its name.
std::expected<Parent, int> DirectoryTree::shared_parent_of(std::string_view name, const NewFileRules& rules) {
  if (auto recent = tree_.recent.find(name)) return std::move(*recent);
  auto parent = parent_of(name, rules);
  if (parent) tree_.recent.keep(name, *parent);
  return parent;
}

std::expected<std::unique_ptr<NewFile>, int> DirectoryTree::create(std::string_view name,
                                                                   const NewFileRules& rules) {
  // A file that outlives its process is seldom one of many.
  auto parent = rules.source ? parent_of(name, rules) : shared_parent_of(name, rules);
  if (!parent) return std::unexpected(parent.error());
  const auto made = [&]<typename File>(std::unique_ptr<File> file) {
    const int error = file->create();
    using Made = std::expected<std::unique_ptr<NewFile>, int>;
    return error == 0 ? Made(std::move(file)) : Made(std::unexpect, error);
  };
  if (rules.source) return made(std::make_unique<PartialFile>(tree_, name, rules, std::move(*parent)));
  return made(std::make_unique<TemporaryFile>(tree_, name, rules, std::move(*parent)));
}

std::expected<Entry, int> DirectoryTree::make_folder(std::string_view name, const NewFileRules& rules) {
  auto parent = parent_of(name, rules);
  if (!parent) return std::unexpected(parent.error());
  auto folder = std::make_unique<NewFolder>(tree_, name, std::move(*parent));
  if (const int error = folder->create(rules.mode.value_or(0777), rules.existing, rules.pays); error != 0)
    return std::unexpected(error);
  const bool was_there = folder->was_there();
  return Entry{std::move(folder), was_there};
}

std::expected<Entry, int> DirectoryTree::find(std::string_view name) {
  auto file = tree_.directory.open_file(name);
  if (!file) return std::unexpected(file.error());
  auto parent = tree_.directory.open_parent(name);
  if (!parent) return std::unexpected(parent.error());
  return Entry{std::make_unique<NamedEntry>(tree_, name, std::move(*parent), std::move(*file)), true};
}

}  // namespace joust
