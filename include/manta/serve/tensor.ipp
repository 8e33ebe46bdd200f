// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "manta/base/text.hpp"
#include "manta/serve/http_error.hpp"
#include "manta/serve/tensor.hpp"
#include "manta/serve/tensor_binary.ipp"

namespace manta::serve::detail {

static_assert(std::endian::native == std::endian::little, "manta: binary tensors are written as they lie in memory");

MANTA_DECL void refuse_tensor(const std::string& name, const std::string& what) {
  throw json_error("input \"" + name + "\" " + what);
}

MANTA_DECL const tensor& infer_request::tensor_named(const std::string& name) const {
  for (const tensor& t : inputs) {
    if (t.name == name) return t;
  }
  if (inputs.size() == 1)
    return inputs[0];  // check_rows has seen that the model has one as well: nothing can be mixed up
  throw json_error("inputs: \"" + name + "\" is missing");
}

/// The largest and the smallest number that a datatype has; for floating-point types the largest alone counts.
inline std::pair<double, double> range_of(const std::string& datatype) {
  const auto of = []<class T>(T) {
    return std::pair{static_cast<double>(std::numeric_limits<T>::lowest()),
                     static_cast<double>(std::numeric_limits<T>::max())};
  };
  if (datatype == "BOOL") return {0, 1};
  if (datatype == "INT8") return of(std::int8_t());
  if (datatype == "UINT8") return of(std::uint8_t());
  if (datatype == "INT16") return of(std::int16_t());
  if (datatype == "UINT16") return of(std::uint16_t());
  if (datatype == "INT32") return of(std::int32_t());
  if (datatype == "UINT32") return of(std::uint32_t());
  if (datatype == "FP16") return {-65504, 65504};
  if (datatype == "FP32") return of(float());
  return of(double());
}

/// Throws if a number is none of the tensor's datatype. Those of 64 bits have been checked when they were read.
inline void check_range(const tensor& t) {
  if (t.datatype == "BYTES" || t.datatype.ends_with("64")) return;
  const auto [least, most] = range_of(t.datatype);
  std::visit(
      [&, least = least, most = most]<class V>(const std::vector<V>& all) {
        if constexpr (!std::is_same_v<V, std::string>) {
          for (const V& each : all) {
            const auto number = static_cast<double>(each);
            if (number < least || number > most)
              refuse_tensor(t.name, base::text("has {}, which does not fit {}", each, t.datatype));
          }
        }
      },
      t.data);
}

/// Nested or flat, in row-major order. `level`: how many arrays are around this one; -1: the data are flat.
template <class V>
void flatten(std::vector<V>& out, json_view data, json_reader& in, const tensor& t, int level) {
  if (data.is_array()) {
    const auto at = static_cast<std::size_t>(level < 0 ? 0 : level);
    if (level < 0 || at >= t.shape.size() || data.size() != static_cast<std::size_t>(t.shape[at]))
      refuse_tensor(t.name, "has data that are nested in another way than its shape says");
    for (std::size_t i = 0; i < data.size(); ++i) flatten(out, data.element(i), in, t, level + 1);
    return;
  }
  if (level >= 0 && static_cast<std::size_t>(level) != t.shape.size())
    refuse_tensor(t.name, "has data that are nested in another way than its shape says");
  const std::string &name = t.name, &datatype = t.datatype;
  V value{};
  if constexpr (std::is_same_v<V, std::int64_t>) {
    if (datatype == "BOOL" && data.what() == json_view::kind::boolean) {
      out.push_back(data.boolean());
      return;
    }
  }
  in.read_at(base::text("input \"{}\": data[{}]", name, out.size()), value, data);
  out.push_back(std::move(value));
}

/// Numbers that were taken out of the text before.
inline void move_numbers(tensor& t, json_number_array&& array) {
  const auto is_size = [](std::size_t a, std::int64_t b) { return a == static_cast<std::size_t>(b); };
  if (array.shape.size() > 1 &&
      !(array.is_even && std::equal(array.shape.begin(), array.shape.end(), t.shape.begin(), t.shape.end(), is_size)))
    refuse_tensor(t.name, "has data that are nested in another way than its shape says");
  std::vector<double>& numbers = array.numbers;
  const auto convert = [&]<class V>(V) {
    std::vector<V>& to = t.data.emplace<std::vector<V>>();
    to.reserve(numbers.size());
    for (const double number : numbers) {
      if (number != std::trunc(number) || (number < 0 && std::is_unsigned_v<V>))
        refuse_tensor(t.name, "has a number that is none of " + t.datatype);
      to.push_back(static_cast<V>(number));
    }
  };
  if (t.datatype == "BYTES") refuse_tensor(t.name, "is of BYTES, and has numbers");
  if (t.datatype[0] == 'F') {
    t.data = std::move(numbers);
  } else if (t.datatype == "UINT64") {
    convert(std::uint64_t());
  } else {
    convert(std::int64_t());
  }
}

/// What is read of a request beside its JSON.
struct tensor_sources {
  std::string_view binary;                            ///< bytes behind the JSON, from the next tensor on
  std::vector<json_number_array>* numbers = nullptr;  ///< the JSON has indices instead of these; null: it has all
};

/// Name, datatype and shape. Gives the number of elements.
inline std::size_t read_head(tensor& t, json_view from, const std::string& where, json_reader& in) {
  if (!from.is_object()) throw json_error(where + ": expected an object, not " + from.describe());
  in.read_at(where + ".name", t.name, from.member("name"));
  in.read_at(where + ".datatype", t.datatype, from.member("datatype"));
  in.read_at(where + ".shape", t.shape, from.member("shape"));
  element_bytes(t.datatype, t.name);
  std::size_t count = 1;
  for (const std::int64_t n : t.shape) {
    constexpr std::size_t most = std::size_t{1} << 32;
    if (n < 0 || (n > 0 && count > most / static_cast<std::size_t>(n)))
      refuse_tensor(t.name, "has an impossible shape");
    count *= static_cast<std::size_t>(n);
  }
  if (t.shape.empty()) refuse_tensor(t.name, "has no dimension: the first one is the batch");
  return count;
}

/// The elements in the JSON, flat or nested.
inline void read_elements(tensor& t, json_view data, const std::string& where, json_reader& in) {
  if (!data.is_array()) {
    const std::string problem =
        data.exists() ? ": expected an array, not " + data.describe() : " is missing: expected an array";
    throw json_error(where + ".data" + problem);
  }
  const bool is_flat = data.size() == 0 || !data.element(0).is_array();
  const auto read = [&]<class V>(V) {
    std::vector<V>& to = t.data.emplace<std::vector<V>>();
    if (!is_flat) return flatten(to, data, in, t, 0);
    for (std::size_t i = 0; i < data.size(); ++i) flatten(to, data.element(i), in, t, -1);
  };
  if (t.datatype == "BYTES") {
    read(std::string());
  } else if (t.datatype[0] == 'F') {
    read(double());
  } else if (t.datatype == "UINT64") {
    read(std::uint64_t());
  } else {
    read(std::int64_t());
  }
}

inline tensor read_tensor(json_view from, std::size_t at, tensor_sources& sources) {
  tensor t;
  json_reader in;
  const std::string where = base::text("inputs[{}]", at);
  const std::size_t count = read_head(t, from, where, in);
  const json_view parameters = from.member("parameters");
  const json_view bytes = parameters.is_object() ? parameters.member("binary_data_size") : json_view();
  if (bytes.exists() && !bytes.is_null()) {
    std::uint64_t size = 0;
    in.read_at(where + ".parameters.binary_data_size", size, bytes);
    if (size > sources.binary.size())
      refuse_tensor(t.name, "has fewer bytes behind the JSON than its binary_data_size says");
    read_binary(t, sources.binary.substr(0, size), count);
    sources.binary.remove_prefix(size);
    return t;
  }
  const json_view data = from.member("data");
  if (sources.numbers != nullptr && data.exists() && !data.is_null()) {
    std::size_t index = 0;
    in.read_at(where + ".data", index, data);
    move_numbers(t, std::move(sources.numbers->at(index)));
  } else {
    read_elements(t, data, where, in);
  }
  if (t.count() != count)
    refuse_tensor(t.name, base::text("has {} elements of data, and its shape needs {}", t.count(), count));
  check_range(t);
  return t;
}

inline bool flag(json_view object, std::string_view name) {
  if (!object.is_object()) return false;
  const json_view value = object.member(name);
  return value.what() == json_view::kind::boolean && value.boolean();
}

inline infer_request read_infer_json(std::string_view json, tensor_sources sources) {
  const json_document document(json);
  const json_view root = document.root();
  if (!root.is_object()) throw json_error("the body: expected an object, not " + root.describe());
  infer_request request;
  json_reader in;
  if (const json_view id = root.member("id"); id.exists() && !id.is_null()) {
    in.read_at("id", request.id, id);
    request.has_id = true;
  }
  request.binary_output = flag(root.member("parameters"), "binary_data_output");
  const json_view inputs = root.member("inputs");
  if (!inputs.is_array())
    throw json_error(inputs.exists() ? "inputs: expected an array, not " + inputs.describe()
                                     : std::string("inputs is missing: expected an array"));
  for (std::size_t i = 0; i < inputs.size(); ++i) request.inputs.push_back(read_tensor(inputs.element(i), i, sources));
  const json_view outputs = root.member("outputs");
  if (outputs.exists() && !outputs.is_null() && !outputs.is_array())
    throw json_error("outputs: expected an array, not " + outputs.describe());
  if (outputs.is_array()) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::string name;
      const json_view output = outputs.element(i);
      if (!output.is_object())
        throw json_error(base::text("outputs[{}]: expected an object, not {}", i, output.describe()));
      in.read_at(base::text("outputs[{}].name", i), name, output.member("name"));
      const json_view parameters = output.member("parameters");
      const bool said = parameters.is_object() && parameters.member("binary_data").exists();
      request.outputs.emplace_back(name, said ? flag(parameters, "binary_data") : request.binary_output);
    }
  }
  return request;
}

