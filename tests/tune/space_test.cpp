// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values, configurations, domains and spaces.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "manta/tune/config.hpp"
#include "manta/tune/space.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::thrown;

namespace {

enum class optimizer { sgd, adam };
struct settings {
  double lr = 0;
  int hidden = 7;
  bool nesterov = false;
  std::string name = "none";
  int fixed = 3;
  optimizer opt = optimizer::sgd;
  template <class Visitor>
  void describe(Visitor& field) {
    field("lr", lr, tune::loguniform(1e-5, 1));
    field("hidden", hidden, tune::integers(16, 256));
    field("nesterov", nesterov, tune::choice({false, true}));
    field("name", name, tune::choice({"a", "b"}));
    field("fixed", fixed);
    field("opt", opt, tune::choice({0, 1}));
  }
};

}  // namespace

TEST_CASE("values convert to what is asked for, or say why not") {
  CHECK(tune::value(3).as<double>() == 3.0);
  CHECK(tune::value(3.0).as<int>() == 3);
  const tune::value text = "adam";
  const std::string s = text;
  CHECK(s == "adam");
  CHECK(tune::value(3) == tune::value(3.0));
  CHECK(!(tune::value(true) == tune::value(1)));
  CHECK(contains(thrown<tune::error>([&] { (void)text.as<int>(); }), "\"adam\" is not an integer"));
  CHECK(contains(thrown<tune::error>([&] { (void)tune::value(2.5).as<int>(); }), "2.5 is not an integer"));
  CHECK(contains(thrown<tune::error>([&] { (void)tune::value(300).as<std::uint8_t>(); }), "in the range"));
  CHECK(tune::value(0.1).text() == "0.1");
  CHECK(tune::value(1.0).text() == "1.0");
  CHECK(tune::value(std::nan("")).text() == "\"nan\"");
  CHECK(tune::value("a\"b\n").text() == "\"a\\\"b\\u000a\"");
}

TEST_CASE("a configuration is read by name or as the program's own struct") {
  tune::config c = {{"lr", 0.5}, {"hidden", 32}, {"nesterov", true}, {"name", "b"}, {"opt", 1}};
  const double lr = c["lr"];
  CHECK(lr == 0.5);
  CHECK(c.get<int>("hidden") == 32);
  CHECK(c.get_or("momentum", 0.9) == 0.9);
  const auto s = c.as<settings>();
  CHECK(s.lr == 0.5);
  CHECK(s.hidden == 32);
  CHECK(s.nesterov);
  CHECK(s.name == "b");
  CHECK(s.fixed == 3);
  CHECK(s.opt == optimizer::adam);
  CHECK(c.text() == R"({"lr":0.5,"hidden":32,"nesterov":true,"name":"b","opt":1})");
  std::ostringstream shown;
  shown << c;
  CHECK(shown.str() == c.text());
  CHECK(contains(thrown<tune::error>([&] { (void)c["rate"]; }), "has no \"rate\"; it has lr, hidden"));
  c.set("hidden", "many");
  CHECK(contains(thrown<tune::error>([&] { (void)c.as<settings>(); }), "the member \"hidden\""));
}

TEST_CASE("a described struct is a space") {
  const tune::space s = tune::space_of<settings>();
  CHECK(s.parameters().size() == 5U);
  tune::random r(1);
  for (int i = 0; i < 200; ++i) {
    const auto t = s.draw(r).as<settings>();
    CHECK((t.lr >= 1e-5 && t.lr <= 1 && t.hidden >= 16 && t.hidden <= 256));
    CHECK((t.name == "a" || t.name == "b"));
  }
}

TEST_CASE("draws follow their distributions") {
  tune::random r(7);
  const auto mean_and_share = [&](const tune::domain& d, double below) {
    double sum = 0, share = 0;
    for (int i = 0; i < 20'000; ++i) {
      const auto x = d.draw({}, r).as<double>();
      sum += x / 20'000;
      share += x < below ? 1.0 / 20'000 : 0;
    }
    return std::pair(sum, share);
  };
  CHECK(mean_and_share(tune::uniform(2, 4), 2.5).first == doctest::Approx(3).epsilon(0.01));
  CHECK(mean_and_share(tune::loguniform(1e-4, 1), 1e-2).second == doctest::Approx(0.5).epsilon(0.03));
  CHECK(mean_and_share(tune::normal(5, 2), 3).second == doctest::Approx(0.1587).epsilon(0.06));
  CHECK(mean_and_share(tune::lognormal(0, 1), 1).second == doctest::Approx(0.5).epsilon(0.03));
  CHECK(mean_and_share(tune::integers(1, 3), 1.5).second == doctest::Approx(1.0 / 3).epsilon(0.04));
  // of log-integers 1..4: from 0.5 to 4.5, so 1 has log(3) / log(9)
  CHECK(mean_and_share(tune::logintegers(1, 4), 1.5).second == doctest::Approx(0.5).epsilon(0.03));
  std::map<std::string, int> seen;
  for (int i = 0; i < 1000; ++i) ++seen[tune::choice({"x", 2, true}).draw({}, r).text()];
  CHECK(seen.size() == 3U);
  CHECK(seen["true"] > 250);
}

