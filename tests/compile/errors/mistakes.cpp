// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Mistakes that users make, one section each; errors.py compiles each section alone and looks for the sentence that
// expectations.txt has for it. Without a section this is the same program without the mistakes, and must compile.
#include <manta/manta.hpp>
#ifdef ref_to_write_to
#include <manta/eigen.hpp>
#endif

#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// An open file cannot be sent, and nothing here says how it could.
struct log_file {
  log_file() = default;
  log_file(const log_file& other) : path(other.path) {}
  log_file& operator=(const log_file&) = delete;
  std::FILE* handle = nullptr;
  std::string path;
};

int square(int x) { return x * x; }
double mean(const std::vector<double>& values) { return values.empty() ? 0 : values.front(); }
std::string name() { return "manta"; }
[[maybe_unused]] double difference(int x, int y) { return x - y; }

struct counter {
  explicit counter(int start) : value(start) {}
  int add(int amount) { return value += amount; }
  int value;
};

struct clock_face {
  int hour() const { return 12; }
};
struct hidden_clock : private clock_face {};

[[maybe_unused]] void increment(int& x) { ++x; }

[[maybe_unused]] void driver() {
#if defined(capture_by_value)
  int factor = 2;
  manta::async([factor](int x) { return factor * x; }, 3);
#elif defined(capture_by_reference)
  int sum = 0;
  manta::async([&sum](int x) { sum += x; }, 3);
#elif defined(unserialisable_argument)
  manta::async([](const log_file& f) { return f.path; }, log_file());
#elif defined(unserialisable_nested_argument)
  manta::async([](const std::vector<log_file>& f) { return f.size(); }, std::vector<log_file>());
#elif defined(unserialisable_result)
  manta::async([] { return log_file(); });
#elif defined(unserialisable_nested_result)
  manta::async([] { return std::vector<log_file>(); });
#elif defined(unserialisable_constructor_argument)
  struct logger {
    explicit logger(const log_file&) {}
  };
  manta::spawn<logger>(log_file());
#elif defined(unserialisable_nested_constructor_argument)
  struct logger {
    explicit logger(const std::vector<log_file>&) {}
  };
  manta::spawn<logger>(std::vector<log_file>());
#elif defined(unserialisable_method_argument)
  struct logger {
    int take(const log_file&) { return 0; }
  };
  manta::async<&logger::take>(manta::spawn<logger>(), log_file());
#elif defined(unserialisable_put)
  manta::put(log_file());
#elif defined(reference_parameter)
  int x = 1;
  manta::async<increment>(x);
#elif defined(reference_parameter_of_lambda)
  int x = 1;
  manta::async([](int& y) { ++y; }, x);
#elif defined(reference_parameter_of_method)
  struct storage {
    void fill(std::vector<double>& values) { values.push_back(1); }
  };
  std::vector<double> values;
  manta::async<&storage::fill>(manta::spawn<storage>(), values);
#elif defined(rvalue_reference_parameter)
  manta::async([](std::string&& s) { return s.size(); }, std::string("text"));
#elif defined(pointer_parameter)
  double values[] = {1, 2, 3};
  manta::async([](const double* v) { return *v; }, values);
#elif defined(team_not_first)
  manta::async([](int n, manta::team team) { return n + team.rank(); }, 1);
#elif defined(too_many_arguments)
  manta::async<square>(1, 2);
#elif defined(too_many_method_arguments)
  manta::async<&counter::add>(manta::spawn<counter>(0), 1, 2);
#elif defined(too_few_arguments)
  manta::async<square>();
#elif defined(argument_not_convertible)
  manta::async<square>(std::string("three"));
#elif defined(future_of_wrong_type)
  manta::future<std::string> text = manta::async<name>();
  manta::async<square>(text);
#elif defined(futures_of_wrong_type)
  std::vector<manta::future<std::string>> texts = {manta::async<name>()};
  manta::async<mean>(texts);
#elif defined(method_of_another_class)
  manta::async<&clock_face::hour>(manta::spawn<counter>(0));
#elif defined(generator_of_pointers)
  manta::async([](int x) -> manta::generator<int*> { co_yield &x; }, 3);
#elif defined(generator_of_references)
  manta::async([](int x) -> manta::generator<int&> { co_yield x; }, 3);
#elif defined(generator_that_awaits)
  manta::async([](manta::future<int> f) -> manta::generator<int> { co_await f; }, manta::async<square>(3));
#elif defined(generator_of_unserialisable_values)
  manta::async([]() -> manta::generator<log_file> { co_yield log_file(); });
#elif defined(generator_method)
  struct counting {
    manta::generator<int> count() { co_yield 1; }
  };
  manta::async<&counting::count>(manta::spawn<counting>());
#elif defined(generator_with_reference_to_view)
  manta::async([](const std::span<const int>& view) -> manta::generator<int> { co_yield view.front(); }, std::vector<int>{1});
#elif defined(promise_as_argument)
  manta::async([](manta::promise<int> p) { p.set_value(1); }, manta::promise<int>());
#elif defined(queue_of_unserialisable_values)
  manta::queue<log_file> q(1);
#elif defined(data_member)
  manta::async<&counter::value>(manta::spawn<counter>(0));
#elif defined(method_without_actor)
  counter c(0);
  manta::async<&counter::add>(c, 1);
#elif defined(method_with_options)
  manta::async<&counter::add>({.retries = 1}, manta::spawn<counter>(0), 1);
#elif defined(string_view_parameter)
  manta::async([](std::string_view text) { return text.size(); }, "text");
#elif defined(span_to_write_to)
  manta::async([](std::span<int> view) { view[0] = 1; }, std::vector<int>{1});
#elif defined(ref_to_write_to)
  manta::async([](Eigen::Ref<Eigen::MatrixXd> view) { view(0, 0) = 1; }, Eigen::MatrixXd(1, 1));
#elif defined(move_only_lvalue)
  auto numbers = manta::async([](int x) -> manta::generator<int> { co_yield x; }, 3);
  manta::async([](manta::stream<int> s) { return s.next()->get(); }, numbers);
#elif defined(get_of_values)
  manta::get(std::vector<int>{1, 2});
#elif defined(wait_for_one)
  auto [ready, pending] = manta::wait(manta::async<square>(3));
#elif defined(wait_for_a_number)
  auto [ready, pending] = manta::wait(std::vector{manta::async<square>(3)}, 1);
#elif defined(spawn_or_find_by_name)
  manta::spawn_or_find<counter>("counter", 0);
#elif defined(put_of_move_only_lvalue)
  auto numbers = manta::async([](int x) -> manta::generator<int> { co_yield x; }, 3);
  manta::put(numbers);
#elif defined(team_by_reference)
  manta::async({.ranks = 1}, [](manta::team& team, int n) { return n + team.rank(); }, 1);
#elif defined(method_of_private_base)
  manta::async<&clock_face::hour>(manta::spawn<hidden_clock>());
#elif defined(as_completed_of_one)
  for (auto& f : manta::as_completed(manta::async<square>(3))) f.wait();
#elif defined(map_of_a_number)
  manta::map<square>(3);
#elif defined(map_of_a_wrong_type)
  manta::map<square>(std::vector<std::string>{"three"});
#elif defined(reduce_by_one_argument)
  manta::reduce<square>(manta::map<square>(std::vector<int>{1, 2}));
#elif defined(reduce_by_another_type)
  manta::reduce<difference>(manta::map<square>(std::vector<int>{1, 2}));
#elif defined(for_each_with_two_arguments)
  manta::for_each<difference>(std::vector<int>{1, 2});
#elif defined(unpack_of_a_number)
  manta::unpack(manta::async<square>(3));
#elif defined(driver_with_arguments)
  int count = 0;
  manta::run(count, nullptr, [](int x) { return x; });
#elif defined(driver_that_returns_text)
  int count = 0;
  manta::run(count, nullptr, [] { return std::string("text"); });
#else
  int factor = 2;
  manta::async([](int f, int x) { return f * x; }, factor, 3);
  manta::async([](const std::string& path) { return path.size(); }, log_file().path);
  manta::async([](std::string s) { return s.size(); }, "text");
  manta::future<int> nine = manta::async<square>(3);
  manta::async<square>(nine);
  std::vector<manta::future<double>> means = {manta::async<mean>(std::vector<double>{1, 2, 3})};
  manta::async<mean>(means);
  manta::actor<counter> c = manta::spawn<counter>(0);
  manta::async<&counter::add>(c, nine);
  manta::async<&clock_face::hour>(manta::spawn<clock_face>());
  manta::put(std::vector<double>{1, 2, 3});
  manta::async<name>();
  manta::async({.ranks = 1}, [](manta::team team, int n) { return n + team.rank(); }, 1);
  manta::stream<int> s = manta::async([](int x) -> manta::generator<int> { co_yield x; }, nine);
  manta::stream<int> t = manta::async([](std::span<const int> view) -> manta::generator<int> { co_yield view[0]; }, std::vector<int>{1});
  manta::queue<std::string> q(1);
  manta::promise<void> p;
  manta::map<square>(manta::map<square>(std::vector<int>{1, 2}));
  manta::get(std::vector<manta::future<int>>{nine});
  manta::as_completed(means);
#endif
}

}  // namespace

int main(int argc, char** argv) { return manta::run(argc, argv, driver); }
