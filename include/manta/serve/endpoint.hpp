// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a server of HTTP knows of a route: how a body becomes a call, and how the call's result becomes an answer. The
// templates here are the thin layer between the types of a deployment and the server, which sees texts and futures
// alone.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "manta/cancel.hpp"
#include "manta/future.hpp"
#include "manta/serve/json.hpp"
#include "manta/serve/tensor.hpp"
#include "manta/signature.hpp"
#include "manta/stream.hpp"

namespace manta::serve {

/// How a route is called.
struct route_options {
  std::string name = {};  ///< of the model in /v2/models/NAME; by default the deployment's, else the path
  std::vector<std::string> inputs =
      {};  ///< names of the parameters, as tensors and in a body that is an object; input0, ..
  std::vector<std::string> outputs = {};  ///< names of the results as tensors; output0, ..
};

namespace detail {

/// A request that is being answered.
class call {
 public:
  virtual ~call() = default;
  /// What has to end before the next step; names nothing if the step need not wait.
  virtual any_future waits_for() = 0;
  /// Appends the answer, or a part of it; false if there are no further parts. Throws what the deployment threw.
  virtual bool step(std::string& answer) = 0;
  /// Nobody waits for the answer any more.
  virtual void abandon() {}
};

/// A route.
struct endpoint {
  std::string path;
  std::string deployment = {};  // its name; empty for others
  route_options options;
  bool streams = false;
  std::size_t parameters = 0;
  std::string input_schema, output_schema;
  std::vector<tensor_type> inputs, outputs;  // empty: the values are no tensors
  /// Throws json_error if the body does not fit.
  std::function<std::unique_ptr<call>(std::string_view body)> start;
  /// One call for each row; null if the values are no tensors.
  std::function<std::unique_ptr<call>(infer_request)> infer;
  /// The deployment's own status, as JSON; may be null.
  std::function<std::string()> status;
};

template <class T>
class unary_call : public call {
 public:
  explicit unary_call(future<T> result) : result_(std::move(result)) {}
  any_future waits_for() override { return result_; }
  bool step(std::string& answer) override {
    if constexpr (std::is_void_v<T>) {
      result_.get();
      answer += "null";
    } else {
      answer += to_json(result_.get());
    }
    return false;
  }
  void abandon() override { cancel(result_); }

 private:
  future<T> result_;
};

class done_call : public call {
 public:
  explicit done_call(std::string answer) : answer_(std::move(answer)) {}
  any_future waits_for() override { return {}; }
  bool step(std::string& answer) override {
    answer += answer_;
    return false;
  }

 private:
  std::string answer_;
};

template <class T>
class stream_call : public call {
 public:
  explicit stream_call(stream<T> values) : values_(std::move(values)) {}
  any_future waits_for() override { return values_.upcoming(); }
  bool step(std::string& answer) override {
    std::optional<future<T>> next = values_.next();
    if (!next) return false;
    answer += to_json(next->get());
    return true;
  }