TEST_CASE("quantised domains give multiples within their ends, each with its share") {
  tune::random r(3);
  std::map<double, int> seen;
  for (int i = 0; i < 11'000; ++i) ++seen[std::round(10 * tune::uniform(0, 1).quantised(0.1).draw({}, r).as<double>())];
  CHECK(seen.size() == 11U);
  for (const auto& [x, n] : seen) CHECK(std::abs(n - 1000) < 150);
  for (int i = 0; i < 1000; ++i) {
    const double x = tune::loguniform(3, 100).quantised(4).draw({}, r);
    CHECK((std::fmod(x, 4) == 0 && x >= 3 && x <= 100));
    const double y = tune::normal(0, 3).quantised(0.5).draw({}, r);
    CHECK(std::fmod(y, 0.5) == 0);
  }
}

TEST_CASE("quantised values are written as they are meant") {
  const auto texts = [](const tune::domain& d, int n) {
    std::string all;
    for (int i = 0; i < n; ++i) all += d.at((i + 0.5) / n).text() + " ";
    return all;
  };
  CHECK(texts(tune::uniform(0, 1).quantised(0.1), 11) == "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0 ");
  CHECK(texts(tune::uniform(0.2, 0.8).quantised(0.3), 3) == "0.2 0.5 0.8 ");
  CHECK(texts(tune::uniform(0.05, 0.35).quantised(0.1), 4) == "0.05 0.15 0.25 0.35 ");
  CHECK(texts(tune::uniform(16, 64).quantised(16), 4) == "16 32 48 64 ");
  CHECK(texts(tune::integers(10, 40).quantised(10), 4) == "10 20 30 40 ");
  CHECK(texts(tune::uniform(0.5, 2.5).quantised(1), 3) == "0.5 1.5 2.5 ");
  CHECK(tune::loguniform(1, 1000).quantised(10).at(0.9).text() == "500");
  CHECK(tune::normal(0, 10).quantised(5).at(0.975).text() == "20");
  CHECK(tune::uniform(0, 64).at(0.5).text() == "32.0");
  CHECK(tune::uniform(0, 1).quantised(0.1).nearest(0.34).text() == "0.3");
  CHECK(tune::uniform(0, 1).nearest(7).text() == "1.0");
  CHECK(tune::integers(10, 40).quantised(10).text() == "integers(10, 40).quantised(10)");
  CHECK(tune::integers(1, 8).text() == "integers(1, 8)");
}

TEST_CASE("position is the way back from a value to the unit interval") {
  for (const tune::domain& d :
       {tune::uniform(-5, 10), tune::loguniform(1e-6, 10), tune::normal(3, 2), tune::lognormal(1, 2),
        tune::integers(-3, 12), tune::logintegers(1, 500), tune::uniform(0, 2).quantised(0.25),
        tune::choice({"a", "b", "c"}), tune::grid({1, 2, 4})}) {
    for (int i = 1; i < 40; ++i) {
      const tune::value v = d.at(i / 40.0);
      const double u = d.position(v);
      CHECK((u >= 0 && u <= 1));
      CHECK_MESSAGE(d.at(u) == tune::value(d.at(d.position(d.at(u)))), d.text());
      if (v.is_number() && !d.is_quantised() && d.type() == tune::domain::kind::number) {
        CHECK(u == doctest::Approx(i / 40.0));
      } else {
        CHECK_MESSAGE(d.at(u) == v, d.text());
      }
    }
  }
}

TEST_CASE("the normal quantile inverts the distribution") {
  for (double p : {1e-300, 1e-20, 1e-6, 0.01, 0.02425, 0.3, 0.5}) {
    CHECK(tune::normal_cdf(tune::normal_quantile(p)) == doctest::Approx(p).epsilon(1e-12));
    CHECK(tune::normal_quantile(1 - p) == -tune::normal_quantile(1 - (1 - p)));
  }
  CHECK(tune::normal_quantile(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-14));
}

TEST_CASE("parameters depend on others, and apply under conditions") {
  const tune::space s = {
      {"opt", tune::choice({"sgd", "adam"})},
      {"momentum", tune::uniform(0.8, 0.99).when("opt", "sgd")},
      {"beta", tune::uniform(0.9, 0.999).when("opt", "adam")},
      {"width", tune::integers(1, 8)},
      {"area", tune::depends([](const tune::config& c) { return c.get<int>("width") * c.get<int>("width"); })},
      {"noise",
       tune::depends([](const tune::config& c, tune::random& r) { return c.get<double>("area") + r.uniform(); })},
      {"deep",
       tune::uniform(0, 1).when("opt", "sgd").when([](const tune::config& c) { return c.get<int>("width") > 4; })},
      {"epochs", 10},
  };
  tune::random r(11);
  int sgd = 0, deep = 0;
  for (int i = 0; i < 300; ++i) {
    const tune::config c = s.draw(r);
    const bool is_sgd = c["opt"] == "sgd";
    sgd += is_sgd;
    CHECK(c.contains("momentum") == is_sgd);
    CHECK(c.contains("beta") == !is_sgd);
    const int width = c["width"];
    CHECK(c.get<int>("area") == width * width);
    CHECK((c.get<double>("noise") > width * width && c.get<double>("noise") < width * width + 1));
    CHECK(c.contains("deep") == (is_sgd && width > 4));
    deep += c.contains("deep");
    CHECK(c.get<int>("epochs") == 10);
  }
  CHECK((sgd > 100 && sgd < 200));
  CHECK(deep > 30);
}

TEST_CASE("a space may be defined by running it") {
  const tune::space s([](tune::chooser& choose) {
    const int layers = choose("layers", tune::integers(1, 4));
    for (int i = 0; i < layers; ++i) choose("width" + std::to_string(i), tune::logintegers(8, 256));
    if (layers > 2) choose("dropout", tune::uniform(0, 0.5));
  });
  tune::random r(5);
  for (int i = 0; i < 100; ++i) {
    const tune::config c = s.draw(r);
    const auto layers = c.get<std::size_t>("layers");
    CHECK(c.size() == 1 + layers + (layers > 2 ? 1 : 0));
  }
  const tune::config c = s.complete({{"layers", 2}, {"width1", 99}}, r);
  CHECK(c.size() == 3U);
  CHECK(c.get<int>("width1") == 99);
}

TEST_CASE("mistakes in spaces are named") {
  CHECK(contains(thrown<tune::error>([] { tune::uniform(2, 1); }), "low <= high"));
  CHECK(contains(thrown<tune::error>([] { tune::loguniform(0, 1); }), "0 < low"));
  CHECK(contains(thrown<tune::error>([] { tune::uniform(-1e308, 1e308); }), "that high - low is a finite number"));
  CHECK(contains(thrown<tune::error>([] { tune::lognormal(700, 10); }), "the deviation of the logarithm"));
  CHECK(contains(thrown<tune::error>([] { tune::choice({}); }), "at least one option"));
  CHECK(contains(thrown<tune::error>([] { tune::choice({1, 2}).quantised(1); }), "for numbers"));
  CHECK(contains(thrown<tune::error>([] { tune::space s = {{"a", 1}, {"a", 2}}; }), "two parameters named \"a\""));
  CHECK(contains(thrown<tune::error>([] { tune::choice({"a"}).position("b"); }), "\"b\" is none of the options"));
}

TEST_CASE("what a configuration gives takes part in expressions, and may be a list") {
  const tune::config c{{"x", 4.0}, {"n", 3}, {"opt", "adam"}, {"flag", true}, {"layers", std::vector<int>{64, 32}}};
  CHECK(std::sqrt(c["x"]) == 2);
  CHECK(std::pow(c["x"] - 2, 2) == 4);
  CHECK(1 - c["x"] == -3);
  CHECK(c["x"] * c["n"] == 12);
  CHECK(c["n"] / 2 == 1.5);
  CHECK(c["x"] > 3.5);
  CHECK(3 < c["x"]);
  CHECK(c["n"] == 3);
  CHECK(c["opt"] == "adam");
  CHECK(c["flag"]);
  double rate = 2;
  rate *= c["x"];
  CHECK(rate == 8);
  const int n = c["n"];
  int count = 0;
  for (int k = 0; k < c["n"]; ++k) ++count;
  CHECK(count == n);
  std::string s;
  s = c["opt"];
  CHECK(s == "adam");
  const std::string t = c["opt"];
  CHECK(t == s);
  std::ostringstream out;
  out << c["x"] << ' ' << c["opt"] << ' ' << c["layers"];
  CHECK(out.str() == "4.0 adam [64,32]");
  CHECK(c.get<std::vector<int>>("layers") == std::vector<int>{64, 32});
  const tune::domain d = tune::choice({std::vector<int>{64, 64}, std::vector<int>{128}});
  CHECK_THROWS_AS(c.get<std::vector<int>>("opt"), tune::error);
  CHECK_THROWS_AS((void)std::sqrt(c["opt"]), tune::error);
}

namespace {
struct block {
  int width = 1;
  double rate = 0.5;
  std::string activation = "relu";
  std::vector<int> kernels = {};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(width), CEREAL_NVP(rate), CEREAL_NVP(activation), CEREAL_NVP(kernels));
  }
  bool operator==(const block&) const = default;
};
struct pair_of_numbers {  // members without names, save and load apart
  float a = 0, b = 0;
  template <class Archive>
  void save(Archive& archive) const {
    archive(a, b);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(a, b);
  }
};
struct network {
  block first;
  std::vector<std::string> names;
  void describe(auto& field) {
    field("first", first, tune::choice({block{8}, block{16}}));
    field("names", names, tune::choice({std::vector<std::string>{"a", "b"}, std::vector<std::string>{}}));
  }
};
}  // namespace

