// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Sets members of a serialisable class by the names that its serialize gives them:
//
//   template <class Archive> void serialize(Archive& archive) { archive(CEREAL_NVP(rate), CEREAL_NVP(hidden)); }
#pragma once

#include <cereal/cereal.hpp>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "manta/output/source.hpp"

namespace manta::output {

/// An archive that reads: `value_of(name, member)` is called for each named member and may change it.
template <class Visitor>
class member_archive {
 public:
  using is_loading = std::true_type;
  using is_saving = std::false_type;

  explicit member_archive(Visitor visit) : visit_(std::move(visit)) {}
  template <class... T>
  member_archive& operator()(T&&... values) {
    (one(values), ...);
    return *this;
  }

 private:
  template <class T>
  void one(cereal::NameValuePair<T>& named) {
    visit_(std::string(named.name), named.value);
  }
  template <class T>
  void one(const cereal::NameValuePair<T>& named) {
    visit_(std::string(named.name), const_cast<std::remove_cvref_t<T>&>(named.value));
  }
  template <class T>
  void one(T&) {}  // without a name

  Visitor visit_;
};

/// Calls visit(name, member) for each member that serialize names.
template <class T, class Visitor>
void visit_members(T& object, Visitor&& visit) {
  member_archive<std::reference_wrapper<std::remove_reference_t<Visitor>>> archive(visit);
  object.serialize(archive);
}

}  // namespace manta::output
