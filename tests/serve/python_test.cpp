// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <utility>

#include "manta/serve/python.hpp"
#include "support/python.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::has_python;
using manta::testing::in_world;
using manta::testing::thrown;
namespace serve = manta::serve;

namespace {

std::string model() {
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  return manta::testing::folder_beside(__FILE__, "python") + "/model.py";
}

struct point {
  double x = 0, y = 0;
  std::string label;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(x), CEREAL_NVP(y), CEREAL_NVP(label));
  }
};

}  // namespace

TEST_CASE("a model in Python answers batches of NumPy arrays, also of several shapes") {
  if (!has_python()) return;
  in_world([] {
    auto d = serve::python(model(), {.replicas = 2, .max_batch = 8});
    CHECK(d.name() == "model");
    std::vector<manta::future<std::vector<float>>> answers;
    std::vector<std::vector<float>> expected;
    for (int i = 0; i < 40; ++i) {
      std::vector<float> x(static_cast<std::size_t>(1 + i % 3), 0.25f * static_cast<float>(i));
      answers.push_back(d(x));
      for (float& v : x) v *= 2;
      expected.push_back(x);
    }
    for (std::size_t i = 0; i < 40; ++i) CHECK(answers[i].get() == expected[i]);
    CHECK(d.status().batches < 40);
  });
}

TEST_CASE("values of Python may be several arrays, texts, and classes with a form in JSON") {
  if (!has_python()) return;
  in_world([] {
    using both = std::pair<int, double>;
    auto sums = serve::python<both(std::vector<double>)>(model(), {.name = "sums"}, {.function = "sizes_and_sums"});
    CHECK(sums({1, 2, 4}).get() == both(3, 7));
    auto upper = serve::python<std::string(std::string)>(model(), {.name = "upper"}, {.function = "upper"});
    CHECK(upper("größe").get() == "GRÖSSE");
    auto join = serve::python<point(point)>(model(), {.name = "join"}, {.function = "join"});
    const point p = join(point{1, 2, ""}).get();
    CHECK(p.x == 2);
    CHECK(p.y == 1);
    CHECK(p.label == "1 in a batch");
    auto scale = serve::python(model(), {.name = "scale"}, {.function = "scale", .arguments = R"({"factor": 3})"});
    CHECK(scale({2.f}).get() == std::vector<float>{6});
    scale.reconfigure(R"({"factor": 5})");
    CHECK(scale({2.f}).get() == std::vector<float>{10});
    scale.check();  // two calls are too many for this model: a new replica, with the new settings
    CHECK(scale({1.f}).get() == std::vector<float>{5});
  });
}

TEST_CASE("exceptions, crashes and hangs of Python are errors, and the deployment goes on") {
  if (!has_python()) return;
  in_world([] {
    auto d = serve::python(model(), {.name = "m"}, {.timeout = 2});
    const auto says = [&](std::vector<float> x) { return thrown<std::exception>([&] { d(x).get(); }); };
    const auto works = [&] { return d({4.f}).get() == std::vector<float>{8}; };
    CHECK(contains(says({-1}), "Python says ValueError: no luck with [-1.0]"));
    CHECK(works());
    CHECK(contains(says({-4}), "for a batch of 1, arrays of the shapes [1]; its answers need the shapes [1,-1]"));
    CHECK(contains(says({-4, 1}), "returned an array of shape (2,)"));
    CHECK(contains(says({-2}), "was ended by signal Killed. It printed last: last words of the model"));
    CHECK(works());
    CHECK(contains(says({-3}), "has answered nothing within its time"));
    CHECK(works());
    CHECK(contains(thrown<std::exception>([] { serve::python(model(), {}, {.function = "nothing"}); }),
                   "has no attribute 'nothing'"));
    CHECK(contains(thrown<std::exception>([] { serve::python("/no/model.py"); }), "No such file"));
    auto twice = serve::python<std::string(std::string)>(model(), {.name = "u"}, {.function = "sizes_and_sums"});
    CHECK(contains(thrown<std::exception>([&] { twice("x").get(); }), "Python says"));
  });
}
