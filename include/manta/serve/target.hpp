// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What can be deployed: a function or a lambda without captures, a method of a class, and each of them in batches.
//
//   int twice(int);                                          serve::deploy<twice>({.name = "double"})
//   struct rule { int apply(image); };                       serve::deploy<&rule::apply>({.name = "rule"}, constructor
//   arguments..) std::vector<int> classifier::predict(const std::vector<image>&);
//                                                            serve::deploy<serve::batched<&classifier::predict>>(..)
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/generator.hpp"
#include "manta/serve/source.hpp"
#include "manta/signature.hpp"

namespace manta::serve {

// Types of functions stand beside the functions in the parameters of templates. Without them, g++ 12 gives a template
// external linkage even if the function is a method of a class that is local to one file, and classes of the same name
// in two files would share it.

/// See batched.
template <auto F, class Type = decltype(F)>
struct batched_function {};

/// F takes many requests in one call: it has one parameter, a vector of requests, and returns a vector of
/// as many answers.
template <auto F>
inline constexpr batched_function<F> batched{};

namespace detail {

/// The class of functions that are not methods.
struct no_class {};

/// Parameters as values, and the class of a method.
template <class Parameters>
struct values_of;
template <class... P>
struct values_of<manta::detail::list<P...>> {
  using type = std::tuple<std::remove_cvref_t<P>...>;
};
template <class F>
struct shape {
  using parts = manta::detail::signature<F>;
  using result = typename parts::result;
  using arguments = typename values_of<typename parts::parameters>::type;
  using class_type = std::conditional_t<std::is_member_function_pointer_v<F>, typename parts::object, no_class>;
};

template <class R, class Tuple>
struct signature_of;
template <class R, class... A>
struct signature_of<R, std::tuple<A...>> {
  using type = R(A...);
};

template <class T>
struct element_of {
  static constexpr bool is_vector = false;
  using type = no_class;  // after a mistake
};
template <class T>
struct element_of<std::vector<T>> {
  static constexpr bool is_vector = true;
  using type = T;
};

/// What a call without a value gives.
struct nothing {
  template <class Archive>
  void serialize(Archive&) {}
};
template <class R>
struct value_type_of {
  using type = std::conditional_t<std::is_void_v<R>, nothing, std::remove_cvref_t<R>>;
};
template <class T>
struct value_type_of<generator<T>> {
  using type = nothing;
};
template <class R>
using value_of = typename value_type_of<R>::type;
/// Whether the values of an answer come one after the other.
template <class R>
inline constexpr bool is_stream = false;
template <class T>
inline constexpr bool is_stream<generator<T>> = true;

/// The answers to many requests, such as rows of tensors, and the version of the deployment that has given them.
template <class R>
struct answered_rows {
  std::vector<value_of<R>> rows;
  int version = 1;
  std::int64_t ns = 0;  ///< time that the replica took
  template <class Archive>
  void serialize(Archive& archive) {
    archive(rows, version, ns);
  }
};

template <class Object, class F, class... A>
decltype(auto) invoke_on(Object& object, F f, A&&... a) {
  if constexpr (std::is_same_v<Object, no_class>) {
    return f(std::forward<A>(a)...);
  } else {
    return (object.*f)(std::forward<A>(a)...);
  }
}

/// An argument that only names a type, which the other parameters of a remote method do not have: else the method, as
/// a parameter of templates, would be shared by types of the same name that are local to two files.
template <class T>
struct type_tag {};

/// One request a call.
template <auto F, class Type = decltype(F)>
struct target {
  using parts = shape<decltype(F)>;
  using class_type = typename parts::class_type;
  using result = std::remove_cvref_t<typename parts::result>;
  using arguments = typename parts::arguments;
  static constexpr bool is_batched = false;

