// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/serve/arguments.hpp"

namespace manta::serve::detail {

MANTA_DECL request request_of(const incoming& in, bool with_body) {
  request r;
  r.method = in.message.method();
  r.path = in.target.path;
  r.id = in.id;
  r.client = in.client;
  r.parameters = in.parameters;
  r.query = in.query;
  for (std::size_t i = 0; i < in.message.fields(); ++i) r.fields.emplace_back(in.message.name(i), in.message.value(i));
  if (with_body) r.body = in.message.body();
  return r;
}

MANTA_DECL argument_source::argument_source(const incoming& in, const std::vector<std::string>& names, int deepest)
    : in_(in), names_(names), is_text_(names.size()), deepest_(deepest) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    is_text_[i] = find_value(in.parameters, names[i]) != nullptr || find_value(in.query, names[i]) != nullptr;
    in_body_ += !is_text_[i];
  }
}

MANTA_DECL std::vector<std::string_view> argument_source::texts(std::size_t i) const {
  std::vector<std::string_view> all;
  if (!is_text_[i]) return all;
  if (const std::string* const in_path = find_value(in_.parameters, names_[i])) {
    all.emplace_back(*in_path);
    return all;
  }
  for (const auto& [name, value] : in_.query) {
    if (name == names_[i]) all.emplace_back(value);
  }
  return all;
}

MANTA_DECL json_view argument_source::view(std::size_t i, std::string& name) {
  const std::string_view method = in_.message.method();
  if (body().empty() && (method == "GET" || method == "HEAD" || in_body_ < names_.size())) {  // it is missing
    name = names_[i];
    return {};
  }
  if (!document_) {  // a long one that cannot fit takes no memory; of a short one the error says more
    constexpr std::size_t long_body = 64 * 1024;
    document_.emplace(body(), "the body", body().size() > long_body ? deepest_ : deepest_json);
  }
  const json_view root = document_->root();
  if (is_body(i)) {
    // The other values came in the address; an object may name this one all the same.
    const bool is_named = names_.size() > 1 && root.is_object() && root.member(names_[i]).exists() && root.size() == 1;
    if (is_named) name = names_[i];
    return is_named ? root.member(names_[i]) : root;
  }
  if (root.is_object()) {
    name = names_[i];
    return root.member(name);
  }
  std::size_t before = 0;
  for (std::size_t k = 0; k < i; ++k) before += !is_text_[k];
  if (!root.is_array() || root.size() != in_body_)
    throw json_error(base::text("the body: expected an array of {}, not {}", in_body_, root.describe()));
  name = base::text("[{}]", before);
  return root.element(before);
}

MANTA_DECL json_document document_of_text(std::string_view text) {
  try {
    return json_document(text);
  } catch (const json_error&) {
    return json_document(to_json(std::string(text)));
  }
}

}  // namespace manta::serve::detail
