// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Spaces: what observations and actions may be, as in Gymnasium. A value of a space is stored as plain floats, `size()`
// of them; a network reads `features()` floats, in which a choice among n is n numbers of which one is 1.
//
//   rl::box{{-1.f, -1.f}, {1.f, 1.f}}      // two numbers with their bounds
//   rl::discrete{3}                        // 0, 1 or 2
//   rl::multi_discrete{{3, 2}}             // two choices
//   rl::multi_binary{4}                    // four switches
//   rl::tuple{{rl::discrete{3}, rl::box{{0.f}, {1.f}}}}                              // parts, one after the other
//   rl::dict{{{"gripper", rl::multi_binary{2}}, {"joints", rl::box{{-1.f}, {1.f}}}}} // parts with names
#pragma once

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "manta/rl/base/random.hpp"

namespace manta::rl {

/// Numbers with a lower and an upper bound each, which may be infinite.
struct box {
  std::vector<float> low, high;
  std::vector<int> shape = {};  ///< shape of an image: channels, height, width. Empty: a plain vector
  bool bytes = false;    ///< whole numbers from 0 to 255, such as of an image: a replay memory keeps a byte for each
  bool is_soft = false;  ///< the bounds say what is usual: numbers beyond them are let through

  /// Whether the same numbers are meant; is_soft does not count.
  bool operator==(const box& other) const {
    return low == other.low && high == other.high && shape == other.shape && bytes == other.bytes;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(low, high, shape, bytes, is_soft);
  }
};
/// An image of bytes, of which a network reads channels, height and width in this order.
inline box image_of(int channels, int height, int width) {
  const auto n =
      static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  return {std::vector<float>(n, 0.f), std::vector<float>(n, 255.f), {channels, height, width}, true};
}

/// One of start, start + 1, .., start + n - 1.
struct discrete {
  int n = 1;
  int start = 0;

  bool operator==(const discrete&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(n, start);
  }
};

/// Several choices at once: number i is one of start[i], .., start[i] + n[i] - 1.
struct multi_discrete {
  std::vector<int> n;
  std::vector<int> start = {};  ///< empty: all are 0
  [[nodiscard]] int start_of(std::size_t i) const { return start.empty() ? 0 : start[i]; }

  bool operator==(const multi_discrete&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(n, start);
  }
};

/// n numbers, each 0 or 1.
struct multi_binary {
  int n = 1;

  bool operator==(const multi_binary&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(n);
  }
};

class space;

/// Values of several spaces, one after the other.
struct tuple {
  std::vector<space> parts;

  MANTA_DECL bool operator==(const tuple& other) const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(parts);
  }
};

/// Values of several spaces, one after the other in the alphabetical order of their names. space::part finds
/// one of them; environments may give observations, and take actions, by the names (rl::dict_values).
struct dict {
  std::map<std::string, space> parts;

  MANTA_DECL bool operator==(const dict& other) const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(parts);
  }
};

/// Any of the spaces, as a value.
class space {
 public:
  space() = default;
  /// Throws manta::error if the space has no values, such as a box whose bounds do not match, or too many choices.
  MANTA_DECL space(box b);
  MANTA_DECL space(discrete d);
  MANTA_DECL space(multi_discrete m);
  MANTA_DECL space(multi_binary m);
  MANTA_DECL space(tuple t);
  MANTA_DECL space(dict d);

  /// Null if it is of another kind.
  [[nodiscard]] const box* as_box() const { return std::get_if<box>(&is_); }
  [[nodiscard]] const discrete* as_discrete() const { return std::get_if<discrete>(&is_); }
  [[nodiscard]] const multi_discrete* as_multi_discrete() const { return std::get_if<multi_discrete>(&is_); }

  [[nodiscard]] const multi_binary* as_multi_binary() const { return std::get_if<multi_binary>(&is_); }
  [[nodiscard]] const tuple* as_tuple() const { return std::get_if<tuple>(&is_); }
  [[nodiscard]] const dict* as_dict() const { return std::get_if<dict>(&is_); }
  /// The parts of a tuple or of a dict, in their order; else none.
  [[nodiscard]] MANTA_DECL std::vector<const space*> parts() const;

  /// The numbers of a part of a dict, by its name, in those of the whole. Throws manta::error if there is none.
  [[nodiscard]] MANTA_DECL std::span<const float> part(const std::string& name, std::span<const float> value) const;

  /// The floats in which a value is stored.
  [[nodiscard]] MANTA_DECL int size() const;
  /// The floats that a network reads of a value.
  [[nodiscard]] MANTA_DECL int features() const;
  /// Writes features() floats.
  MANTA_DECL void flatten(std::span<const float> value, float* features) const;
  [[nodiscard]] MANTA_DECL bool contains(std::span<const float> value) const;
  /// Writes size() floats: uniform between bounds, normal where there are none.
  MANTA_DECL void sample(random& random, float* value) const;
  /// As the program writes it: "discrete{2}".
  [[nodiscard]] MANTA_DECL std::string text() const;

  MANTA_DECL bool operator==(const space& other) const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(is_);
  }

 private:
  std::variant<discrete, box, multi_discrete, multi_binary, tuple, dict> is_;
};

namespace detail {
/// "{1, 2.5}", for messages; at most eight numbers.
MANTA_DECL std::string text_of(std::span<const float> numbers);
}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/environments/space.ipp"
#endif
