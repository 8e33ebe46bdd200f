// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in, needs nlohmann's JSON: the weights of networks in files that the rest of the world reads and writes: `.npz`
// (NumPy) and `.safetensors`. Arrays have the names that a PyTorch Sequential of these layers gives them, "0.weight",
// and PyTorch's shapes and orders.
//
//   nn::save_weights("net.safetensors", net);     // Python: safetensors.torch.load_file("net.safetensors")
//   auto d = serve::deploy_network({.name = "digits"}, nn::with_weights(architecture(), "net.safetensors"));
//   nn::load_weights("net.npz", net);             // Python: numpy.savez("net.npz", **{k: v.numpy() for k, v in ...})
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "manta/nn/network.hpp"
#include "manta/nn/source.hpp"

namespace manta::nn {

/// An array as it lies in a file.
struct stored_array {
  std::string name;
  std::vector<std::int64_t> extents;  ///< the last extent fastest
  std::string type;                   ///< as safetensors names it: "F32", "BF16", "I64", ..
  std::string bytes;                  ///< little-endian
  std::uint64_t offset = 0;           ///< offset of the bytes in the file that was read
};

/// All arrays of a `.npz` or `.safetensors` file, of whatever type. Throws manta::error, with file, offset, what was
/// expected and what was found, if it is missing or damaged. Of numpy.savez_compressed too, for which zlib is opened
/// when the first such array is read; programs need not be linked with it.
MANTA_DECL std::vector<stored_array> read_arrays(const std::string& path);
/// Writes beside the file and renames at the end: a full disk leaves the former file as it was. Throws manta::error.
MANTA_DECL void write_arrays(const std::string& path, const std::vector<stored_array>& arrays);

namespace detail {
/// Copies the numbers to floats or doubles. Throws if the type is none of F16, BF16, F32, F64, BOOL and the integers of
/// 8 to 64 bits.
MANTA_DECL void convert(const stored_array& from, float* to);
MANTA_DECL void convert(const stored_array& from, double* to);
MANTA_DECL stored_array store(const std::string& name, const shape& extents, const float* numbers);
MANTA_DECL stored_array store(const std::string& name, const shape& extents, const double* numbers);
/// An array of a network and where its numbers go.
struct wanted_array {
  std::string name;
  shape extents;
};
/// The name that the file has for an array of the network.
MANTA_DECL std::string name_in_file(const std::string& own, const std::map<std::string, std::string>& names);
/// The arrays of the file in this order. Throws unless the file has all of them with these shapes and types that can be
/// converted, and no others; the message has all that is missing, too many or of another shape.
MANTA_DECL std::vector<stored_array> find_arrays(const std::string& path, const std::vector<wanted_array>& wanted,
                                                 const std::map<std::string, std::string>& names);
}  // namespace detail

/// Parameters, and the running means of batch norm.
template <class T>
void save_weights(const std::string& path, const network<T>& net) {
  std::vector<stored_array> all;
  for (const auto& a : net.arrays()) all.push_back(detail::store(a.name, a.extents, net.parameters().data() + a.begin));
  for (const auto& a : net.buffer_arrays())
    all.push_back(detail::store(a.name, a.extents, net.buffers().data() + a.begin));
  write_arrays(path, all);
}

/// `names` gives the file's name of an array where it differs from the network's: {{"0.weight", "fc1.weight"}}. A star
/// on both sides stands for the same text: {{"0.*", "encoder.*"}}; of several names that suit, the longest counts. The
/// file has to have each array of the network in its shape, and no others but PyTorch's "num_batches_tracked"; else
/// throws, with what the file has and what was asked for, and leaves the network as it was.
///
/// The network is then in use: forward gives predictions. A loop that trains it on calls net.mode({.training = true}),
/// as one does that has dropout anyway; a trainer sets the mode itself.
template <class T>
void load_weights(const std::string& path, network<T>& net, const std::map<std::string, std::string>& names = {}) {
  std::vector<detail::wanted_array> wanted;
  const auto arrays = net.arrays(), buffers = net.buffer_arrays();
  for (const auto& a : arrays) wanted.push_back({a.name, a.extents});
  for (const auto& a : buffers) wanted.push_back({a.name, a.extents});
  const std::vector<stored_array> found = detail::find_arrays(path, wanted, names);
  auto from = found.begin();
  for (const auto& a : arrays) detail::convert(*from++, net.parameters().data() + a.begin);
  for (const auto& a : buffers) detail::convert(*from++, net.buffers().data() + a.begin);
  net.mode({.training = false});
}

struct load_options {
  std::string arrays = "*";                       ///< pattern of the network's arrays to be loaded: "0.*"
  std::map<std::string, std::string> names = {};  ///< as for load_weights
};

/// What load_matching has done, by the network's names of arrays.
struct load_report {
  std::vector<std::string> loaded;
  std::vector<std::string> missing;   ///< kept their numbers, because the file does not have them
  std::vector<std::string> misfits;   ///< kept theirs, because the file's have another shape or type: with both
  std::vector<std::string> left_out;  ///< kept theirs, because load_options::arrays leaves them out
  std::vector<std::string> unused;    ///< arrays of the file that went nowhere, by its names
  [[nodiscard]] MANTA_DECL std::string text() const;
};

namespace detail {
/// For each wanted array the file's, or one without a name where nothing is to be loaded. Throws if nothing is at all.
MANTA_DECL std::vector<stored_array> match_arrays(const std::string& path, const std::vector<wanted_array>& wanted,
                                                  const load_options& options, load_report& report);
}  // namespace detail

/// Loads the arrays of a file that the network has as well, by name and shape, and leaves the others as they were: as
/// PyTorch's load_state_dict(strict=False), but also where shapes differ. Throws if no array is loaded.
///
///   const nn::load_report r = nn::load_matching("resnet.safetensors", net, {.names = {{"0.*", "backbone.*"}}});
///   std::cout << r.text();   // "loaded 60 arrays; missing in the file: 8.weight, 8.bias"
///   net.freeze("0.*");
template <class T>
load_report load_matching(const std::string& path, network<T>& net, const load_options& options = {}) {
  load_report report;
  std::vector<detail::wanted_array> wanted;
  const auto arrays = net.arrays(), buffers = net.buffer_arrays();
  for (const auto& a : arrays) wanted.push_back({a.name, a.extents});
  for (const auto& a : buffers) wanted.push_back({a.name, a.extents});
  const std::vector<stored_array> found = detail::match_arrays(path, wanted, options, report);
  auto from = found.begin();
  const auto take = [&](const auto& all, std::span<T> numbers) {
    for (const auto& a : all) {
      if (!from->name.empty()) detail::convert(*from, numbers.data() + a.begin);
      ++from;
    }
  };
  take(arrays, net.parameters());
  take(buffers, net.buffers());
  net.mode({.training = false});
  return report;
}

/// The network with the weights of the file, in one expression: nn::with_weights(architecture(), "net.safetensors").
template <class T>
network<T> with_weights(network<T> net, const std::string& path, const std::map<std::string, std::string>& names = {}) {
  load_weights(path, net, names);
  return net;
}

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/weights.ipp"
#endif
