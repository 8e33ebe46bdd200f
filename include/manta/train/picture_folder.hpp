// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Pictures in folders, one for each class: FOLDER/cat/1.png, FOLDER/dog/7.png. Classes are the names of the folders in
// the order of the alphabet, from 0. Pictures stay in their files, which are read as samples are taken.
//
//   train::picture_folder<train::png> training_data() const { return {"photos/train", {.channels = 3}}; }
//   // decoding takes long: by tasks on other ranks
//   train::read_ahead<train::picture_folder<train::png>> training_data() const { return {{"photos/train"}}; }
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "manta/nn/shape.hpp"
#include "manta/train/readers.hpp"
#include "manta/train/samples.hpp"
#include "manta/train/source.hpp"

namespace manta::train {

/// A decoded picture: rows x columns x channels of bytes, the channels fastest.
struct picture {
  int height = 0, width = 0, channels = 0;
  std::vector<unsigned char> bytes;
};

struct folder_options {
  int channels = 3;                       ///< of each picture, which the reader is asked for; 1: grey
  std::vector<float> mean = {0};          ///< as for the other readers of pictures: (byte / 255 - mean) / deviation
  std::vector<float> deviation = {1};     ///< likewise
  std::vector<std::string> classes = {};  ///< names of folders, in the order of their classes; empty: all folders

  template <class Archive>
  void serialize(Archive& archive) {
    archive(channels, mean, deviation, classes);
  }
};

namespace detail {

template <class Reader>
concept picture_reader = requires(const std::string& path) {
  { Reader::read(path, 3) } -> std::convertible_to<picture>;
  { Reader::ending } -> std::convertible_to<std::string>;
};

/// The files of a folder of pictures, and their classes.
struct picture_list {
  std::vector<std::string> files, classes;
  std::vector<int> labels;
};
/// Lists files whose names end in `ending`, in the order of classes and names. Throws manta::error if there are none.
MANTA_DECL picture_list list_pictures(const std::string& folder, const std::string& ending, const folder_options& o);
/// Throws manta::error unless the picture has this size.
MANTA_DECL void check_picture(const std::string& path, const picture& p, const nn::shape& extents);
/// Writes the numbers of a picture, channels first.
MANTA_DECL void write_numbers(const picture& p, const folder_options& o, float* to);
MANTA_DECL void write_numbers(const picture& p, const folder_options& o, double* to);

}  // namespace detail

/// `Reader` has `ending`, the end of its files' names, and read(path, channels), which gives a picture: train::png of
/// manta/train/png.hpp, or a class of the program. All pictures have the size of the first.
template <class Reader>
class picture_folder {
  static_assert(detail::picture_reader<Reader>,
                "manta: train: the reader of a picture_folder has `static constexpr const char* ending` and `static "
                "train::picture read(const std::string& path, int channels)`");

 public:
  picture_folder() = default;
  /// Lists the files, and reads the first. Throws manta::error if there is none, or it cannot be read.
  picture_folder(std::string folder, const folder_options& o = {}) : folder_(std::move(folder)), options_(o) { open(); }

  [[nodiscard]] std::size_t size() const { return list_.files.size(); }
  /// {channels, height, width}.
  [[nodiscard]] const nn::shape& extents() const { return extents_; }
  /// The names of the folders, by class.
  [[nodiscard]] const std::vector<std::string>& classes() const { return list_.classes; }
  [[nodiscard]] std::span<const int> labels() const { return list_.labels; }
  [[nodiscard]] const std::string& file(std::size_t sample) const { return list_.files.at(sample); }

  /// Reads these pictures. Throws manta::error, which names the file, where one cannot be read or has another size.
  template <class T>
  void take(std::span<const std::uint64_t> which, batch<T>& to) const {
    to.x.resize(extents_.size(), static_cast<Eigen::Index>(which.size()));
    to.has_labels = true;
    to.weights.clear();
    to.labels.resize(which.size());
    for (std::size_t i = 0; i < which.size(); ++i) {
      const std::string& path = list_.files[which[i]];
      const picture p = Reader::read(path, options_.channels);
      detail::check_picture(path, p, extents_);
      detail::write_numbers(p, options_, to.x.data() + static_cast<Eigen::Index>(i) * to.x.rows());
      to.labels[i] = list_.labels[which[i]];
    }
  }

  template <class Archive>
  void save(Archive& archive) const {
    archive(folder_, options_);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(folder_, options_);
    if (!folder_.empty()) open();
  }

 private:
  void open() {
    list_ = detail::list_pictures(folder_, Reader::ending, options_);
    const picture first = Reader::read(list_.files[0], options_.channels);
    extents_ = nn::shape{options_.channels, first.height, first.width};
    detail::check_picture(list_.files[0], first, extents_);
  }

  std::string folder_;
  folder_options options_;
  detail::picture_list list_;
  nn::shape extents_;
};

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/picture_folder.ipp"
#endif