 private:
  stream<T> values_;
};

template <class T>
class infer_call : public call {
 public:
  infer_call(std::vector<future<T>> rows, infer_request request, const endpoint& at)
      : rows_(std::move(rows)), request_(std::move(request)), at_(&at) {}
  /// Asks no future whether it is ready: that would give tasks a turn, and split what is just being read into small
  /// batches.
  any_future waits_for() override { return next_ < rows_.size() ? any_future(rows_[next_]) : any_future(); }
  bool step(std::string& answer) override {
    if (next_ < rows_.size()) ++next_;
    if (next_ < rows_.size()) return true;
    std::vector<tensor> results = empty_tensors<T>(rows_.size(), at_->options.outputs);
    std::exception_ptr failure;
    for (const future<T>& row : rows_) {
      try {
        append_row(results, row.get());
      } catch (...) {  // the first one answers for all; the others must not count as failures that nobody looked at
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    answer += write_infer_answer(request_, at_->options.name, results);
    return false;
  }
  void abandon() override {
    for (const future<T>& row : rows_) cancel(row);
  }

 private:
  std::vector<future<T>> rows_;
  infer_request request_;
  const endpoint* at_;
  std::size_t next_ = 0;
};

/// The arguments of a call in a body: one is the body itself, several are an array in their order, or an object.
template <class... P>
std::tuple<P...> read_arguments(std::string_view body, const std::vector<std::string>& names) {
  std::tuple<P...> arguments{};
  if constexpr (sizeof...(P) > 0) {
    if constexpr (sizeof...(P) == 1) {
      if (read_plain_numbers(body, std::get<0>(arguments))) return arguments;
    }
    const json_document document(body);
    json_reader in;
    if constexpr (sizeof...(P) == 1) {
      in.read(std::get<0>(arguments), document.root());
    } else if (document.root().is_object()) {
      std::size_t i = 0;
      const auto one = [&](auto& value) {
        in.read_at(names[i], value, document.root().member(names[i]));
        ++i;
      };
      std::apply([&](auto&... value) { (one(value), ...); }, arguments);
    } else {
      in.read(arguments, document.root());
    }
  }
  return arguments;
}

template <class R>
std::unique_ptr<call> call_for(R&& result) {
  using V = std::remove_cvref_t<R>;
  if constexpr (manta::detail::is_future<V>) {
    return std::make_unique<unary_call<typename V::value_type>>(std::forward<R>(result));
  } else if constexpr (requires { result.upcoming(); }) {
    return std::make_unique<stream_call<typename V::value_type>>(std::forward<R>(result));
  } else {
    return std::make_unique<done_call>(to_json(result));
  }
}

template <class T>
struct answer_type {
  using type = T;
};
template <class T>
struct answer_type<future<T>> {
  using type = T;
};
template <class T>
struct answer_type<stream<T>> {
  using type = T;
};

/// `f` takes the parameters and gives a future, a stream or a value.
template <class F, class... P>
endpoint make_endpoint(std::string path, F f, route_options options) {
  using result = std::invoke_result_t<F&, P...>;
  using answer = typename answer_type<std::remove_cvref_t<result>>::type;
  endpoint e;
  e.path = std::move(path);
  e.options = std::move(options);
  e.parameters = sizeof...(P);
  for (std::size_t i = e.options.inputs.size(); i < sizeof...(P); ++i)
    e.options.inputs.push_back("input" + std::to_string(i));
  e.streams = requires(std::remove_cvref_t<result> r) { r.upcoming(); };
  if constexpr (sizeof...(P) == 1) {
    e.input_schema = (json_schema<P>() + ...);
  } else {
    std::string members, all;
    std::size_t i = 0;
    ((members += (i == 0 ? "" : ",") + to_json(e.options.inputs[i]) + ":" + json_schema<P>(),
      all += (i == 0 ? "" : ",") + to_json(e.options.inputs[i]), ++i),
     ...);
    if (sizeof...(P) > 0)
      e.input_schema = R"({"type":"object","properties":{)" + members + R"(},"required":[)" + all + "]}";
  }
  e.output_schema = json_schema<answer>();
  const std::vector<std::string> names = e.options.inputs;
  e.start = [f, names](std::string_view body) mutable {
    return call_for(std::apply(f, read_arguments<P...>(body, names)));
  };
  if constexpr (sizeof...(P) > 0 && (is_tensor<P> && ...) && !std::is_void_v<answer> &&
                manta::detail::is_future<result>) {
    if constexpr (are_tensors<answer>) {
      for (std::size_t i = e.options.outputs.size(); i < tensor_count<answer>; ++i)
        e.options.outputs.push_back("output" + std::to_string(i));
      std::size_t i = 0;
      (e.inputs.push_back(tensor_type_of<P>(e.options.inputs[i++])), ...);
      e.outputs = tensor_types<answer>(e.options.outputs);
    }
  }
  return e;
}

/// Sets what calls one row after the other; `e` has to stay where it is.
template <class F, class... P>
void add_infer(endpoint& e, F f) {
  using result = std::remove_cvref_t<std::invoke_result_t<F&, P...>>;
  if constexpr (sizeof...(P) > 0 && manta::detail::is_future<result>) {
    if (e.inputs.empty()) return;
    using answer = typename answer_type<result>::type;
    if constexpr ((is_tensor<P> && ...) && are_tensors<answer>) {
      e.infer = [f, at = &e](infer_request request) mutable -> std::unique_ptr<call> {
        const std::size_t rows = check_rows(request, at->inputs);
        std::vector<future<answer>> results;
        for (std::size_t row = 0; row < rows; ++row) {
          std::tuple<P...> arguments{};
          std::size_t i = 0;
          const auto one = [&](auto& value) {
            read_row(value, request.tensor_named(at->inputs[i].name), row);
            ++i;
          };
          std::apply([&](auto&... value) { (one(value), ...); }, arguments);
          results.push_back(std::apply(f, std::move(arguments)));
        }
        request.inputs.clear();
        return std::make_unique<infer_call<answer>>(std::move(results), std::move(request), *at);
      };
    }
  }
}

}  // namespace detail
}  // namespace manta::serve
