// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "files/store/disk/directory.hpp"
#include "files/store/disk/file_tree.hpp"
#include "files/store/disk/temporary_file.hpp"

namespace joust {

// The files below one directory. A file that is being written is in its destination's directory, without a
// name or under a temporary one (temporary_file.hpp).
class DirectoryTree : public FileTree {
 public:
  // Throws std::system_error if the directory does not exist.
  explicit DirectoryTree(const std::string& root, Resolution resolution = Resolution::openat2)
      : tree_(root, resolution) {}

  std::expected<Fd, int> open(std::string_view name) const override {
    return tree_.directory().open_file(name);
  }

  std::expected<std::unique_ptr<FolderReader>, int> read_folder(std::string_view name) const override;
  bool is_immutable() const override { return false; }
  Available available() const override { return available_space(tree_.directory().descriptor(), UINT64_MAX); }

  // Makes directories only if the rules ask for that. publish() fails with ENOENT if the parent directory has
  // been moved, so nothing is ever published outside.
  std::expected<std::unique_ptr<NewFile>, int> create(std::string_view name,
                                                      const NewFileRules& rules) override;
  bool remove_partial(std::string_view name) override;
  std::expected<std::shared_ptr<NamedEntry>, int> make_folder(std::string_view name,
                                                              const NewFileRules& rules) override;
  std::expected<std::shared_ptr<NamedEntry>, int> find(std::string_view name) override;

 private:
  std::expected<Parent, int> parent_of(std::string_view name, const NewFileRules& rules);
  template <typename File>
  std::expected<std::unique_ptr<NewFile>, int> create_in(std::expected<Parent, int> parent,
                                                         std::string_view name, const NewFileRules& rules);

  FolderTree tree_;
};

}  // namespace joust
