// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Bodies of requests under libFuzzer: whatever comes is read or refused, what is read is written so that it is read as the
// same, and the short ways that numbers take around the JSON document give what the document gives.
//
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I include tests/serve/http/fuzz_bodies.cpp -o fuzz
//   ./fuzz -max_len=400 FOLDER tests/serve/http/bodies
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/variant.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

#include "manta/serve/tensor.hpp"
#include "manta/serve/tensor_rows.hpp"

namespace serve = manta::serve;
namespace detail = manta::serve::detail;

namespace {
void insist(bool holds) {
  if (!holds) std::abort();
}

/// A class of the user's own, with all kinds of members.
struct order {
  std::string name;
  double price = 0;
  std::uint16_t count = 0;
  bool is_paid = false;
  std::map<std::string, std::vector<double>> parts;
  std::optional<std::pair<int, std::string>> note;
  std::variant<int, double, std::string, std::vector<int>> tag;
  std::set<std::int64_t> numbers;
  std::tuple<float, std::optional<bool>> mixed;
  std::vector<order> inner;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(price), CEREAL_NVP(count), CEREAL_NVP(is_paid), CEREAL_NVP(parts));
    archive(CEREAL_NVP(note), CEREAL_NVP(tag), CEREAL_NVP(numbers), CEREAL_NVP(mixed), CEREAL_NVP(inner));
  }
};
void read_and_write(std::string_view text) {
  std::string written;
  try {
    written = serve::to_json(serve::from_json<order>(text));
  } catch (const serve::json_error& e) {
    insist(std::string_view(e.what()).size() < 1000);  // short, whatever has come
    return;
  }
  insist(serve::to_json(serve::from_json<order>(written)) == written);
}

template <class T>
void compare_numbers(std::string_view text) {
  std::vector<T> quick;
  if (serve::read_plain_numbers(text, quick)) insist(quick == serve::from_json<std::vector<T>>(text));
}

/// A request, or nothing where it is refused.
template <class Read>
std::optional<detail::infer_request> request_of(Read&& read) {
  try {
    return read();
  } catch (const serve::json_error&) {
    return std::nullopt;
  }
}

void compare_requests(std::string_view json, std::string_view binary) {
  const std::string body = std::string(json) + std::string(binary);
  auto quick = request_of([&] { return detail::read_infer_request(body, json.size()); });
  const auto slow = request_of([&] { return detail::read_infer_json(json, {binary}); });
  insist(quick.has_value() == slow.has_value());
  if (!quick) return;
  insist(quick->id == slow->id && quick->outputs == slow->outputs && quick->inputs.size() == slow->inputs.size());
  for (std::size_t i = 0; i < quick->inputs.size(); ++i) {
    const detail::tensor &a = quick->inputs[i], &b = slow->inputs[i];
    insist(a.name == b.name && a.datatype == b.datatype && a.shape == b.shape && a.data.index() == b.data.index());
    insist(a.count() == b.count());
    if (a.datatype != "FP16" && a.datatype != "FP32" && a.datatype != "FP64") insist(a.data == b.data);  // NaN
    try {
      detail::check_rows(*quick, {{a.name, a.datatype, std::vector<std::int64_t>(a.shape.size(), -1)}});
      std::vector<float> row;
      if (a.shape[0] > 0 && a.shape.size() == 2) detail::read_row(row, a, static_cast<std::size_t>(a.shape[0] - 1));
    } catch (const serve::json_error&) {
    }
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_and_write(text);
  compare_numbers<double>(text);
  compare_numbers<float>(text);
  compare_numbers<std::int64_t>(text);
  compare_numbers<std::uint8_t>(text);
  const std::size_t end = text.rfind('}');
  compare_requests(text, {});
  if (end != std::string_view::npos) compare_requests(text.substr(0, end + 1), text.substr(end + 1));
  return 0;
}
