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

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

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

/// How bytes of pictures become numbers: (byte / 255 - mean) / deviation.
struct picture_options {
  std::vector<float> mean = {0};       ///< one for each channel, or one for all
  std::vector<float> deviation = {1};  ///< likewise
  std::size_t most = 0;                ///< read this many samples at most; 0: all

  template <class Archive>
  void serialize(Archive& archive) {
    archive(mean, deviation, most);
  }
};

/// Unsigned bytes in the format of MNIST: pictures (any number of dimensions after the first), and their classes.
MANTA_DECL samples read_idx(const file& pictures, const file& labels, const picture_options& o = {});

/// CIFAR-10's binary format: records of a byte for the class and 3 x 32 x 32 bytes, as nn::shape{3, 32, 32} has them.
MANTA_DECL samples read_cifar10(const std::vector<file>& parts, const picture_options& o = {});

struct csv_options {
  std::string target = "";  ///< the column of the target, by its name in the first line; "": the last column
  bool header = true;       ///< the first line has the columns' names
  bool classes = true;      ///< the target is a class: numbers from 0, or words, which are numbered by the alphabet
  char separator = ',';
};

/// Numbers in columns, one sample a line. Fields may be in double quotes. Empty lines are left out.
MANTA_DECL samples read_csv(const file& table, const csv_options& o = {});

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/readers.ipp"
#endif
