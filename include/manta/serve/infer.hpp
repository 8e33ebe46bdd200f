// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Requests with tensors: their rows are given to a deployment or to tasks in slices, and the answers make the tensors
// of the result. The whole is one request, however many rows it has.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "manta/serve/call.hpp"
#include "manta/serve/target.hpp"
#include "manta/serve/tensor_rows.hpp"

namespace manta::serve::detail {

template <class R>
class infer_call final : public call {
 public:
  /// `slices`: the answers to the rows, in their order. The version that answers is in the answers.
  infer_call(std::vector<future<answered_rows<R>>> slices, infer_request asked, model_name model,
             std::vector<std::string> outputs)
      : slices_(std::move(slices)), asked_(std::move(asked)), model_(std::move(model)), outputs_(std::move(outputs)) {}
  any_future waits_for() override { return next_ < slices_.size() ? any_future(slices_[next_]) : any_future(); }
  bool step(reply& answer, answer_form) override {
    if (next_ < slices_.size() && ++next_ < slices_.size()) return true;
    std::vector<tensor> results = empty_tensors<R>(asked_.rows, outputs_);
    std::exception_ptr failure;
    for (const auto& slice : slices_) {
      try {
        const answered_rows<R>& answered = slice.get();
        model_.version = std::to_string(answered.version);
        for (const auto& row : answered.rows) append_row<R>(results, row);
      } catch (...) {  // the first one answers for all; the others must not count as failures that nobody looked at
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    std::string binary;
    answer.body = write_infer_answer(asked_, model_, results, binary);
    if (!binary.empty()) {
      answer.type = "application/octet-stream";
      answer.header.emplace_back("Inference-Header-Content-Length", std::to_string(answer.body.size()));
      answer.body += binary;
    }
    return false;
  }
  void abandon() override {
    for (const auto& slice : slices_) cancel(slice);
  }

 private:
  std::vector<future<answered_rows<R>>> slices_;
  infer_request asked_;
  model_name model_;
  std::vector<std::string> outputs_;
  std::size_t next_ = 0;
};

/// The rows of the tensors as arguments of calls.
template <class... P>
std::vector<std::tuple<P...>> read_rows(const infer_request& asked, const std::vector<tensor_type>& inputs) {
  std::vector<std::tuple<P...>> rows(asked.rows);
  std::size_t i = 0;
  const auto column = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
    const tensor& from = asked.tensor_named(inputs[i++].name);
    for (std::size_t row = 0; row < rows.size(); ++row) read_row(std::get<At>(rows[row]), from, row);
  };
  [&]<std::size_t... At>(std::index_sequence<At...>) { (column(std::integral_constant<std::size_t, At>()), ...); }
  (std::index_sequence_for<P...>());
  return rows;
}

}  // namespace manta::serve::detail
