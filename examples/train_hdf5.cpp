// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Samples from an HDF5 file, by a class of the program's own: the file stays on disk, and each worker reads the samples
// that it takes. Needs libhdf5-dev; link with `pkg-config --libs hdf5`.
//
//   scripts/run train_hdf5 -n 4
//
// Expected output:
//   200 samples of 16 numbers in the file
//   loss 1.3e-01 after the first epoch, 1.6e-09 after the last
#include <hdf5.h>
#include <manta/manta.hpp>
#include <manta/train.hpp>

#include <algorithm>
#include <cereal/types/string.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nn = manta::nn;
namespace train = manta::train;

// [reader]
/// A data set of {samples, numbers}, of which the first are the inputs of a sample and the last one its target.
class hdf5_rows {
 public:
  hdf5_rows() = default;
  explicit hdf5_rows(std::string path) : path_(std::move(path)) {
    const opened f(path_);
    hsize_t extents[2];
    H5Sget_simple_extent_dims(f.space, extents, nullptr);
    rows_ = extents[0], columns_ = extents[1];
  }
  [[nodiscard]] std::size_t size() const { return rows_; }
  [[nodiscard]] std::size_t features() const { return columns_ - 1; }

  /// The rows of these samples, each read at its place.
  void take(std::span<const std::uint64_t> which, train::batch<float>& to) const {
    const opened f(path_);
    const auto count = static_cast<Eigen::Index>(which.size()), columns = static_cast<Eigen::Index>(columns_);
    nn::matrix<float> all(columns, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const hsize_t begin[2] = {which[static_cast<std::size_t>(i)], 0}, extents[2] = {1, columns_};
      H5Sselect_hyperslab(f.space, H5S_SELECT_SET, begin, nullptr, extents, nullptr);
      const hid_t row = H5Screate_simple(2, extents, nullptr);
      const herr_t status = H5Dread(f.set, H5T_NATIVE_FLOAT, row, f.space, H5P_DEFAULT, all.col(i).data());
      H5Sclose(row);
      if (status < 0) throw manta::error(path_ + ": row " + std::to_string(begin[0]) + " cannot be read");
    }
    to.has_labels = false;
    to.x = all.topRows(columns - 1);
    to.y = all.bottomRows(1);
  }

  template <class Archive>
  void serialize(Archive& archive) {  // for train::read_ahead
    archive(path_, rows_, columns_);
  }

 private:
  struct opened {
    hid_t file, set = H5I_INVALID_HID, space = H5I_INVALID_HID;
    explicit opened(const std::string& path) : file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
      if (file >= 0) set = H5Dopen2(file, "samples", H5P_DEFAULT);
      if (set < 0) throw manta::error(path + " has no data set 'samples', or cannot be read");
      space = H5Dget_space(set);
    }
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;
    ~opened() { H5Sclose(space), H5Dclose(set), H5Fclose(file); }
  };
  std::string path_;
  std::size_t rows_ = 0, columns_ = 1;
};
// [end]

/// The target is the mean of the sample's numbers.
void write_file(const std::string& path) {
  const nn::random numbers(1);
  constexpr hsize_t extents[2] = {200, 17};
  std::vector<float> all(extents[0] * extents[1]);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(numbers.normal(i));
  for (std::size_t row = 0; row < extents[0]; ++row) {
    float* const begin = all.data() + row * extents[1];
    begin[16] = std::accumulate(begin, begin + 16, 0.F) / 16;
  }
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(2, extents, nullptr);
  const hid_t set = H5Dcreate2(file, "samples", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
  H5Dclose(set), H5Sclose(space), H5Fclose(file);
}

struct means {
  std::string path;
  nn::network<float> model() const { return nn::network<float>(nn::shape{16}, nn::linear(1)); }
  nn::adam optimizer() const { return nn::adam({.rate = 0.03}); }
  nn::loss loss() const { return nn::mse(); }
  hdf5_rows training_data() const { return hdf5_rows(path); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(path));
  }
};

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    char name[] = "/tmp/manta_hdf5_XXXXXX";
    const std::string folder = mkdtemp(name), path = folder + "/samples.h5";
    write_file(path);
    const hdf5_rows rows(path);
    std::printf("%zu samples of %zu numbers in the file\n", rows.size(), rows.features());
    train::trainer trainer(means{path}, {.workers = std::max(1, manta::size() - 1), .batch = 20, .seed = 1});
    const double first = trainer.train().loss;
    double last = first;
    for (int epoch = 1; epoch < 30; ++epoch) last = trainer.train().loss;
    std::printf("loss %.1e after the first epoch, %.1e after the last\n", first, last);
    std::filesystem::remove_all(folder);
    return last < first / 100 ? 0 : 1;
  });
}
