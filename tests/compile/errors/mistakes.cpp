// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Mistakes that users make, one section each; errors.py compiles each section alone and looks for the sentence that
// expectations.txt has for it. Without a section this is the same program without the mistakes, and must compile.
#include <manta/manta.hpp>
#ifdef mistake_ref_to_write_to
#include <manta/eigen.hpp>
#endif
#ifdef mistake_deployed_class
#include <manta/serve.hpp>
#endif
#ifdef mistake_deployed_with_a_misspelt_option
#include <manta/serve.hpp>
#endif
#ifdef mistake_route_with_a_misspelt_option
#include <manta/serve/http.hpp>
#endif
#ifdef mistake_update_with_a_misspelt_option
#include <manta/serve.hpp>
#endif
#ifdef mistake_deployed_without_options
#include <manta/serve.hpp>
#endif
#ifdef mistake_batched_single_requests
#include <manta/serve.hpp>
#endif
#ifdef mistake_map_without_names
#include <manta/rl/multi.hpp>
#endif

#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
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
  static int zero() { return 0; }
  int value;
};
struct shape {
  virtual ~shape() = default;
  virtual double area() const = 0;
};

struct clock_face {
  int hour() const { return 12; }
};
struct hidden_clock : private clock_face {};

[[maybe_unused]] void increment(int& x) { ++x; }

[[maybe_unused]] int twice(int x) { return 2 * x; }
[[maybe_unused]] double twice(double x) { return 2 * x; }
template <class T>
T thrice(T x) {
  return 3 * x;
}
struct doubler {
  int operator()(int x) const { return 2 * x; }
  double operator()(double x) const { return 2 * x; }
};

/// A rank cannot make one to read the numbers into.
struct point {
  explicit point(double a) : x(a) {}
  double x;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(x);
  }
};
struct segment {
  point from, to;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(from, to);
  }
};
[[maybe_unused]] double norm(const point& p) { return p.x; }
[[maybe_unused]] point left(point a, const point&) { return a; }

/// Its default constructor is for cereal alone.
class closed {
 public:
  explicit closed(int v) : value_(v) {}
  int value() const { return value_; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value_);
  }

 private:
  friend class cereal::access;
  closed() = default;
  int value_ = 0;
};