/// Numbers are read without a JSON document where that is possible. What does not fit is read again with one, which
/// knows where the mistake is.
MANTA_DECL infer_request read_infer_request(std::string_view body, std::size_t json_bytes) {
  if (json_bytes != std::string_view::npos && json_bytes > body.size()) {
    throw json_error(base::text("Inference-Header-Content-Length: expected at most the length of the body, {}, not {}",
                                body.size(), json_bytes));
  }
  const std::string_view json = body.substr(0, json_bytes);
  const tensor_sources all{json_bytes == std::string_view::npos ? std::string_view() : body.substr(json_bytes)};
  json_without_numbers short_json;
  if (take_out_numbers(json, "data", short_json)) {
    try {
      return read_infer_json(short_json.text, {all.binary, &short_json.arrays});
    } catch (const json_error&) {
    }
  }
  return read_infer_json(json, all);
}

MANTA_DECL void check_rows(infer_request& request, const std::vector<tensor_type>& wanted) {
  if (request.inputs.size() != wanted.size()) {
    throw json_error(base::text("inputs: expected {} tensors, not {}", wanted.size(), request.inputs.size()));
  }
  const std::int64_t rows = request.inputs[0].shape[0];
  for (const tensor_type& w : wanted) {
    const tensor& t = request.tensor_named(w.name);
    std::size_t dimensions = t.shape.size();
    while (dimensions > w.shape.size() && t.shape[dimensions - 1] == 1)
      --dimensions;  // many clients write [n, 1] for [n]
    bool fits = dimensions == w.shape.size() && t.shape[0] == rows;
    for (std::size_t d = 1; fits && d < w.shape.size(); ++d) fits = w.shape[d] < 0 || w.shape[d] == t.shape[d];
    if (!fits)
      throw json_error("input \"" + w.name + "\": expected the shape " + to_json(w.shape) +
                       ", with the same batch for all inputs, not " + to_json(t.shape));
  }
  // A row without numbers costs the client nothing, and the server a call.
  constexpr std::int64_t most = 1 << 20;
  const bool is_empty = request.inputs[0].count() == 0;
  if (is_empty && rows > most) throw json_error(base::text("inputs: a batch of {} rows without any numbers", rows));
  request.rows = static_cast<std::size_t>(rows);
}

