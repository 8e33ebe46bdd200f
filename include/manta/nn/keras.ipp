// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of keras.hpp: which array of the file is which of the layers.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/keras.hpp"
#include "manta/nn/keras/layers.hpp"
#include "manta/nn/weight_files/bytes.hpp"

namespace manta::nn {

MANTA_DECL std::string keras_report::text() const {
  std::string all = base::text("loaded {} arrays:\n", loaded.size());
  for (const std::string& line : loaded) all += "  " + line + "\n";
  for (const std::string& name : unused) all += "not used: " + name + "\n";
  for (const std::string& line : notes) all += line + "\n";
  return all;
}

namespace detail {

/// The parts of a path, without a ":0" at its end.
inline std::vector<std::string> path_parts(std::string path) {
  if (path.ends_with(":0")) path.resize(path.size() - 2);
  std::vector<std::string> parts(1);
  for (const char c : path) c == '/' ? parts.emplace_back() : parts.back() += c, void();
  return parts;
}
inline std::optional<int> as_number(std::string_view text) {
  int n = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(n) : std::nullopt;
}

/// The file's arrays in the order of model.get_weights(): as they lie in the file, or by numpy.savez's numbers.
inline std::vector<const stored_array*> in_order(const std::vector<stored_array>& file) {
  std::vector<std::pair<int, const stored_array*>> all;
  for (const stored_array& a : file) {
    const auto number = a.name.starts_with("arr_") ? as_number(std::string_view(a.name).substr(4)) : std::nullopt;
    all.emplace_back(number.value_or(static_cast<int>(all.size())), &a);
  }
  std::ranges::stable_sort(all, {}, [](const auto& each) { return each.first; });
  std::vector<const stored_array*> arrays;
  for (const auto& each : all) arrays.push_back(each.second);
  return arrays;
}

/// Whether the path of an array of this layer ends in this role: in its parts, of which one may go on after the name,
/// as in "forward_lstm", and others may stand between, as "lstm_cell".
inline bool has_role(const std::vector<std::string>& path, std::size_t after_layer, const std::string& role) {
  const std::vector<std::string> wanted = path_parts(role);
  if (path.back() != wanted.back()) return false;
  if (wanted.size() == 1) return true;
  return std::any_of(path.begin() + static_cast<std::ptrdiff_t>(after_layer), path.end() - 1,
                     [&](const std::string& part) { return part == wanted[0] || part.starts_with(wanted[0] + "_"); });
}

/// The file's array for each of a layer's, by the names in their paths, or by numbers at their ends.
class keras_names {
 public:
  keras_names(const std::vector<stored_array>& file, const std::map<std::string, std::string>& layers,
              const std::string& source)
      : file_(file), layers_(layers), source_(source) {}

  const stored_array* find(const keras_array& wanted, std::size_t number_in_layer) const {
    const auto name = layers_.find(wanted.layer);
    if (name == layers_.end())
      throw error(base::text("manta: nn: load_keras: {}: the layer {} has weights, and .layers does not name it",
                             source_, wanted.layer));
    std::vector<std::pair<int, const stored_array*>> numbered;
    for (const stored_array& a : file_) {
      const std::vector<std::string> path = path_parts(a.name);
      const auto layer = std::ranges::find(path, name->second);
      if (layer == path.end()) continue;
      if (has_role(path, static_cast<std::size_t>(layer - path.begin()) + 1, wanted.role)) return &a;
      if (const auto number = as_number(path.back())) numbered.emplace_back(*number, &a);
    }
    std::ranges::stable_sort(numbered, {}, [](const auto& each) { return each.first; });
    if (number_in_layer < numbered.size()) return numbered[number_in_layer].second;
    throw error(base::text("manta: nn: load_keras: {} has no {} of the layer '{}', which is to be layer {}; it has {}",
                           source_, wanted.role, name->second, wanted.layer, names()));
  }

 private:
  [[nodiscard]] std::string names() const {
    std::string all;
    for (const stored_array& a : file_) all += (all.empty() ? "" : ", ") + a.name;
    return all.empty() ? "nothing" : all;
  }