TEST_CASE("an option may be an object of the user's own class, which the configuration gives back as it was") {
  const std::vector<block> options = {{8, 0.1, "re\"lu, \xc3\xa9", {3, 5}}, {16, 1e-300, "", {}}, {}};
  const tune::domain d = tune::choice({options[0], options[1], options[2]});
  for (std::size_t i = 0; i < options.size(); ++i) {
    const tune::config c{{"net", d.at((static_cast<double>(i) + 0.5) / 3)},
                         {"fixed", tune::domain(pair_of_numbers{0.1f, 3}).at(0)}};
    const block b = c["net"];
    CHECK(b == options[i]);
    CHECK(c.get<block>("net") == options[i]);
    CHECK(d.option_index(options[i]) == i);
    CHECK(c["net"] == options[i]);
    const pair_of_numbers p = c["fixed"];
    CHECK((p.a == 0.1f && p.b == 3));
  }
  CHECK(tune::value(block{}).as<std::string>() == R"({"width":1,"rate":0.5,"activation":"relu","kernels":[]})");
  CHECK(tune::value(pair_of_numbers{0.1f, 3}).as<std::string>() == "[0.1,3]");
  const auto n = tune::config{{"first", block{16}}, {"names", std::vector<std::string>{"a", "b"}}}.as<network>();
  CHECK((n.first.width == 16 && n.names == std::vector<std::string>{"a", "b"}));
  CHECK(tune::space_of<network>().parameters().size() == 2U);
  CHECK(contains(thrown<tune::error>([] { (void)tune::value(3).as<block>(); }),
                 "the value 3 is not an object of a class"));
  CHECK(
      contains(thrown<tune::error>([] { (void)tune::value(pair_of_numbers{}).as<block>(); }), "activation is missing"));
  CHECK(contains(thrown<tune::error>([] { (void)tune::value(block{1, std::nan("")}); }), "has to have a form in JSON"));
}

