// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "manta/serve/tensor.hpp"

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

/// The bytes of one element; 0: any number (BYTES).
inline std::size_t element_bytes(const std::string& datatype, const std::string& name) {
  if (datatype == "BYTES") return 0;
  if (datatype == "BOOL" || datatype == "INT8" || datatype == "UINT8") return 1;
  if (datatype == "INT16" || datatype == "UINT16" || datatype == "FP16") return 2;
  if (datatype == "INT32" || datatype == "UINT32" || datatype == "FP32") return 4;
  if (datatype == "INT64" || datatype == "UINT64" || datatype == "FP64") return 8;
  throw json_error("input \"" + name +
                   "\": expected a datatype of the protocol (BOOL, UINT8 .. INT64, FP16, FP32, FP64, BYTES), not \"" +
                   datatype + "\"");
}

inline double from_half(std::uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? (fraction != 0 ? std::nan("") : HUGE_VAL)
                                            : std::ldexp(1024 + fraction, exponent - 25);
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}

template <class T>
T number_at(std::string_view bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}
template <class T, class V>
void copy_numbers(std::vector<V>& out, std::string_view bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<V>(number_at<T>(bytes, i)));
}

inline void read_binary(tensor& t, std::string_view bytes, std::size_t count) {
  const std::size_t each = element_bytes(t.datatype, t.name);
  if (each == 0) {
    std::vector<std::string> texts;
    while (bytes.size() >= 4) {
      const auto length = number_at<std::uint32_t>(bytes, 0);
      if (length > bytes.size() - 4) break;
      texts.emplace_back(bytes.substr(4, length));
      bytes.remove_prefix(4 + length);
    }
    if (!bytes.empty() || texts.size() != count) refuse_tensor(t.name, "has binary data that does not fit its shape");
    t.data = std::move(texts);
    return;
  }
  if (bytes.size() != each * count)
    refuse_tensor(t.name, "has " + std::to_string(bytes.size()) + " bytes of binary data, and its shape needs " +
                              std::to_string(each * count));
  if (t.datatype == "UINT64") {
    copy_numbers<std::uint64_t>(t.data.emplace<std::vector<std::uint64_t>>(), bytes, count);
  } else if (t.datatype[0] == 'F') {
    auto& out = t.data.emplace<std::vector<double>>();
    if (each == 4) return copy_numbers<float>(out, bytes, count);
    if (each == 8) return copy_numbers<double>(out, bytes, count);
    for (std::size_t i = 0; i < count; ++i) out.push_back(from_half(number_at<std::uint16_t>(bytes, i)));
  } else {
    auto& out = t.data.emplace<std::vector<std::int64_t>>();
    const bool is_signed = t.datatype[0] == 'I';
    if (each == 1)
      return is_signed ? copy_numbers<std::int8_t>(out, bytes, count) : copy_numbers<std::uint8_t>(out, bytes, count);
    if (each == 2)
      return is_signed ? copy_numbers<std::int16_t>(out, bytes, count) : copy_numbers<std::uint16_t>(out, bytes, count);
    if (each == 4)
      return is_signed ? copy_numbers<std::int32_t>(out, bytes, count) : copy_numbers<std::uint32_t>(out, bytes, count);
    copy_numbers<std::int64_t>(out, bytes, count);
  }
}

/// Nested or flat, in row-major order.
template <class V>
void flatten(std::vector<V>& out, json_view data, json_reader& in, const std::string& name,
             const std::string& datatype) {
  if (data.is_array()) {
    for (std::size_t i = 0; i < data.size(); ++i) flatten(out, data.element(i), in, name, datatype);
    return;
  }
  V value{};
  if constexpr (std::is_same_v<V, std::int64_t>) {
    if (datatype == "BOOL" && data.what() == json_view::kind::boolean) {
      out.push_back(data.boolean());
      return;
    }
  }
  in.read_at("input \"" + name + "\": data[" + std::to_string(out.size()) + "]", value, data);
  out.push_back(std::move(value));
}

/// Numbers that were taken out of the text before.
inline void move_numbers(tensor& t, std::vector<double>&& numbers) {
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
  std::string_view binary;                              ///< bytes behind the JSON, from the next tensor on
  std::vector<std::vector<double>>* numbers = nullptr;  ///< in place of which the JSON has indices; null: it has all
};

