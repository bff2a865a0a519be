// SPDX-License-Identifier: MIT
#include "files/store/disk/directory_tree.hpp"

#include <cerrno>

#include "files/store/disk/named_entry.hpp"
#include "files/store/disk/partial_file.hpp"
#include "files/store/disk/temporary_name.hpp"

namespace joust {

std::expected<std::unique_ptr<FolderReader>, int> DirectoryTree::read_folder(std::string_view name) const {
  auto opened = tree_.directory().open_folder(name);
  if (!opened) return std::unexpected(opened.error());
  return FolderReader::begin(std::move(*opened), name);
}

std::expected<Parent, int> DirectoryTree::parent_of(std::string_view name, const NewFileRules& rules) {
  auto parent = tree_.directory().open_parent(name);
  if (parent || parent.error() != ENOENT || !rules.makes_parents) return parent;
  if (const int error = tree_.directory().make_parents(name, rules.pays); error != 0)
    return std::unexpected(error);
  return tree_.directory().open_parent(name);
}

template <typename File>
std::expected<std::unique_ptr<NewFile>, int> DirectoryTree::create_in(std::expected<Parent, int> parent,
                                                                      std::string_view name,
                                                                      const NewFileRules& rules) {
  if (!parent) return std::unexpected(parent.error());
  auto file = std::make_unique<File>(tree_, name, rules, std::move(*parent));
  if (const int error = file->create(); error != 0) return std::unexpected(error);
  return file;
}

// Uses the recent folder for temporary files only: a file that outlives its process is seldom one of many. A
// temporary file may begin in a folder that has been moved, because it checks the folder before it takes its
// name. A failure in the recent folder is not final: the path is resolved again.
std::expected<std::unique_ptr<NewFile>, int> DirectoryTree::create(std::string_view name,
                                                                   const NewFileRules& rules) {
  if (rules.source) return create_in<PartialFile>(parent_of(name, rules), name, rules);
  if (auto recent = tree_.recent(name)) {
    if (auto made = create_in<TemporaryFile>(std::move(*recent), name, rules)) return made;
    tree_.forget_recent();
  }
  auto parent = parent_of(name, rules);
  if (parent) tree_.keep_recent(name, *parent);
  return create_in<TemporaryFile>(std::move(parent), name, rules);
}

bool DirectoryTree::remove_partial(std::string_view name) {
  const auto parent = tree_.directory().open_parent(name);
  return parent && joust::remove_partial(parent->fd->get(), parent->last);
}

std::expected<std::shared_ptr<NamedEntry>, int> DirectoryTree::make_folder(std::string_view name,
                                                                           const NewFileRules& rules) {
  auto parent = parent_of(name, rules);
  if (!parent) return std::unexpected(parent.error());
  return NamedEntry::make_folder(tree_, name, std::move(*parent), rules);
}

std::expected<std::shared_ptr<NamedEntry>, int> DirectoryTree::find(std::string_view name) {
  return NamedEntry::find(tree_, name);
}

}  // namespace joust
