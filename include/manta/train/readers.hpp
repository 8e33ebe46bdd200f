// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Samples from files in common formats.
//
//   train::samples digits = train::read_idx("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
//   train::samples pictures = train::read_cifar10({"data_batch_1.bin", "data_batch_2.bin"});
//   train::samples table = train::read_csv("iris.csv", {.target = "species"});
//
// A file may be given by its path, or as bytes with a name. Files that gzip made are read by train::gunzip(path), of
// manta/train/gzip.hpp. A file that is missing, short or damaged is a manta::error of one line with the file, the
// offset in it, what was expected there and what was found.
#pragma once

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manta/train/columns.hpp"
#include "manta/train/samples.hpp"
#include "manta/train/source.hpp"

namespace manta::train {

/// A file's bytes, and its name for messages.
struct file {
  // Paths convert: what is read is usually there.
  file(const std::filesystem::path& path) : file(path.string()) {}  // NOLINT(google-explicit-constructor)
  file(const char* path) : file(std::string(path)) {}               // NOLINT(google-explicit-constructor)
  MANTA_DECL file(const std::string& path);                         // NOLINT(google-explicit-constructor)
  file(std::string file_name, std::string content) : name(std::move(file_name)), bytes(std::move(content)) {}

  std::string name, bytes;
};

/// The order of a picture's numbers in a file. Networks take channels first, as PyTorch does.
enum class layout {
  nchw,  ///< channels, rows, columns
  nhwc,  ///< rows, columns, channels, as Keras and TensorFlow write them
};
/// For options: `.layout = train::nhwc`.
inline constexpr layout nhwc = layout::nhwc;

/// How bytes of pictures become numbers: (byte / 255 - mean) / deviation.
struct picture_options {
  std::vector<float> mean = {0};        ///< one for each channel, or one for all
  std::vector<float> deviation = {1};   ///< likewise
  std::size_t most = 0;                 ///< read this many samples at most; 0: all
  train::layout layout = layout::nchw;  ///< layout of the file; the samples have channels first

  template <class Archive>
  void serialize(Archive& archive) {
    archive(mean, deviation, most, layout);
  }
};

/// Unsigned bytes in the format of MNIST: pictures (any number of dimensions after the first), and their classes.
MANTA_DECL samples read_idx(const file& pictures, const file& labels, const picture_options& o = {});

/// CIFAR-10's binary format: records of a byte for the class and 3 x 32 x 32 bytes, as nn::shape{3, 32, 32} has them.
MANTA_DECL samples read_cifar10(const std::vector<file>& parts, const picture_options& o = {});

/// For .classes of csv_options: whether the target is a class, or which words are the classes 0, 1, ..
class class_list {
 public:
  class_list() = default;
  template <std::same_as<bool> Bool>
  class_list(Bool are_classes) : are_classes_(are_classes) {}  // NOLINT(google-explicit-constructor): an option
  class_list(std::vector<std::string> words) : words_(std::move(words)) {}  // NOLINT(google-explicit-constructor)
  class_list(std::initializer_list<const char*> words) : words_(words.begin(), words.end()) {}

  [[nodiscard]] bool are_classes() const { return are_classes_; }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  bool are_classes_ = true;
  std::vector<std::string> words_;
};

struct csv_options {
  std::string target = "";  ///< the column of the target, by its name in the first line; "": the last column
  bool header = true;       ///< the first line has the columns' names
  /// The target is a class: a whole number from 0, or a word. Words are numbered by this list, or by the alphabet where
  /// it is empty; name them if several files are read. false: the target is a number.
  class_list classes = {};
  char separator = ',';
  std::vector<std::string> inputs = {};     ///< these columns, in this order; empty: all but the target
  std::vector<std::string> leave_out = {};  ///< but not these
  std::optional<float> fill = {};           ///< number in place of a missing one; without it such a line is refused
  bool normalise = false;                   ///< inputs get the mean 0 and the deviation 1, over this file
  /// As another table: its inputs, its classes and its normalisation, for validation data and predictions.
  columns like = {};
};

/// Numbers in columns, one sample a line. Fields may be in double quotes, and have line ends there. Empty lines
/// are left out. What is missing is an empty field, NA, NaN, null, none or ?. The samples' columns() have names,
/// words and statistics.
MANTA_DECL samples read_csv(const file& table, const csv_options& o = {});

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/readers.ipp"

#include "manta/train/csv.ipp"
#endif
