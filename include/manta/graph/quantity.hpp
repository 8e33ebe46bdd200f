// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Named amounts of resources that ranks offer and tasks ask for. manta counts them to decide which tasks may start, but
// does not enforce them.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "manta/base/amounts.hpp"
#include "manta/base/error.hpp"
#include "manta/base/number.hpp"
#include "manta/base/vector.hpp"
#include "manta/wire/bytes.hpp"

namespace manta::graph {

inline constexpr double quantity_units = 10000;

/// One named amount, kept in units of 1/10000 so that fractions add up exactly.
struct quantity {
  static constexpr std::int64_t invalid = -1;

  quantity() = default;
  quantity(std::string its_name, double amount)
      : name(std::move(its_name)),
        units(!base::is_nan(amount) && amount >= 0 && amount <= 1e14 ? std::llround(amount * quantity_units)
                                                                     : invalid) {}
  friend bool operator==(const quantity& a, const quantity& b) { return a.units == b.units && a.name == b.name; }

  std::string name;
  std::int64_t units = 0;
};

/// Named amounts, in the order of their names: {{"gpu", 1}, {"slot", 0.5}}, or a map from names to numbers.
class quantities {
 public:
  quantities() = default;
  quantities(std::initializer_list<quantity> amounts) {
    for (const quantity& q : amounts) (*this)[q.name] = q.units;
  }
  template <class Map>
    requires requires(const Map& map) { quantity(map.begin()->first, static_cast<double>(map.begin()->second)); }
  quantities(const Map& map) {
    for (const auto& [name, amount] : map) (*this)[name] = quantity(name, static_cast<double>(amount)).units;
  }

  bool empty() const { return list_.empty(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  /// The units of this name; adds the name with 0 units if it is missing.
  std::int64_t& operator[](const std::string& name) {
    std::size_t at = 0;
    while (at < list_.size() && list_[at].name < name) ++at;
    if (at == list_.size() || list_[at].name != name) {
      list_.emplace_back();
      for (std::size_t i = list_.size() - 1; i > at; --i) std::swap(list_[i], list_[i - 1]);
      list_[at].name = name;
    }
    return list_[at].units;
  }
  bool has(const std::string& name) const {
    for (const quantity& q : list_) {
      if (q.name == name) return true;
    }
    return false;
  }
  /// The units of this name; 0 if it is missing.
  std::int64_t of(const std::string& name) const {
    for (const quantity& q : list_) {
      if (q.name == name) return q.units;
    }
    return 0;
  }
  /// The amount of this name; 0 if it is missing.
  double amount(const std::string& name) const { return static_cast<double>(of(name)) / quantity_units; }
  friend bool operator==(const quantities& a, const quantities& b) { return a.list_ == b.list_; }

  void write(wire::buffer& out) const {
    wire::put(out, list_.size());
    for (const quantity& q : list_) {
      wire::put(out, q.name);
      wire::put(out, q.units);
    }
  }
  void read(wire::source& in) {
    for (auto count = in.get<std::size_t>(); count > 0; --count) {
      const std::string name = in.get<std::string>();
      (*this)[name] = in.get<std::int64_t>();
    }
  }

 private:
  base::vector<quantity> list_;
};

inline void require_valid(const quantities& amounts) {
  for (const quantity& q : amounts) {
    if (q.units == quantity::invalid) {
      throw error("manta: the amount of resource \"" + q.name + "\" must be a number from 0 to 1e14");
    }
  }
}

inline bool fits(const quantities& wanted, const quantities& offered) {
  for (const quantity& q : wanted) {
    if (q.units > 0 && offered.of(q.name) < q.units) return false;
  }
  return true;
}

inline std::string describe_units(std::int64_t units) {
  std::string number = std::to_string(static_cast<double>(units) / quantity_units);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}
/// An amount of a resource; memory in words: "7.8 GiB".
inline std::string describe_amount(const std::string& name, std::int64_t units) {
  const auto bytes = static_cast<std::uint64_t>(static_cast<double>(units) / quantity_units);
  return name == "memory" && bytes >= 1024 ? base::bytes_text(bytes) : describe_units(units);
}
inline std::string describe(const quantities& amounts) {
  std::string text;
  for (const quantity& q : amounts) {
    text += (text.empty() ? "" : ", ") + q.name + " = " + describe_amount(q.name, q.units);
  }
  return text;
}

}  // namespace manta::graph