inline void append_binary(std::string& out, const tensor& t) {
  const std::size_t each = element_bytes(t.datatype, t.name);
  const auto append = [&](auto value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
  std::visit(
      [&]<class V>(const std::vector<V>& all) {
        for (const V& v : all) {
          if constexpr (std::is_same_v<V, std::string>) {
            append(static_cast<std::uint32_t>(v.size()));
            out += v;
          } else if constexpr (std::is_same_v<V, double>) {
            each == 4 ? append(static_cast<float>(v)) : append(v);
          } else {
            out.append(reinterpret_cast<const char*>(&v), each);  // the low bytes come first
          }
        }
      },
      t.data);
}
inline void append_data(std::string& out, const tensor& t) {
  if (t.datatype == "BOOL") {
    std::vector<bool> truths;
    for (const std::int64_t v : std::get<std::vector<std::int64_t>>(t.data)) truths.push_back(v != 0);
    out += to_json(truths);
  } else if (t.datatype == "FP32") {
    const auto& wide = std::get<std::vector<double>>(t.data);
    out += to_json(std::vector<float>(wide.begin(), wide.end()));  // the shortest digits
  } else {
    std::visit([&](const auto& v) { out += to_json(v); }, t.data);
  }
}
MANTA_DECL tensor empty_tensor_of(tensor_type its, std::size_t rows) {
  tensor t;
  static_cast<tensor_type&>(t) = std::move(its);
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(rows)};
  if (rows == 0) {  // no row will say how long it is
    for (std::size_t d = 1; d < t.shape.size(); ++d) shape.push_back(std::max<std::int64_t>(0, t.shape[d]));
  }
  t.shape = std::move(shape);
  if (t.datatype == "BYTES") {
    t.data = std::vector<std::string>();
  } else if (t.datatype[0] == 'F') {
    t.data = std::vector<double>();
  } else if (t.datatype == "UINT64") {
    t.data = std::vector<std::uint64_t>();
  } else {
    t.data = std::vector<std::int64_t>();
  }
  return t;
}

