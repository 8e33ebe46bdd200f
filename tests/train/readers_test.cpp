// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "manta/error.hpp"
#include "manta/train/readers.hpp"
#include "support/text.hpp"

namespace train = manta::train;
using manta::testing::thrown;

namespace {

std::string bytes(std::initializer_list<int> numbers) {
  std::string text;
  for (const int n : numbers) text += static_cast<char>(n);
  return text;
}

train::batch<float> all(const train::samples& data) {
  std::vector<std::uint64_t> which(data.size());
  for (std::size_t i = 0; i < which.size(); ++i) which[i] = i;
  train::batch<float> b;
  data.take(which, b);
  return b;
}

// Two pictures of 1 x 3, and their classes.
const std::string pictures = bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 51, 255, 102, 153, 204});
const std::string labels = bytes({0, 0, 8, 1, 0, 0, 0, 2, 7, 4});

}  // namespace

TEST_CASE("IDX files are read, scaled, and cut where wanted") {
  const auto b = all(train::read_idx({"p", pictures}, {"l", labels}, {.mean = {.2F}, .deviation = {.5F}}));
  CHECK(b.labels == std::vector<int>{7, 4});
  REQUIRE(b.x.rows() == 3);
  CHECK(b.x(0, 0) == doctest::Approx(-.4));
  CHECK(b.x(1, 0) == doctest::Approx(0));
  CHECK(b.x(2, 0) == doctest::Approx(1.6));
  CHECK(b.x(0, 1) == doctest::Approx(.4));
  CHECK(train::read_idx({"p", pictures}, {"l", labels}, {.most = 1}).size() == 1);
}

TEST_CASE("pairs have a class where the second is an integer, and outputs where it has a fraction") {
  const auto classes = all(train::samples(std::vector<std::pair<std::vector<float>, int>>{{{1, 2}, 4}, {{3, 4}, 5}}));
  CHECK(classes.labels == std::vector<int>{4, 5});
  CHECK(classes.x(0, 1) == 3);
  const auto values =
      all(train::samples(std::vector<std::pair<Eigen::VectorXd, double>>{{Eigen::VectorXd::Ones(3), 1.75}}));
  CHECK_FALSE(values.has_labels);
  CHECK(values.y(0, 0) == 1.75f);
  CHECK(values.x.rows() == 3);
  const auto lists = all(train::samples(std::vector<std::pair<std::vector<float>, std::vector<float>>>{{{1}, {2, 3}}}));
  CHECK(lists.y(1, 0) == 3);
  const Eigen::VectorXi labels = Eigen::VectorXi::Constant(4, 2);
  CHECK(all(train::samples(Eigen::MatrixXd(Eigen::MatrixXd::Ones(2, 4)), labels)).labels == std::vector<int>(4, 2));
}

TEST_CASE("parts of matrices and other expressions are samples") {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Random(2, 6);
  const Eigen::VectorXi classes = Eigen::VectorXi::LinSpaced(6, 0, 5);
  const auto first = all(train::samples(x.leftCols(4), classes.head(4)));
  CHECK(first.x == x.leftCols(4));
  CHECK(first.labels == std::vector<int>{0, 1, 2, 3});
  CHECK(all(train::samples(x, (classes.array() + 1).matrix())).labels.back() == 6);
  CHECK(all(train::samples(2 * x, std::vector<int>(6, 1))).x == 2 * x);
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = x.cast<double>();
  const auto values = all(train::samples(rows, rows.row(1)));
  CHECK_FALSE(values.has_labels);
  CHECK(values.x == x);
  CHECK(values.y == x.row(1));
}

TEST_CASE("damaged IDX files are one line with file, offset, expected and found") {
  const auto read = [](const std::string& p, const std::string& l) {
    return thrown<manta::error>([&] { train::read_idx({"p", p}, {"l", l}); });
  };
  const std::string begin = "manta: train: the file p, ";
  CHECK(thrown<manta::error>([] { train::file("no-such-file"); }) ==
        "manta: train: cannot read the file no-such-file: No such file or directory");
  CHECK(read("ab", labels) == begin + "byte 2: expected a header of 4 bytes, found the end of the file");
  CHECK(read(pictures.substr(0, 9), labels) ==
        begin + "byte 9: expected a header of 16 bytes, found the end of the file");
  CHECK(read(pictures.substr(0, 20), labels) == begin + "byte 20: expected 22 bytes in all, found 20");
  CHECK(read(pictures + "x", labels) == begin + "byte 22: expected 22 bytes in all, found 23");
  CHECK(read(bytes({0, 0, 13, 1, 0, 0, 0, 0}), labels).find("expected the type 8, unsigned bytes, found the type 13") !=
        std::string::npos);
  CHECK(read(bytes({0x1f, 0x8b, 8, 0}), labels).find("gunzip(path)") != std::string::npos);
  CHECK(read(bytes({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}), labels)
            .find("an extent that fits a file") != std::string::npos);
  CHECK(read(pictures, bytes({0, 0, 8, 1, 0, 0, 0, 1, 7})).find("expected 2 labels, as many as") != std::string::npos);
}

