// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <manta/eigen.hpp>

#include <cereal/types/base_class.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "manta/output/json_numbers.hpp"
#include "manta/output/json_reader.hpp"
#include "manta/output/json_schema.hpp"
#include "manta/output/json_writer.hpp"

namespace {
namespace output = manta::output;

enum class colour { red, green };
struct named {
  int x = 0;
  double y = 0;
  std::optional<std::string> label;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(x), CEREAL_NVP(y), CEREAL_NVP(label));
  }
};
struct in_order {
  int a = 0;
  std::string b;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(a) & b;
  }
};
struct derived : named {
  colour shade = colour::red;
  std::vector<in_order> parts;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::base_class<named>(this), CEREAL_NVP(shade), CEREAL_NVP(parts));
  }
};
class apart {  // cereal's two functions
 public:
  int value = 0;
  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_nvp("twice", 2 * value));
  }
  template <class Archive>
  void load(Archive& archive) {
    int twice = 0;
    archive(cereal::make_nvp("twice", twice));
    value = twice / 2;
  }
};

template <class T>
void same(const T& value, const std::string& text) {
  CHECK(output::to_json(value) == text);
  CHECK(output::to_json(output::from_json<T>(text)) == text);
}
template <class T>
std::string complaint(const std::string& text) {
  try {
    output::from_json<T>(text);
  } catch (const output::json_error& e) {
    return e.what();
  }
  return "none";
}
}  // namespace

TEST_CASE("values of the standard library and of Eigen have the obvious forms in JSON, both ways") {
  same(true, "true");
  same(-3, "-3");
  same(std::numeric_limits<std::uint64_t>::max(), "18446744073709551615");
  same(std::numeric_limits<std::int64_t>::min(), "-9223372036854775808");
  same(0.1, "0.1");
  same(0.1f, "0.1");
  same(5e-324, "5e-324");
  same(std::string("a\"\\\n\x01\xc3\xa4\xf0\x9f\x98\x80"), "\"a\\\"\\\\\\n\\u0001\xc3\xa4\xf0\x9f\x98\x80\"");
  same(std::vector<bool>{true, false}, "[true,false]");
  same(std::vector<std::vector<int>>{{1}, {}, {2, 3}}, "[[1],[],[2,3]]");
  same(std::array<int, 2>{1, 2}, "[1,2]");
  same(std::set<int>{3, 1}, "[1,3]");
  same(std::map<std::string, int>{{"b", 2}, {"a", 1}}, R"({"a":1,"b":2})");
  same(std::map<int, bool>{{1, true}}, "[[1,true]]");
  same(std::tuple<int, std::string>(1, "x"), R"([1,"x"])");
  same(std::optional<int>(), "null");
  same(std::optional<int>(4), "4");
  same(std::complex<double>(1, -2), "[1,-2]");
  same(colour::green, "1");
  same(std::variant<int, std::string>("t"), "\"t\"");
  Eigen::MatrixXd m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  same(m, "[[1,2,3],[4,5,6]]");
  same(Eigen::VectorXf(Eigen::Vector3f(1, 2, 3)), "[1,2,3]");
  CHECK(output::from_json<double>("21") == 21);
  CHECK(output::from_json<int>("21.0") == 21);
  CHECK(output::from_json<std::string>(R"("\ud83d\ude00")") == "\xf0\x9f\x98\x80");
}

TEST_CASE("a class has the names that its serialize gives, else its members in order; a base's members are its own") {
  derived d;
  d.x = 1;
  d.y = .5;
  d.shade = colour::green;
  d.parts = {{2, "p"}};
  same(d, R"({"x":1,"y":0.5,"label":null,"shade":1,"parts":[[2,"p"]]})");
  CHECK(output::from_json<derived>(R"({"parts":[],"shade":0,"more":[{}],"y":2,"x":1})").y == 2);
  CHECK(output::from_json<named>("[1,2,\"l\"]").label == "l");
  same(apart(), R"({"twice":0})");
  CHECK(output::from_json<apart>(R"({"twice":8})").value == 4);
}

