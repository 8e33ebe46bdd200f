// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The arguments of a call in a request. Each value comes from the path (/items/{id}), else from the query (?k=3), else
// from the body. Of the body: one value is the body itself; several are an array in their order, or an object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "manta/serve/http_message.hpp"
#include "manta/serve/http_target.hpp"
#include "manta/serve/json.hpp"
#include "manta/serve/request.hpp"

namespace manta::serve::detail {

/// A request that has found its route.
struct incoming {
  const http_message& message;
  const http_target& target;
  text_pairs parameters = {};  ///< parameters of the path
  text_pairs query = {};
  std::string_view id = {}, client = {};
};

/// The request as a function sees it.
MANTA_DECL request request_of(const incoming& in, bool with_body);

/// Where the values of a request are. `names` are those of the values, in their order.
class argument_source {
 public:
  /// `deepest`: how deep the values are nested, if they are the body.
  MANTA_DECL argument_source(const incoming& in, const std::vector<std::string>& names, int deepest);

  /// The texts of this value in the path or in the query; empty: the body has it.
  [[nodiscard]] MANTA_DECL std::vector<std::string_view> texts(std::size_t i) const;
  /// Whether this value, and no other, is the body.
  [[nodiscard]] bool is_body(std::size_t i) const { return in_body_ == 1 && !is_text_[i]; }
  [[nodiscard]] std::string_view body() const { return in_.message.body(); }
  /// What the body has of this value, and the name of that in messages, which is empty for the whole body. Throws
  /// json_error if the body is no JSON, or neither an object nor an array of the right size.
  [[nodiscard]] MANTA_DECL json_view view(std::size_t i, std::string& name);

 private:
  const incoming& in_;
  const std::vector<std::string>& names_;
  std::vector<bool> is_text_;
  std::size_t in_body_ = 0;
  int deepest_;
  std::optional<json_document> document_;
};

/// A document with the value that a text in an address means: a number, true, JSON; else the text itself.
[[nodiscard]] MANTA_DECL json_document document_of_text(std::string_view text);

template <class T>
void read_texts(T& value, const std::vector<std::string_view>& texts, const std::string& name) {
  using namespace output::detail;
  if constexpr (std::is_same_v<T, std::string>) {
    value = texts.front();
  } else if constexpr (is_optional<T>) {
    read_texts(value.emplace(), texts, name);
  } else if constexpr (range_like<T> && !is_array_of<T> && requires { value.push_back({}); }) {
    if (texts.size() == 1 && texts.front().starts_with('[')) {
      const json_document document = document_of_text(texts.front());
      return json_reader().read_at(name, value, document.root());
    }
    for (const std::string_view each : texts) {
      typename T::value_type element{};
      read_texts(element, {each}, name);
      value.push_back(std::move(element));
    }
  } else {
    const json_document document = document_of_text(texts.front());
    json_reader().read_at(name, value, document.root());
  }
}

template <class T>
void read_argument(T& value, argument_source& source, std::size_t i, const std::string& name) {
  if (const auto texts = source.texts(i); !texts.empty()) return read_texts(value, texts, name);
  if (source.is_body(i) && read_plain_numbers(source.body(), value)) return;
  std::string called;
  const json_view view = source.view(i, called);
  json_reader in;
  called.empty() ? in.read(value, view) : in.read_at(called, value, view);
}

template <class... P>
inline constexpr std::size_t count_values = (std::size_t{!std::is_same_v<P, request>} + ... + 0);

template <class P>
inline constexpr int depth_of_value = json_depth<P>;
template <>
inline constexpr int depth_of_value<request> = 0;

/// The arguments for parameters of these types; a serve::request is the whole of what came.
template <class... P>
std::tuple<P...> read_arguments(const incoming& in, const std::vector<std::string>& names) {
  std::tuple<P...> arguments{};
  constexpr std::size_t values = count_values<P...>;
  constexpr int deepest = std::max({0, depth_of_value<P>...});
  argument_source source(in, names, values == 1 ? deepest : std::min(deepest_json, deepest + 1));
  std::size_t i = 0;
  const auto one = [&]<class T>(T& value) {
    if constexpr (std::is_same_v<T, request>) {
      value = request_of(in, values == 0);
    } else {
      read_argument(value, source, i, names[i]);
      ++i;
    }
  };
  std::apply([&](auto&... value) { (one(value), ...); }, arguments);
  return arguments;
}

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/arguments.ipp"
#endif