/// Appends one output to the JSON of the answer.
inline void append_output(std::string& text, const tensor& t, bool as_binary, std::string& binary) {
  text += base::text(R"({"name":{},"shape":{},"datatype":"{}",)", to_json(t.name), to_json(t.shape), t.datatype);
  if (as_binary) {
    const std::size_t before = binary.size();
    append_binary(binary, t);
    text += base::text(R"("parameters":{"binary_data_size":{}}})", binary.size() - before);
  } else {
    text += R"("data":)";
    append_data(text, t);
    text += '}';
  }
}

MANTA_DECL std::string write_infer_answer(const infer_request& request, const model_name& model,
                                          const std::vector<tensor>& outputs, std::string& binary) {
  std::string text = base::text(R"({"model_name":{},"model_version":{})", to_json(model.name), to_json(model.version));
  if (request.has_id) text += R"(,"id":)" + to_json(request.id);
  text += R"(,"outputs":[)";
  bool first = true;
  const auto add = [&](const tensor& t, bool as_binary) {
    if (!std::exchange(first, false)) text += ',';
    append_output(text, t, as_binary, binary);
  };
  if (request.outputs.empty()) {
    for (const tensor& t : outputs) add(t, request.binary_output);
  }
  for (const auto& [name, as_binary] : request.outputs) {
    const tensor* found = nullptr;
    for (const tensor& t : outputs) found = t.name == name ? &t : found;
    if (found == nullptr) throw http_error(400, base::text("outputs: there is no output \"{}\"", name));
    add(*found, as_binary);
  }
  return text + "]}";
}

MANTA_DECL std::string describe_tensors(const std::vector<tensor_type>& all) {
  std::string text = "[";
  for (const tensor_type& t : all) {
    text += text.size() > 1 ? "," : "";
    text +=
        R"({"name":)" + to_json(t.name) + R"(,"datatype":")" + t.datatype + R"(","shape":)" + to_json(t.shape) + "}";
  }
  return text + "]";
}

}  // namespace manta::serve::detail