TEST_CASE("what does not fit is named: the field, what was expected, what came") {
  CHECK(complaint<int>("\"x\"") == "the body: expected an integer from -2147483648 to 2147483647, not the text \"x\"");
  CHECK(complaint<std::uint8_t>("256") == "the body: expected an integer from 0 to 255, not 256");
  CHECK(complaint<std::uint64_t>("-1") == "the body: expected an integer from 0 to 18446744073709551615, not -1");
  for (const char* number : {"18446744073709551616", "1.5", "-2.5"})
    CHECK(complaint<std::uint64_t>(number).starts_with("the body: expected an integer from 0 to 18446744073709551615"));
  CHECK(complaint<std::int64_t>("9223372036854775808").find("not 9223372036854775808") != std::string::npos);
  CHECK(complaint<int>("1.5").find("not 1.5") != std::string::npos);
  CHECK(complaint<float>("1e39") == "the body: expected a number that fits, not 1e+39");
  CHECK(complaint<bool>("1") == "the body: expected true or false, not 1");
  CHECK(complaint<named>(R"({"x":1})") == "y is missing: expected a number");
  CHECK(
      complaint<in_order>(R"({"a":1,"b":"t"})") ==
      "the body: expected an array of the members in their order, not an object: they have no names here, which CEREAL_NVP would give them");
  CHECK(complaint<in_order>("[1]") == "[1] is missing: expected a text");
  CHECK(complaint<std::vector<derived>>(R"([{"x":1,"y":2,"shade":0,"parts":[[1,"a"],[2,3]]}])") ==
        "[0].parts[1][1]: expected a text, not 3");
  CHECK(complaint<std::map<std::string, int>>(R"({"a":null})") ==
        "a: expected an integer from -2147483648 to 2147483647, not null");
  CHECK(complaint<Eigen::MatrixXd>("[[1,2],[3]]") == "[1]: expected an array of 2, not an array of 1");
  using either = std::variant<int, std::string>;
  CHECK(
      complaint<either>("[1]") ==
      "the body: fits none of its 2 types (the body: expected an integer from -2147483648 to 2147483647, not an array "
      "of 1; the body: expected a text, not an array of 1)");
  CHECK(complaint<std::tuple<int, either>>("[1]") == "the body: expected an array of 2, not an array of 1");
  CHECK(complaint<named>("3") == "the body: expected an object, not 3");
  CHECK(complaint<int>("{").starts_with("the body is not JSON: parse error at line 1, column 2"));
  CHECK(complaint<int>(" ") == "the body is empty: expected a value in JSON");
  CHECK(complaint<int>("1 2").starts_with("the body is not JSON"));
  CHECK(complaint<std::string>("\"\xff\"").starts_with("the body is not JSON"));
  CHECK(complaint<double>("1e999").starts_with("the body is not JSON"));
  CHECK(complaint<int>(std::string(65, '[')) == "arrays and objects are nested deeper than 64 levels");
  CHECK(complaint<int>(std::string(1'000'000, '[')) == "arrays and objects are nested deeper than 64 levels");
}

