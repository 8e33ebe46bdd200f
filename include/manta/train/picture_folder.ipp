// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/picture_folder.hpp"
#include "manta/train/readers.ipp"

namespace manta::train::detail {

/// The entries of a folder for which `is_wanted` says true, by their names.
template <class Function>
std::vector<std::string> names_in(const std::string& folder, Function is_wanted) {
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    if (is_wanted(*at)) names.push_back(at->path().filename().string());
  }
  if (code) throw error(base::text("manta: train: cannot read the folder {}: {}", folder, code.message()));
  std::ranges::sort(names);
  return names;
}

MANTA_DECL picture_list list_pictures(const std::string& folder, const std::string& ending, const folder_options& o) {
  if (o.channels < 1 || o.channels > 4)
    throw error(base::text("manta: train: {}: .channels is {}; a picture has 1 to 4", folder, o.channels));
  picture_list all;
  all.classes = o.classes.empty() ? names_in(folder, [](const auto& e) { return e.is_directory(); }) : o.classes;
  for (std::size_t k = 0; k < all.classes.size(); ++k) {
    const std::string own = folder + "/" + all.classes[k];
    const auto names = names_in(own, [&](const auto& e) {
      std::string name = e.path().filename().string();
      std::ranges::transform(name, name.begin(),
                             [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      return e.is_regular_file() && name.ends_with(ending);
    });
    for (const std::string& name : names) {
      all.files.push_back(own + "/" + name);
      all.labels.push_back(static_cast<int>(k));
    }
  }
  if (all.files.empty())
    throw error(
        base::text("manta: train: the folder {} has no pictures: expected files *{} in a folder for each class, "
                   "found {} folders and none in them",
                   folder, ending, all.classes.size()));
  return all;
}

MANTA_DECL void check_picture(const std::string& path, const picture& p, const nn::shape& extents) {
  const nn::shape its{p.channels, p.height, p.width};
  if (its != extents || p.bytes.size() != static_cast<std::size_t>(extents.size()))
    throw error(
        base::text("manta: train: the picture {} is {} in {} bytes; expected {} (channels x height x width), as the "
                   "first picture of its folder; scale the pictures, or give a reader that does",
                   path, its.text(), p.bytes.size(), extents.text()));
}

template <class T>
void write_picture(const picture& p, const folder_options& o, T* to) {
  Eigen::VectorXf numbers(static_cast<Eigen::Index>(p.bytes.size()));
  scale_picture(reinterpret_cast<const char*>(p.bytes.data()), static_cast<std::size_t>(p.channels),
                {.mean = o.mean, .deviation = o.deviation, .layout = layout::nhwc}, numbers);
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(to, numbers.size()) = numbers.cast<T>();
}
MANTA_DECL void write_numbers(const picture& p, const folder_options& o, float* to) { write_picture(p, o, to); }
MANTA_DECL void write_numbers(const picture& p, const folder_options& o, double* to) { write_picture(p, o, to); }

}  // namespace manta::train::detail