TEST_CASE("options are drawn as often as their weights say") {
  const tune::domain where = tune::choice({"x", "y", "z"}).weighted({6, 3, 1});
  tune::random r(7);
  std::map<std::string, int> drawn;
  constexpr int draws = 20'000;
  for (int i = 0; i < draws; ++i) ++drawn[where.draw({}, r).as<std::string>()];
  CHECK(drawn["x"] == doctest::Approx(0.6 * draws).epsilon(0.03));
  CHECK(drawn["y"] == doctest::Approx(0.3 * draws).epsilon(0.05));
  CHECK(drawn["z"] == doctest::Approx(0.1 * draws).epsilon(0.1));
  for (const char* option : {"x", "y", "z"}) CHECK(where.at(where.position(option)) == tune::value(option));
  CHECK(contains(where.text(), ".weighted(0.6, 0.3, 0.1)"));
  CHECK(contains(thrown<manta::error>([] {
                   (void)tune::choice({1, 2}).weighted({1});
                 }),
                 "has 2 options, but 1 weights"));
  CHECK(contains(thrown<manta::error>([] {
                   (void)tune::choice({1, 2}).weighted({1, 0});
                 }),
                 "must be positive numbers"));
  CHECK(contains(thrown<manta::error>([] { (void)tune::uniform(0, 1).weighted({1}); }), "weighted is for choices"));
}
