// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: a model written in Python as a deployment. Each replica has a Python process beside its rank; batches go to
// it over a channel of bytes.
//
//   auto digits = serve::python("model.py", {.name = "digits", .max_batch = 32});      // model.py has predict(x)
//   std::vector<float> y = digits({0.5f, 1.5f}).get();
//   auto upper = serve::python<std::string(std::string)>("upper.py", {.name = "upper"});
//
// Where requests are tensors (numbers, texts, or arrays of them: serve/tensor.hpp), predict gets a NumPy array whose
// first dimension is the batch; other requests are read from their JSON, and predict gets a list. It returns an array
// or a list with an answer for each request, and for a std::tuple or std::pair as many arrays.
//
// `healthy()` and `reconfigure(value)` of the file, or of its class Model, are called by deployment::check and
// deployment::reconfigure(text), where the text is JSON. An exception of Python's fails the batch. A crash or a hang
// does too, with the last words of the process; the replica counts as dead then, is replaced by one with a new process,
// and where the deployment is idempotent that one gets the requests. Python with NumPy has to be there on each rank
// with a replica: python3, or the interpreter that $MANTA_PYTHON names.
#pragma once

#include <cereal/types/string.hpp>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/process.hpp"
#include "manta/serve/deployment.hpp"
#include "manta/serve/json.hpp"
#include "manta/serve/tensor_rows.hpp"

namespace manta::serve {

struct python_options {
  std::string function = "predict";  ///< a function of the file, else a method of its class `Model`
  std::string arguments = "{}";      ///< keyword arguments of Model's constructor, as a JSON object
  double timeout = 60;               ///< seconds after which a batch counts as hanging
  double start_timeout = 300;        ///< seconds for imports and for the constructor

  template <class Archive>
  void serialize(Archive& archive) {
    archive(function, arguments, timeout, start_timeout);
  }
};

namespace detail {

/// The Python process of a replica, and the messages to it.
class python_program_with_model {
 public:
  /// Starts it and waits until the file is read. Throws manta::error with what Python says.
  MANTA_DECL python_program_with_model(const std::string& file, const python_options& options);

  /// The answers to a batch, as inputs of these types.
  [[nodiscard]] MANTA_DECL infer_request predict(const tensor& batch, const std::vector<tensor_type>& answers);
  /// The answers to a batch in JSON, a list with a value for each request.
  [[nodiscard]] MANTA_DECL std::string predict(std::string_view batch);
  /// Calls reconfigure(value) with what the JSON text says.
  MANTA_DECL void reconfigure(const std::string& json);
  /// Calls healthy(), if there is one.
  [[nodiscard]] MANTA_DECL bool healthy();

 private:
  std::string ask(const std::string& request, double seconds);

  process python_;
  std::string file_;
  double timeout_;
};

/// Appends the rows of one tensor to another of the same shape.
MANTA_DECL void append_rows(tensor& to, const tensor& rows);

template <class Signature>
class python_model;

/// A batched model whose methods are Python's.
template <class R, class A>
class python_model<R(A)> {
 public:
  python_model(const std::string& file, const python_options& options) : program_(file, options) {}

  std::vector<R> predict(const std::vector<A>& batch) {
    if constexpr (is_tensor<A> && are_tensors<R>) {
      return predict_tensors(batch);
    } else {
      return from_json<std::vector<R>>(program_.predict(to_json(batch)), "the model's answer");
    }
  }
  [[nodiscard]] bool healthy() const { return program_.healthy(); }
  void reconfigure(const std::string& json) { program_.reconfigure(json); }

 private:
  /// Requests of different shapes make batches of their own.
  std::vector<R> predict_tensors(const std::vector<A>& batch) {
    std::map<std::vector<std::int64_t>, std::pair<tensor, std::vector<std::size_t>>> groups;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      tensor row = empty_tensor<A>(1, "x");
      append_to(row, batch[i]);
      auto [at, is_new] = groups.try_emplace(row.shape);
      is_new ? void(at->second.first = std::move(row)) : append_rows(at->second.first, row);
      at->second.second.push_back(i);
    }
    std::vector<R> answers(batch.size());
    for (const auto& [shape, group] : groups) {
      const infer_request given = program_.predict(group.first, tensor_types<R>(names()));
      for (std::size_t row = 0; row < group.second.size(); ++row) answers[group.second[row]] = answer_in(given, row);
    }
    return answers;
  }
  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < tensor_count<R>; ++i) all.push_back(base::text("y{}", i));
    return all;
  }
  static R answer_in(const infer_request& given, std::size_t row) {
    R answer{};
    if constexpr (is_tensor<R>) {
      read_row(answer, given.inputs[0], row);
    } else {
      std::size_t i = 0;
      std::apply([&](auto&... value) { (read_row(value, given.inputs[i++], row), ...); }, answer);
    }
    return answer;
  }

  mutable python_program_with_model program_;
};

template <class Signature>
struct one_parameter : std::false_type {};
template <class R, class A>
struct one_parameter<R(A)> : std::bool_constant<!std::is_void_v<R>> {};

}  // namespace detail

/// A deployment of the model in the Python file `file`, whose path is seen from each rank with a replica. The name is
/// the file's, without folder and ending, unless the options say otherwise. Throws manta::error if Python cannot read
/// it. Prediction blocks the rank of its replica, so give the replicas ranks of their own.
template <class Signature = std::vector<float>(std::vector<float>)>
deployment<Signature> python(const std::string& file, const options& o = {}, const python_options& p = {}) {
  static_assert(detail::one_parameter<Signature>::value,
                "manta: serve::python<R(A)> takes a signature with one parameter and a result; put several values into "
                "a std::tuple or a class");
  options all = o;
  if (all.name.empty()) all.name = std::filesystem::path(file).stem();
  return deploy<batched<&detail::python_model<Signature>::predict>>(all, file, p);
}

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/python.ipp"
#endif