inline tensor read_tensor(json_view from, std::size_t at, tensor_sources& sources) {
  tensor t;
  json_reader in;
  const std::string where = "inputs[" + std::to_string(at) + "]";
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
  const json_view parameters = from.member("parameters");
  if (parameters.is_object() && parameters.member("binary_data_size").exists()) {
    std::uint64_t size = 0;
    in.read_at(where + ".parameters.binary_data_size", size, parameters.member("binary_data_size"));
    if (size > sources.binary.size())
      refuse_tensor(t.name, "has fewer bytes behind the JSON than its binary_data_size says");
    read_binary(t, sources.binary.substr(0, size), count);
    sources.binary.remove_prefix(size);
    return t;
  }
  const json_view data = from.member("data");
  if (sources.numbers != nullptr && data.exists()) {
    std::size_t index = 0;
    in.read_at(where + ".data", index, data);
    move_numbers(t, std::move(sources.numbers->at(index)));
    if (t.count() != count) refuse_tensor(t.name, "has data that does not fit its shape");
    return t;
  }
  if (!data.is_array())
    throw json_error(
        where + ".data" +
        (data.exists() ? ": expected an array, not " + data.describe() : " is missing: expected an array"));
  const auto read = [&]<class V>(V) { flatten(t.data.emplace<std::vector<V>>(), data, in, t.name, t.datatype); };
  if (t.datatype == "BYTES") {
    read(std::string());
  } else if (t.datatype[0] == 'F') {
    read(double());
  } else if (t.datatype == "UINT64") {
    read(std::uint64_t());
  } else {
    read(std::int64_t());
  }
  if (t.count() != count)
    refuse_tensor(
        t.name, "has " + std::to_string(t.count()) + " elements of data, and its shape needs " + std::to_string(count));
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
  if (const json_view id = root.member("id"); id.exists()) {
    in.read_at("id", request.id, id);
    request.has_id = true;
  }
  request.binary_output = flag(root.member("parameters"), "binary_data_output");
  const json_view inputs = root.member("inputs");
  if (!inputs.is_array())
    throw json_error(inputs.exists() ? "inputs: expected an array, not " + inputs.describe()
                                     : std::string("inputs is missing: expected an array"));
  for (std::size_t i = 0; i < inputs.size(); ++i) request.inputs.push_back(read_tensor(inputs.element(i), i, sources));
  if (const json_view outputs = root.member("outputs"); outputs.is_array()) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::string name;
      const json_view output = outputs.element(i);
      if (!output.is_object())
        throw json_error("outputs[" + std::to_string(i) + "]: expected an object, not " + output.describe());
      in.read_at("outputs[" + std::to_string(i) + "].name", name, output.member("name"));
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
    throw json_error("Inference-Header-Content-Length: expected at most the length of the body, " +
                     std::to_string(body.size()) + ", not " + std::to_string(json_bytes));
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

MANTA_DECL std::size_t check_rows(const infer_request& request, const std::vector<tensor_type>& wanted) {
  if (request.inputs.size() != wanted.size()) {
    throw json_error("inputs: expected " + std::to_string(wanted.size()) + " tensors, not " +
                     std::to_string(request.inputs.size()));
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
  return static_cast<std::size_t>(rows);
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
inline constexpr std::string_view mark("\0MANTA\0\0", 8);

MANTA_DECL std::string write_infer_answer(const infer_request& request, const std::string& model,
                                          const std::vector<tensor>& outputs) {
  std::string text = R"({"model_name":)" + to_json(model) + R"(,"model_version":"1")";
  if (request.has_id) text += R"(,"id":)" + to_json(request.id);
  text += R"(,"outputs":[)";
  std::string binary;
  bool any_binary = false, first = true;
  const auto add = [&](const tensor& t, bool as_binary) {
    text += std::exchange(first, false) ? "" : ",";
    text +=
        R"({"name":)" + to_json(t.name) + R"(,"shape":)" + to_json(t.shape) + R"(,"datatype":")" + t.datatype + R"(",)";
    if (as_binary) {
      any_binary = true;
      const std::size_t before = binary.size();
      append_binary(binary, t);
      text += R"("parameters":{"binary_data_size":)" + std::to_string(binary.size() - before) + "}}";
    } else {
      text += R"("data":)";
      append_data(text, t);
      text += '}';
    }
  };
  if (request.outputs.empty()) {
    for (const tensor& t : outputs) add(t, request.binary_output);
  }
  for (const auto& [name, as_binary] : request.outputs) {
    const tensor* found = nullptr;
    for (const tensor& t : outputs) found = t.name == name ? &t : found;
    if (found == nullptr) throw json_error("outputs: there is no output \"" + name + "\"");
    add(*found, as_binary);
  }
  text += "]}";
  if (!any_binary) return text;
  std::string head(mark);
  const std::uint64_t length = text.size();
  head.append(reinterpret_cast<const char*>(&length), sizeof length);
  return head + text + binary;
}

MANTA_DECL std::size_t split_infer_answer(std::string& answer) {
  if (answer.compare(0, mark.size(), mark) != 0) return std::string::npos;
  const auto length = number_at<std::uint64_t>(std::string_view(answer).substr(mark.size()), 0);
  answer.erase(0, mark.size() + sizeof length);
  return length;
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