TEST_CASE("CIFAR-10's records are read from several files, each channel with its mean") {
  std::string first(3073, '\0'), second(2 * 3073, '\0');
  first[0] = 9;
  first[1 + 2 * 1024] = '\xff';  // blue, the first pixel
  second[3073] = 3;
  const std::vector<train::file> parts{{"a", first}, {"b", second}};
  const auto b = all(train::read_cifar10(parts, {.mean = {0, 0, .5F}, .deviation = {1, 1, .25F}}));
  CHECK(b.labels == std::vector<int>{9, 0, 3});
  CHECK(b.x.rows() == 3072);
  CHECK(b.x(0, 0) == 0);
  CHECK(b.x(2048, 0) == doctest::Approx(2));
  CHECK(b.x(2048, 1) == doctest::Approx(-2));
  CHECK(thrown<manta::error>([&] { train::read_cifar10({train::file("c", second + "xy")}); }) ==
        "manta: train: the file c, byte 6146: expected records of 3073 bytes, found 2 bytes and the end of the file");
  second[3073] = 10;
  CHECK(thrown<manta::error>([&] { train::read_cifar10({train::file("c", second)}); }) ==
        "manta: train: the file c, byte 3073: expected a class from 0 to 9, found 10");
  CHECK(thrown<manta::error>([&] {
          train::read_cifar10(parts, {.mean = {0, 1}});
        }).find(".mean has 2 numbers") != std::string::npos);
}

TEST_CASE("tables are read with classes, words or numbers as targets") {
  const train::file table("t.csv", "width,species,length\r\n1,\"b, the second\",2\n\n+3.5,a,-4e1\n");
  const auto b = all(train::read_csv(table, {.target = "species"}));
  CHECK(b.labels == std::vector<int>{1, 0});
  CHECK(b.x.rows() == 2);
  CHECK(b.x(0, 1) == 3.5F);
  CHECK(b.x(1, 1) == -40);
  const auto plain = all(train::read_csv({"t", "1;2;0\n3;4;1\n"}, {.header = false, .separator = ';'}));
  CHECK(plain.labels == std::vector<int>{0, 1});
  const auto curve = all(train::read_csv({"t", "x,y\n1,2.5\n"}, {.classes = false}));
  CHECK(!curve.has_labels);
  CHECK(curve.y(0, 0) == 2.5F);

  const auto complaint = [](const std::string& text, const train::csv_options& o = {}) {
    return thrown<manta::error>([&] { train::read_csv({"t", text}, o); });
  };
  const std::string begin = "manta: train: the file t, ";
  CHECK(complaint("x,y\n1,2\n1,2,3\n") == begin + "line 3: expected 2 fields, found 3");
  CHECK(complaint("x,y\none,2\n") == begin + "line 2, column 1: expected a number, found \"one\"");
  CHECK(complaint("x,y\n1,\"2\n") == begin + "line 2: expected a closing quote, found the end of the line");
  CHECK(complaint("x,y\n") == begin + "byte 4: expected a line with numbers, found the end of the file");
  CHECK(complaint("x,y\n1,2\n", {.target = "z"}) == begin + "line 1: expected a column \"z\", found the columns x, y");
  CHECK(complaint("x,y\n1,2\n1,-0.5\n") ==
        begin + "line 3: expected a class, or .classes = false for numbers as targets, found \"-0.5\"");
  CHECK(all(train::read_csv({"t", "x,y\n1,1.0\n1,-1.0\n"})).labels == std::vector<int>{1, 0});
  CHECK(complaint("x,y\n1,two\n", {.classes = false}) == begin + "line 2: expected a number as target, found \"two\"");
}