  const std::vector<stored_array>& file_;
  const std::map<std::string, std::string>& layers_;
  const std::string& source_;
};

/// The form of the array that the file has. Throws if it has none of them.
inline const keras_form& form_of(const keras_array& wanted, const stored_array& a, const std::string& source) {
  for (const keras_form& f : wanted.forms) {
    if (std::ranges::equal(f.extents, a.extents)) return f;
  }
  const auto& extents = wanted.forms[0].extents;
  const std::string remedy = wanted.role.ends_with("bias") && extents.size() == 2 && a.extents.size() == 1
                                 ? ". It seems to be a GRU with reset_after=False, which is another function: train it "
                                   "with reset_after=True"
                                 : "";
  throw error(base::text("manta: nn: load_keras: {}: '{}' is {}, and was to be the {} of layer {}, which is {}{}",
                         source, a.name, extents_text(a.extents), wanted.role, wanted.layer,
                         extents_text({extents.begin(), extents.end()}), remedy));
}

/// Writes the numbers of a file's array to the places where they go; gives the names of the arrays there.
inline std::vector<std::string> place(const stored_array& from, const keras_array& wanted, const keras_form& form,
                                      std::map<std::string, std::vector<double>>& all) {
  std::vector<double> numbers(static_cast<std::size_t>(bytes_of_array(from.extents, 1)));
  convert(from, numbers.data());
  std::vector<int> at(form.extents.size());
  std::vector<std::string> names;
  for (const double n : numbers) {
    const keras_place to = form.place(at);
    const std::string name = wanted.layer + "." + to.array;
    std::vector<double>& array = all[name];
    const auto index = static_cast<std::size_t>(to.at);
    if (array.size() <= index) array.resize(index + 1);
    array[index] = n;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == form.extents[d];) at[d] = 0;
  }
  return names;
}

MANTA_DECL std::map<std::string, std::vector<double>> keras_numbers(const std::string& source, const shape& in,
                                                                    const std::vector<spec>& layers,
                                                                    const std::vector<stored_array>& file,
                                                                    const keras_options& options,
                                                                    keras_report& report) {
  keras_layers all;
  all.row(layers, "", in);
  report.notes = all.notes;
  const std::vector<const stored_array*> ordered = in_order(file);
  const bool by_order = options.layers.empty();
  if (by_order && ordered.size() != all.arrays.size())
    throw error(
        base::text("manta: nn: load_keras: {} has {} arrays, and a model of Keras with the layers of the network "
                   "{}; give numpy.savez(path, *model.get_weights()), or name the layers by .layers",
                   source, ordered.size(), all.arrays.size()));
  const keras_names names(file, options.layers, source);
  std::map<std::string, std::vector<double>> numbers;
  std::vector<const stored_array*> used;
  std::size_t in_layer = 0;
  for (std::size_t i = 0; i < all.arrays.size(); ++i) {
    const keras_array& wanted = all.arrays[i];
    in_layer = i > 0 && all.arrays[i - 1].layer == wanted.layer ? in_layer + 1 : 0;
    const stored_array& a = by_order ? *ordered[i] : *names.find(wanted, in_layer);
    for (const std::string& name : place(a, wanted, form_of(wanted, a, source), numbers)) {
      report.loaded.push_back(base::text("{} <- {} of {}", name, a.name, extents_text(a.extents)));
      // An LSTM of Keras has one bias, and ours two, of which the second is then 0.
      if (const std::size_t ih = name.find("bias_ih"); ih != std::string::npos) {
        std::string other = name;
        numbers[other.replace(ih, 7, "bias_hh")].resize(numbers[name].size());
      }
    }
    used.push_back(&a);
  }
  for (const stored_array& a : file) {
    if (std::ranges::find(used, &a) == used.end()) report.unused.push_back(a.name);
  }
  return numbers;
}

}  // namespace detail

}  // namespace manta::nn