[[maybe_unused]] void driver() {
#if defined(mistake_capture_by_value)
  int factor = 2;
  std::cout << manta::async([factor](int x) { return factor * x; }, 3).get() << "\n";
#elif defined(mistake_capture_by_reference)
  int sum = 0;
  manta::async([&sum](int x) { sum += x; }, 3);
#elif defined(mistake_unserialisable_argument)
  std::cout << manta::async([](const log_file& f) { return f.path; }, log_file()).get() << "\n";
#elif defined(mistake_unserialisable_nested_argument)
  std::cout << manta::async([](const std::vector<log_file>& f) { return f.size(); }, std::vector<log_file>()).get()
            << "\n";
#elif defined(mistake_unserialisable_result)
  std::cout << manta::async([] { return log_file(); }).get().path << "\n";
#elif defined(mistake_unserialisable_nested_result)
  std::cout << manta::async([] { return std::vector<log_file>(); }).get().size() << "\n";
#elif defined(mistake_unserialisable_constructor_argument)
  struct logger {
    explicit logger(const log_file&) {}
  };
  manta::spawn<logger>(log_file());
#elif defined(mistake_unserialisable_nested_constructor_argument)
  struct logger {
    explicit logger(const std::vector<log_file>&) {}
  };
  manta::spawn<logger>(std::vector<log_file>());
#elif defined(mistake_unserialisable_method_argument)
  struct logger {
    int take(const log_file&) { return 0; }
  };
  std::cout << manta::async<&logger::take>(manta::spawn<logger>(), log_file()).get() << "\n";
#elif defined(mistake_unserialisable_put)
  manta::put(log_file());
#elif defined(mistake_reference_parameter)
  int x = 1;
  manta::async<increment>(x);
#elif defined(mistake_reference_parameter_of_lambda)
  int x = 1;
  manta::async([](int& y) { ++y; }, x);
#elif defined(mistake_reference_parameter_of_method)
  struct storage {
    void fill(std::vector<double>& values) { values.push_back(1); }
  };
  std::vector<double> values;
  manta::async<&storage::fill>(manta::spawn<storage>(), values);
#elif defined(mistake_rvalue_reference_parameter)
  std::cout << manta::async([](std::string&& s) { return s.size(); }, std::string("text")).get() << "\n";
#elif defined(mistake_pointer_parameter)
  double values[] = {1, 2, 3};
  std::cout << manta::async([](const double* v) { return *v; }, values).get() << "\n";
#elif defined(mistake_team_not_first)
  std::cout << manta::async([](int n, manta::team team) { return n + team.rank(); }, 1).get() << "\n";
#elif defined(mistake_too_many_arguments)
  std::cout << manta::async<square>(1, 2).get() << "\n";
#elif defined(mistake_too_many_method_arguments)
  std::cout << manta::async<&counter::add>(manta::spawn<counter>(0), 1, 2).get() << "\n";
#elif defined(mistake_too_few_arguments)
  std::cout << manta::async<square>().get() << "\n";
#elif defined(mistake_argument_not_convertible)
  std::cout << manta::async<square>(std::string("three")).get() << "\n";
#elif defined(mistake_future_of_wrong_type)
  manta::future<std::string> text = manta::async<name>();
  std::cout << manta::async<square>(text).get() << "\n";
#elif defined(mistake_futures_of_wrong_type)
  std::vector<manta::future<std::string>> texts = {manta::async<name>()};
  std::cout << manta::async<mean>(texts).get() << "\n";
#elif defined(mistake_method_of_another_class)
  std::cout << manta::async<&clock_face::hour>(manta::spawn<counter>(0)).get() << "\n";
#elif defined(mistake_generator_of_pointers)
  manta::async([](int x) -> manta::generator<int*> { co_yield &x; }, 3);
#elif defined(mistake_generator_of_references)
  manta::async([](int x) -> manta::generator<int&> { co_yield x; }, 3);
#elif defined(mistake_generator_that_awaits)
  manta::async([](manta::future<int> f) -> manta::generator<int> { co_await f; }, manta::async<square>(3));
#elif defined(mistake_generator_of_unserialisable_values)
  manta::async([]() -> manta::generator<log_file> { co_yield log_file(); });
#elif defined(mistake_generator_method)
  struct counting {
    manta::generator<int> count() { co_yield 1; }
  };
  manta::async<&counting::count>(manta::spawn<counting>());
#elif defined(mistake_generator_with_reference_to_view)
  manta::async([](const std::span<const int>& view) -> manta::generator<int> { co_yield view.front(); },
               std::vector<int>{1});
#elif defined(mistake_promise_as_argument)
  manta::async([](manta::promise<int> p) { p.set_value(1); }, manta::promise<int>());
#elif defined(mistake_queue_of_unserialisable_values)
  manta::queue<log_file> q(1);
#elif defined(mistake_data_member)
  std::cout << manta::async<&counter::value>(manta::spawn<counter>(0)).get() << "\n";
#elif defined(mistake_method_without_actor)
  counter c(0);
  std::cout << manta::async<&counter::add>(c, 1).get() << "\n";
#elif defined(mistake_options_without_actor)
  counter c(0);
  std::cout << manta::async<&counter::add>({.retries = 1}, c, 1).get() << "\n";
#elif defined(mistake_string_view_parameter)
  std::cout << manta::async([](std::string_view text) { return text.size(); }, "text").get() << "\n";
#elif defined(mistake_span_to_write_to)
  manta::async([](std::span<int> view) { view[0] = 1; }, std::vector<int>{1});
#elif defined(mistake_ref_to_write_to)
  manta::async([](Eigen::Ref<Eigen::MatrixXd> view) { view(0, 0) = 1; }, Eigen::MatrixXd(1, 1));
#elif defined(mistake_move_only_lvalue)
  auto numbers = manta::async([](int x) -> manta::generator<int> { co_yield x; }, 3);
  std::cout << manta::async([](manta::stream<int> s) { return s.next()->get(); }, numbers).get() << "\n";
#elif defined(mistake_printed_future)
  std::cout << manta::async<square>(3) << "\n";
#elif defined(mistake_static_method)
  std::cout << manta::async<&counter::zero>(manta::spawn<counter>(0)).get() << "\n";
#elif defined(mistake_abstract_actor)
  manta::spawn<shape>();
#elif defined(mistake_map_of_a_lambda)
  manta::map(std::vector<int>{1, 2}, [](int x) { return x; });
#elif defined(mistake_get_of_values)
  manta::get(std::vector<int>{1, 2});
#elif defined(mistake_wait_for_one)
  auto [ready, pending] = manta::wait(manta::async<square>(3));
#elif defined(mistake_wait_for_a_number)
  auto [ready, pending] = manta::wait(std::vector{manta::async<square>(3)}, 1);
#elif defined(mistake_spawn_or_find_by_name)
  manta::spawn_or_find<counter>("counter", 0);
#elif defined(mistake_put_of_move_only_lvalue)
  auto numbers = manta::async([](int x) -> manta::generator<int> { co_yield x; }, 3);
  manta::put(numbers);
#elif defined(mistake_team_by_reference)
  std::cout << manta::async(
                   {.ranks = 1}, [](manta::team& team, int n) { return n + team.rank(); }, 1)
                   .get()
            << "\n";
#elif defined(mistake_method_of_private_base)
  std::cout << manta::async<&clock_face::hour>(manta::spawn<hidden_clock>()).get() << "\n";
#elif defined(mistake_as_completed_of_one)
  for (auto& f : manta::as_completed(manta::async<square>(3))) f.wait();
#elif defined(mistake_map_of_a_number)
  manta::map<square>(3);
#elif defined(mistake_map_of_a_wrong_type)
  manta::map<square>(std::vector<std::string>{"three"});
#elif defined(mistake_reduce_by_one_argument)
  manta::reduce<square>(manta::map<square>(std::vector<int>{1, 2}));
#elif defined(mistake_reduce_by_another_type)
  manta::reduce<difference>(manta::map<square>(std::vector<int>{1, 2}));
#elif defined(mistake_for_each_with_two_arguments)
  manta::for_each<difference>(std::vector<int>{1, 2});
#elif defined(mistake_unpack_of_a_number)
  manta::unpack(manta::async<square>(3));
#elif defined(mistake_driver_with_arguments)
  int count = 0;
  manta::run(count, nullptr, [](int x) { return x; });
#elif defined(mistake_driver_that_returns_text)
  int count = 0;
  manta::run(count, nullptr, [] { return std::string("text"); });
#elif defined(mistake_function_as_argument)
  std::cout << manta::async(difference, 3, 4).get() << "\n";
#elif defined(mistake_function_pointer_as_argument)
  const auto f = &difference;
  const double d = manta::async(f, 3, 4).get() + 1;
  std::cout << d << "\n";
#elif defined(mistake_generic_lambda)
  std::cout << manta::async([](auto x) { return 2 * x; }, manta::async<square>(3)).get() << "\n";
#elif defined(mistake_overloaded_call_operator)
  std::cout << manta::async(doubler(), 3.5).get() << "\n";
#elif defined(mistake_overloaded_function)
  std::cout << manta::async<twice>(3).get() << "\n";
#elif defined(mistake_overloaded_function_as_argument)
  std::cout << manta::async(twice, 3).get() << "\n";
#elif defined(mistake_overloaded_function_of_map)
  std::cout << manta::map<twice>(std::vector<int>{1, 2}).size() << "\n";
#elif defined(mistake_function_template)
  std::cout << manta::async<thrice>(3).get() << "\n";
#elif defined(mistake_no_default_constructor)
  std::cout << manta::async<norm>(point(1)).get() << "\n";
#elif defined(mistake_no_default_constructor_of_result)
  std::cout << manta::async([](double x) { return point(x); }, 3.5).get().x << "\n";
#elif defined(mistake_no_default_constructor_of_member)
  std::cout << manta::async([](const segment& s) { return s.to.x; }, segment{point(1), point(2)}).get() << "\n";
#elif defined(mistake_no_default_constructor_of_element)
  std::cout << manta::async([](const std::vector<std::pair<int, point>>& v) { return v.size(); },
                            std::vector<std::pair<int, point>>())
                   .get()
            << "\n";
#elif defined(mistake_no_default_constructor_put)
  std::cout << manta::put(point(1)).get().x << "\n";
#elif defined(mistake_no_default_constructor_in_reduce)
  std::cout << manta::reduce<left>(std::vector<point>{point(1), point(2)}).get().x << "\n";
#elif defined(mistake_pointer_that_owns)
  std::cout << manta::async([](std::unique_ptr<double> p) { return *p; }, std::make_unique<double>(3.0)).get() << "\n";
#elif defined(mistake_pointers_that_own)
  std::cout << manta::async([](std::vector<std::unique_ptr<double>> p) { return p.size(); },
                            std::vector<std::unique_ptr<double>>())
                   .get()
            << "\n";
#elif defined(mistake_mutex_as_argument)
  std::mutex m;
  manta::async([](const std::mutex&) {}, m).get();
#elif defined(mistake_pointer_that_owns_as_result)
  std::cout << *manta::async([] { return std::make_unique<double>(3.0); }).get() << "\n";
#elif defined(mistake_method_of_temporary)
  std::cout << manta::async<&counter::add>(counter(3), 4).get() << "\n";
#elif defined(mistake_pointer_result)
  std::cout << *manta::async([](int x) -> const int* { return x == 0 ? nullptr : new int(x); }, 3).get() << "\n";
#elif defined(mistake_reduce_of_a_number)
  std::cout << manta::reduce<[](int a, int b) { return a + b; }>(3).get() << "\n";
#elif defined(mistake_reduce_of_values_by_another_type)
  std::cout << manta::reduce<[](std::string a, const std::string&) { return a; }>(std::vector<int>{1, 2}).get() << "\n";
#elif defined(mistake_driver_that_returns_a_number)
  int count = 0;
  manta::run(count, nullptr, [] { return 2.5; });
#elif defined(mistake_driver_that_returns_bool)
  int count = 0;
  manta::run(count, nullptr, [] { return true; });
#elif defined(mistake_deployed_class)
  manta::serve::deploy<counter>({.name = "counter"}, 3);
#elif defined(mistake_deployed_with_a_misspelt_option)
  manta::serve::deploy<&counter::add>({.name = "counter", .replica = 2}, 3);
#elif defined(mistake_route_with_a_misspelt_option)
  manta::serve::http({.port = 0}).route<square>("/double", {.input = {"x"}});
#elif defined(mistake_update_with_a_misspelt_option)
  manta::serve::deployment<int(int)>().update({.weigth = 0.1}, 3);
#elif defined(mistake_deployed_without_options)
  manta::serve::deploy<&counter::add>("model.bin");
#elif defined(mistake_batched_single_requests)
  auto d = manta::serve::deploy<manta::serve::batched<&counter::add>>({.name = "counter"}, 3);
  d(1).get();
#elif defined(mistake_map_without_names)
  struct by_seat {
    int operator()(int seat, std::uint64_t) const { return seat; }
  };
  const manta::rl::own_policy_map map = manta::own<by_seat>();
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
  manta::async(
      {.ranks = 1}, [](manta::team team, int n) { return n + team.rank(); }, 1);
  manta::stream<int> s = manta::async([](int x) -> manta::generator<int> { co_yield x; }, nine);
  manta::stream<int> t =
      manta::async([](std::span<const int> view) -> manta::generator<int> { co_yield view[0]; }, std::vector<int>{1});
  manta::queue<std::string> q(1);
  manta::promise<void> p;
  manta::map<square>(manta::map<square>(std::vector<int>{1, 2}));
  manta::get(std::vector<manta::future<int>>{nine});
  manta::as_completed(means);
  manta::reduce<[](int a, int b) { return a + b; }>(std::vector<int>{1, 2});
  manta::async([](const closed& x) { return x.value(); }, closed(3));
  manta::async<static_cast<int (*)(int)>(twice)>(3);
#endif
}

}  // namespace

int main(int argc, char** argv) { return manta::run(argc, argv, driver); }
