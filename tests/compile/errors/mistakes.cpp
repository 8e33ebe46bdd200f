// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Mistakes that users make, one section each; errors.py compiles each section alone and looks for the sentence that
// expectations.txt has for it. Without a section this is the same program without the mistakes, and must compile.
#include <manta/manta.hpp>

#include <cstdio>
#include <string>
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

struct counter {
  explicit counter(int start) : value(start) {}
  int add(int amount) { return value += amount; }
  int value;
};

struct clock_face {
  int hour() const { return 12; }
};

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
#endif
}

}  // namespace

int main(int argc, char** argv) { return manta::run(argc, argv, driver); }