  /// Begins a generator, which may refer to the arguments.
  template <class Object>
  static result begin(Object& object, arguments& a) {
    return std::apply([&](auto&... each) { return invoke_on(object, F, each...); }, a);
  }
  template <class Object>
  static std::vector<value_of<result>> run(Object& object, std::vector<arguments>&& requests) {
    std::vector<value_of<result>> answers;
    for (arguments& r : requests) {
      std::apply(
          [&](auto&... a) {
            if constexpr (std::is_void_v<result>) {
              invoke_on(object, F, std::move(a)...);
              answers.push_back({});
            } else {
              answers.push_back(invoke_on(object, F, std::move(a)...));
            }
          },
          r);
    }
    return answers;
  }
};

/// Many requests a call.
template <auto F, class Type = decltype(F)>
struct batch_target {
  using parts = shape<decltype(F)>;
  using class_type = typename parts::class_type;
  using many = std::tuple_element_t<0, typename parts::arguments>;
  using answers = std::remove_cvref_t<typename parts::result>;
  using result = typename element_of<answers>::type;
  using arguments = std::tuple<typename element_of<many>::type>;
  static constexpr bool is_batched = true;

  template <class Object>
  static answers run(Object& object, std::vector<arguments>&& requests) {
    many all;
    all.reserve(requests.size());
    for (arguments& r : requests) all.push_back(std::move(std::get<0>(r)));
    answers given = invoke_on(object, F, std::move(all));
    if (given.size() != requests.size())
      throw error(base::text(
          "a batched function got {} requests and returned {} answers; it has to return one for each request, in "
          "their order",
          requests.size(), given.size()));
    return given;
  }
};

/// What the requests of a target take and give, as a function type.
template <class Target>
using signature = typename signature_of<typename Target::result, typename Target::arguments>::type;

/// What is known of a target without its types.
struct target_kind {
  bool is_batched = false, is_stream = false;
};
template <class Target>
inline constexpr target_kind kind_of{Target::is_batched, is_stream<typename Target::result>};

template <auto F>
constexpr bool takes_one_argument() {
  return std::tuple_size_v<typename shape<decltype(F)>::arguments> == 1;
}
template <auto F>
constexpr bool takes_batches() {
  using parts = shape<decltype(F)>;
  if constexpr (takes_one_argument<F>()) {
    return element_of<std::tuple_element_t<0, typename parts::arguments>>::is_vector &&
           element_of<std::remove_cvref_t<typename parts::result>>::is_vector;
  } else {
    return false;
  }
}
/// What serve::batched means. After a mistake the function counts as one that takes single requests, so that the
/// compiler has no more to say than what is wrong.
template <auto F>
struct batched_target {
  static_assert(takes_one_argument<F>(),
                "manta: serve::batched takes a function with one parameter, a std::vector of requests");
  static_assert(!takes_one_argument<F>() || takes_batches<F>(),
                "manta: serve::batched takes a function from a std::vector of requests to a std::vector of answers");
  using type = std::conditional_t<takes_batches<F>(), batch_target<F>, target<F>>;
};

template <auto F, class Type = decltype(F)>
struct target_of {
  using type = target<F>;
};
template <auto F, auto G, class T>
struct target_of<F, batched_function<G, T>> : batched_target<G> {};
template <auto F, auto G, class T>
struct target_of<F, const batched_function<G, T>> : batched_target<G> {};

template <class C, class... A>
constexpr bool can_make() {
  return std::is_constructible_v<C, const A&...> || requires(const A&... a) { C{a...}; };
}

/// An object of the class, by its constructor or as an aggregate.
template <class C, class... A>
std::unique_ptr<C> make_object(const A&... a) {
  if constexpr (std::is_constructible_v<C, const A&...>) {
    return std::make_unique<C>(a...);
  } else if constexpr (can_make<C, A...>()) {
    return std::unique_ptr<C>(new C{a...});
  } else {
    return nullptr;  // after a mistake
  }
}

}  // namespace detail

}  // namespace manta::serve