TEST_CASE("an array of plain numbers is read without a document, to the same values; the reader has other texts") {
  const auto agrees = [](const std::string& text) {
    std::vector<double> x;
    std::vector<float> y;
    std::vector<std::uint8_t> z;
    CHECK(output::read_plain_numbers(text, x));
    CHECK(x == output::from_json<std::vector<double>>(text));
    CHECK(output::read_plain_numbers(text, y));
    CHECK(y == output::from_json<std::vector<float>>(text));
    if (output::read_plain_numbers(text, z)) CHECK(z == output::from_json<std::vector<std::uint8_t>>(text));
  };
  for (const char* text :
       {"[]", " [ ] ", "[0]", "[-0, 1,2.5 ,\n-3e2]", "[1E+2,1e-30,0.1,123456789012345,0.00000000000001]",
        "[0.30000000000000004,1234567890.12345678,9007199254740993,255,256]"})
    agrees(text);
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text = "[";
    for (int k = 0; k < 5; ++k) {
      char digits[64];
      const auto bits = static_cast<double>(static_cast<std::int64_t>(random()));
      const double value = std::ldexp(bits, -60 - static_cast<int>(random() % 9));
      std::snprintf(digits, sizeof digits, "%.*g", static_cast<int>(random() % 17 + 1), value);
      text += (k > 0 ? "," : "") + std::string(digits);
    }
    agrees(text + "]");
  }
  Eigen::VectorXf column;
  CHECK(output::read_plain_numbers("[1,2]", column));
  CHECK(column == Eigen::Vector2f(1, 2));
  std::vector<double> x;
  for (const char* text : {"",      "[",      "[1",     "[1,",   "[1,]",    "[,1]",  "[1 2]", "1",     "[01]",
                           "[-]",   "[+1]",   "[.5]",   "[1.]",  "[1e]",    "[1e+]", "[nan]", "[inf]", "[1e999]",
                           "[0x1]", "[true]", "[null]", "[[1]]", "[\"1\"]", "[1]x",  "{}"})
    CHECK(!output::read_plain_numbers(text, x));
  std::vector<std::uint8_t> bytes;
  for (const char* text : {"[256]", "[-1]", "[1.5]"}) CHECK(!output::read_plain_numbers(text, bytes));
  std::vector<float> small;
  CHECK(!output::read_plain_numbers("[1e39]", small));
  std::vector<std::int64_t> wide;
  CHECK(output::read_plain_numbers("[9007199254740991]", wide));
  CHECK(!output::read_plain_numbers("[9007199254740993]", wide));  // no double
  std::vector<std::string> texts;
  CHECK(!output::read_plain_numbers("[]", texts));
}

TEST_CASE("arrays of numbers are taken out of a text, and leave their indices there") {
  output::json_without_numbers out;
  CHECK(output::take_out_numbers(R"({"a":[{"data":[1, [2.5,-3] ],"b":"data"},{"x":[7],"data" : [] }]})", "data", out));
  CHECK(out.text == R"({"a":[{"data":0,"b":"data"},{"x":[7],"data" : 1 }]})");
  REQUIRE(out.arrays.size() == 2);
  CHECK(out.arrays[0].numbers == std::vector<double>{1, 2.5, -3});
  CHECK_FALSE(out.arrays[0].is_even);
  CHECK(out.arrays[1].shape == std::vector<std::size_t>{0});
  CHECK(output::take_out_numbers(R"({"data":[[1,2,3],[4,5,6]]})", "data", out));
  CHECK(out.arrays[0].shape == std::vector<std::size_t>{2, 3});
  CHECK(out.arrays[0].is_even);
  CHECK(output::take_out_numbers(R"({"data":[[1,2,3],[4,5]]})", "data", out));
  CHECK_FALSE(out.arrays[0].is_even);
  for (const std::string& text :
       {std::string(R"({"a":[1]})"), std::string(R"({"data":0})"), std::string(R"({"data":["a"]})"),
        std::string(R"({"data":[1)"), std::string(R"({"data":[1,]})"), std::string(R"({"data":[1e999]})"),
        std::string(R"({"data":[9007199254740993]})"), std::string(R"({"data":[1],"d\u0061ta":0})"),
        std::string(R"({"data":[1],"data)"), "{\"data\":" + std::string(1'000'000, '[')}) {
    CHECK(!output::take_out_numbers(text, "data", out));
  }
}

TEST_CASE("what JSON has no form for is refused, not written as something else") {
  CHECK_THROWS_AS(output::to_json(std::numeric_limits<double>::infinity()), output::json_error);
  CHECK_THROWS_AS(output::to_json(std::numeric_limits<float>::quiet_NaN()), output::json_error);
  CHECK_THROWS_AS(output::to_json(std::string("\xff")), output::json_error);
}

TEST_CASE("the schema of a type says which members it has, and which of them are needed") {
  CHECK(
      output::json_schema<derived>() ==
      R"({"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"number"},"label":{"type":"string"},"shade":{"type":"integer"},)"
      R"("parts":{"type":"array","items":{"type":"array"}}},"required":["x","y","shade","parts"]})");
  CHECK(output::json_schema<std::map<std::string, std::vector<bool>>>() ==
        R"({"type":"object","additionalProperties":{"type":"array","items":{"type":"boolean"}}})");
}
