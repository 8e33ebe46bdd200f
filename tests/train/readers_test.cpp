// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/train/csv_rows.hpp"
#include "manta/train/picture_folder.hpp"
#include "manta/train/readers.hpp"
#include "support/text.hpp"

namespace nn = manta::nn;
namespace train = manta::train;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::text_of;
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
  CHECK(complaint("x,y\n1,\"2\n") == begin + "line 2: expected a closing quote, found the end of the file");
  CHECK(complaint("x,y\n") == begin + "byte 4: expected a line with numbers, found the end of the file");
  CHECK(complaint("x,y\n1,2\n", {.target = "z"}) == begin + "line 1: expected a column \"z\", found the columns x, y");
  CHECK(complaint("x,y\n1,2\n1,-0.5\n") ==
        begin + "line 3: expected a class, or .classes = false for numbers as targets, found \"-0.5\"");
  CHECK(complaint("x,y\n1,two\n", {.classes = false}) == begin + "line 2: expected a number as target, found \"two\"");
}

TEST_CASE("classes are whole numbers in whatever form they are written") {
  const auto classes = [](const std::string& targets) {
    std::string table = "x,c\n";
    for (const char c : targets) table += c == ' ' ? "\n" : (table.back() == '\n' ? "1," : "") + std::string(1, c);
    return all(train::read_csv({"t", table + "\n"})).labels;
  };
  CHECK(classes("0.0 1.0 2.0 10.0 11.0 3.0") == std::vector<int>{0, 1, 2, 10, 11, 3});
  CHECK(classes("1e1 +2 007 3. 0") == std::vector<int>{10, 2, 7, 3, 0});
  // Negative ones are numbered by their value, and the words say so.
  CHECK(classes("1.0 -1.0 1 -1") == std::vector<int>{1, 0, 1, 0});
  const auto signs = train::read_csv({"t", "x,c\n1,1\n2,-1\n3,0\n"}).columns();
  CHECK(signs.classes == std::vector<std::string>{"-1", "0", "1"});
  CHECK(train::read_csv({"t", "x,c\n1,2\n"}).columns().classes.empty());
  const auto refused = [](const std::string& table) {
    return thrown<manta::error>([&] { train::read_csv({"t", "x,c\n" + table}); });
  };
  CHECK(refused("1,0\n2,\n3,1\n") == "manta: train: the file t, line 3, column 2: expected a class, found \"\"");
  CHECK(contains(refused("1,0\n2,NA\n"), "line 3, column 2: expected a class, found \"NA\""));
  CHECK(contains(refused("1,0\n2,3e9\n"), "line 3: expected a class, or .classes = false"));
}

TEST_CASE("words are numbered once for several tables, by a list or as another table was read") {
  const train::file first("a", "x,c\n1,cat\n2,dog\n3,fox\n"), second("b", "x,c\n1,dog\n2,fox\n");
  const train::samples training = train::read_csv(first);
  CHECK(training.columns().classes == std::vector<std::string>{"cat", "dog", "fox"});
  CHECK(training.part(1, 3).columns().word_of(2) == "fox");
  CHECK(training.columns().class_of("dog") == 1);
  CHECK(thrown<manta::error>([&] { (void)training.columns().class_of("cow"); }) ==
        "manta: train: there is no class \"cow\"; the classes are cat, dog, fox");
  CHECK(thrown<manta::error>([&] { (void)training.columns().word_of(3); }) ==
        "manta: train: there is no word for the class 3; there are 3 words");
  for (const train::csv_options& o :
       {train::csv_options{.classes = {"cat", "dog", "fox"}}, train::csv_options{.classes = training.columns().classes},
        train::csv_options{.like = training.columns()}}) {
    const train::samples validation = train::read_csv(second, o);
    CHECK(all(validation).labels == std::vector<int>{1, 2});
    CHECK(validation.columns().classes == training.columns().classes);
    CHECK(thrown<manta::error>([&] {
            train::read_csv({"c", "x,c\n1,dog\n2,cow\n"}, o);
          }) == "manta: train: the file c, line 3: expected one of the classes cat, dog, fox, found \"cow\"");
  }
  CHECK(all(train::read_csv(second, {.classes = {"fox", "dog"}})).labels == std::vector<int>{1, 0});
  CHECK(all(train::read_csv({"t", "x,c\n1,2.0\n1,4\n"}, {.classes = {"4", "2"}})).labels == std::vector<int>{1, 0});
}

TEST_CASE("columns are chosen by name, gaps are filled, and numbers are normalised by statistics that are kept") {
  const train::file table("t", "id,height,kind,weight\na7,1,1,10\nb9,,0,30\nc3,3,1,NaN\n");
  const auto two = all(train::read_csv(table, {.target = "kind", .inputs = {"weight", "height"}, .fill = -1}));
  CHECK(two.labels == std::vector<int>{1, 0, 1});
  CHECK(two.x == (Eigen::MatrixXf(2, 3) << 10, 30, -1, 1, -1, 3).finished());
  const auto rest = train::read_csv(table, {.target = "kind", .leave_out = {"id"}, .fill = 2});
  CHECK(rest.columns().inputs == std::vector<std::string>{"height", "weight"});
  CHECK(all(rest).x == (Eigen::MatrixXf(2, 3) << 1, 2, 3, 10, 30, 2).finished());

  // What is missing does not count in the statistics.
  const auto scaled = train::read_csv(table, {.target = "kind", .leave_out = {"id"}, .fill = 2, .normalise = true});
  const train::columns c = scaled.columns();
  CHECK(c.mean == std::vector<float>{2, 20});
  CHECK(c.deviation == std::vector<float>{1, 10});
  CHECK(all(scaled).x(0, 0) == -1);
  CHECK(all(scaled).x(0, 1) == 0);
  CHECK(all(scaled).x(1, 2) == doctest::Approx(-1.8));
  const train::file other("u", "weight,kind,height\n20,1,5\n");  // in another order
  const auto like = all(train::read_csv(other, {.target = "kind", .like = c}));
  CHECK(like.x(0, 0) == 3);
  CHECK(like.x(1, 0) == 0);
  std::vector<float> one{5, 20};
  c.normalise(std::span(one));
  CHECK(one == std::vector<float>{3, 0});
  CHECK(contains(thrown<manta::error>([&] { c.normalise(std::span(one).first(1)); }), "a sample of 1 numbers"));
  const auto flat = train::read_csv({"t", "x,y,c\n1,5,0\n3,5,1\n"}, {.normalise = true}).columns();
  CHECK(flat.deviation[1] == 1);

  const auto refused = [&](const train::csv_options& o) {
    return thrown<manta::error>([&] { train::read_csv(table, o); });
  };
  const std::string begin = "manta: train: the file t, ";
  CHECK(refused({.target = "kind", .leave_out = {"id"}}) ==
        begin + "line 3, column 2: expected a number, or .fill for what is missing, found \"\"");
  CHECK(refused({.target = "kind"}) == begin + "line 2, column 1: expected a number, found \"a7\"");
  CHECK(refused({.inputs = {"length"}}) ==
        begin + "line 1: expected a column \"length\", found the columns id, height, kind, weight");
  CHECK(refused({.target = "kind", .inputs = {"kind"}}) ==
        begin + "line 1: expected inputs without the target, found the target \"kind\" among them");
  CHECK(contains(refused({.header = false, .inputs = {"kind"}}), ".header = false says that they have no names"));
}

TEST_CASE("tables as other programs write them are read") {
  const auto numbers = all(train::read_csv({"t", "\xef\xbb\xbfx,y,c\r\n1e-50,-1e-400,0\r\n 2 ,\"3\",1\r\n"}));
  CHECK(numbers.x == (Eigen::MatrixXf(2, 2) << 0, 2, 0, 3).finished());
  const auto named = train::read_csv({"t", "\xef\xbb\xbf\"first\nname\",c\n1,\"a \"\"b\"\"\nc\"\n"});
  CHECK(named.columns().inputs == std::vector<std::string>{"first\nname"});
  CHECK(named.columns().classes == std::vector<std::string>{"a \"b\"\nc"});
  CHECK(all(train::read_csv({"t", "x,c\r1,0\r2,1\r"})).labels == std::vector<int>{0, 1});
  const auto refused = [](const std::string& table) {
    return thrown<manta::error>([&] { train::read_csv({"t", table}); });
  };
  CHECK(
      contains(refused("x,c\n1e50,0\n"), "line 2, column 1: expected a number that a float can have, found \"1e50\""));
  CHECK(contains(refused("x,c\ninf,0\n"), "expected a number that a float can have, found \"inf\""));
  CHECK(contains(refused("x,c\n1,\"a\nb\"\n3,c\n4,\n"), "line 5, column 2"));  // lines are those of an editor
}

TEST_CASE("rows are those that Python's csv module reads") {
  const folder dir;
  std::ofstream(dir.path + "/fuzz.py") << R"(
import csv, random
random.seed(7)
for i in range(200):
    end, kind = random.choice(['\n', '\r\n', '\r']), random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    pieces = ['a', '7', ',', '"', '\n', '\r', ';', 'ü', 'x y', '']
    text = lambda: ''.join(random.choice(pieces) for _ in range(random.randrange(6)))
    with open(f'{i}.csv', 'w', newline='') as f:
        w = csv.writer(f, lineterminator=end, quoting=kind)
        for row in range(random.randrange(6)):
            w.writerow([text() for _ in range(random.randrange(1, 5))])
            if random.random() < .2: f.write(end)
    with open(f'{i}.csv', newline='') as f:
        rows = [r for r in csv.reader(f) if r]
    with open(f'{i}.txt', 'wb') as f:
        for r in rows:
            f.write(b'%d\n' % len(r))
            for field in r: f.write(b'%d %s\n' % (len(field.encode()), field.encode()))
)";
  REQUIRE(std::system(("cd " + dir.path + " && python3 fuzz.py").c_str()) == 0);
  std::size_t fields = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string begin = dir.path + "/" + std::to_string(i);
    const train::file table(begin + ".csv");
    train::detail::csv_rows rows(table, ',');
    train::detail::csv_row row;
    std::string read;
    while (rows.next(row)) {
      read += std::to_string(row.fields.size()) + "\n";
      for (const std::string& field : row.fields) read += std::to_string(field.size()) + " " + field + "\n";
      fields += row.fields.size();
    }
    CHECK(read == text_of(begin + ".txt"));
  }
  CHECK(fields > 500);
}

TEST_CASE("pictures in Keras' order are turned, and samples know the extents of a picture") {
  // One picture of 1 x 2 pixels with 3 channels.
  const std::string x = bytes({0, 0, 8, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 51, 102, 153, 204, 255}),
                    y = bytes({0, 0, 8, 1, 0, 0, 0, 1, 7});
  const train::samples turned = train::read_idx({"x", x}, {"y", y}, {.layout = train::nhwc});
  CHECK(turned.extents() == nn::shape{3, 1, 2});
  const std::vector<float> expected{0, .6F, .2F, .8F, .4F, 1};
  for (int i = 0; i < 6; ++i) CHECK(all(turned).x(i, 0) == doctest::Approx(expected[static_cast<std::size_t>(i)]));
  const train::samples plain = train::read_idx({"x", x}, {"y", y});
  CHECK(plain.extents() == nn::shape{1, 2, 3});
  CHECK(all(plain).x(1, 0) == doctest::Approx(.2));
  CHECK(train::read_idx({"p", pictures}, {"l", labels}).extents() == nn::shape{1, 3});
}

TEST_CASE("classes of other types are classes, and copies and parts of samples are the same numbers") {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Random(2, 4);
  CHECK(all(train::samples(x, std::vector<long>{3, 1, 0, 2})).labels == std::vector<int>{3, 1, 0, 2});
  CHECK(all(train::samples(x, std::vector<unsigned char>{3, 1, 0, 2})).labels == std::vector<int>{3, 1, 0, 2});
  CHECK(contains(thrown<manta::error>([&] {
                   train::samples(x, std::vector<long>{1L << 40, 0, 0, 0});
                 }),
                 "1099511627776 is no class"));
  CHECK(contains(thrown<manta::error>([&] { train::samples(x, std::vector<int>{1}); }),
                 "there are 4 samples and 1 classes"));
  const train::samples whole(x, Eigen::MatrixXf(2 * x)), half = whole.part(1, 2), quarter = half.part(0, 2);
  CHECK(half.size() == 2);
  CHECK(all(half).x == x.rightCols(2));
  CHECK(all(quarter).y == 2 * x.col(2));
  // As one array of bytes, which workers share.
  std::vector<unsigned char> shared(half.write_shared(nullptr));
  half.write_shared(shared.data());
  const auto again = all(train::samples::share(shared, nullptr));
  CHECK(again.x == x.rightCols(2));
  CHECK(again.y == 2 * x.rightCols(2));
  CHECK_FALSE(again.has_labels);
}

TEST_CASE("a matrix of classes has one for each position of a sample, in parts and copies too") {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Random(2, 4);
  Eigen::MatrixXi tags(3, 4);
  tags << 0, 1, 2, 3, 4, 5, 6, 7, -1, -1, 8, 9;
  const train::samples whole(x, tags);
  CHECK(whole.size() == 4);
  CHECK(all(whole).labels == std::vector<int>{0, 4, -1, 1, 5, -1, 2, 6, 8, 3, 7, 9});
  const train::samples half = whole.part(1, 2), chosen = whole.chosen(std::vector<std::uint64_t>{2, 0});
  CHECK(std::ranges::equal(half.labels(), std::vector<int>{2, 6, 8, 3, 7, 9}));
  CHECK(all(chosen).labels == std::vector<int>{2, 6, 8, 0, 4, -1});
  CHECK(all(train::samples(x.leftCols(2), tags.leftCols(2))).labels == std::vector<int>{0, 4, -1, 1, 5, -1});
  CHECK(all(train::samples(x, tags.row(1).transpose().cast<long>())).labels == std::vector<int>{4, 5, 6, 7});
  CHECK(all(train::samples(x, Eigen::MatrixXi(tags.row(1).transpose()))).labels == std::vector<int>{4, 5, 6, 7});
  std::vector<unsigned char> shared(half.write_shared(nullptr));
  half.write_shared(shared.data());
  CHECK(all(train::samples::share(shared, nullptr)).labels == std::vector<int>{2, 6, 8, 3, 7, 9});
  std::stringstream bytes;
  cereal::BinaryOutputArchive{bytes}(half);
  train::samples read;
  cereal::BinaryInputArchive{bytes}(read);
  CHECK(all(read).labels == all(half).labels);
  CHECK(contains(thrown<manta::error>([&] { train::samples(x, Eigen::MatrixXi(tags.leftCols(3))); }),
                 "there are 4 samples and 3 columns of classes"));
}

namespace {

/// Pictures as text: height and width, then a character for each number.
struct text_pictures {
  static constexpr const char* ending = ".txt";
  static train::picture read(const std::string& path, int channels) {
    std::ifstream in(path);
    train::picture p{0, 0, channels, {}};
    if (!(in >> p.height >> p.width)) throw manta::error(path + " is no picture");
    for (char c = 0; in >> c;) p.bytes.push_back(static_cast<unsigned char>(c));
    return p;
  }
};

}  // namespace

TEST_CASE("pictures in folders have the classes of their folders, and a reader of the program's own") {
  const manta::testing::folder place;
  const auto write = [&](const std::string& name, const std::string& text) {
    const std::string path = place.path + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  };
  write("dog/b.txt", "1 2 abcd");  // two pixels of two channels
  write("dog/A.TXT", "1 2 efgh");
  write("cat/x.txt", "1 2 ijkl");
  write("cat/notes.md", "no picture");
  write("cat/deeper/y.txt", "1 2 mnop");
  const train::folder_options two{.channels = 2, .mean = {0, 0.5F}, .deviation = {1, 2}};
  const train::picture_folder<text_pictures> here(place.path, two);
  CHECK(here.size() == 3);
  CHECK(here.classes() == std::vector<std::string>{"cat", "dog"});
  CHECK(std::vector<int>(here.labels().begin(), here.labels().end()) == std::vector<int>{0, 1, 1});
  CHECK(here.extents() == manta::nn::shape{2, 1, 2});
  CHECK(here.file(1).ends_with("/dog/A.TXT"));
  train::batch<double> b;
  const std::vector<std::uint64_t> last_and_first{2, 0};
  here.take(last_and_first, b);
  CHECK(b.labels == std::vector<int>{1, 0});
  // Channels first: a and c, then b and d.
  CHECK(b.x(0, 0) == doctest::Approx('a' / 255.));
  CHECK(b.x(1, 0) == doctest::Approx('c' / 255.));
  CHECK(b.x(2, 0) == doctest::Approx(('b' / 255. - 0.5) / 2));
  CHECK(b.x(3, 1) == doctest::Approx(('l' / 255. - 0.5) / 2));

  train::picture_folder<text_pictures> sent;
  manta::output::unpack(manta::output::pack(here), sent);
  CHECK(sent.file(2) == here.file(2));
  const train::picture_folder<text_pictures> chosen(place.path, {.channels = 2, .classes = {"dog", "cat"}});
  CHECK(chosen.labels()[0] == 0);
  CHECK(chosen.file(0).ends_with("/dog/A.TXT"));

  const auto refused = [&](const std::string& folder, const train::folder_options& o) {
    return thrown<manta::error>([&] { train::picture_folder<text_pictures>(folder, o); });
  };
  CHECK(refused(place.path + "/cat/deeper", two) ==
        "manta: train: the folder " + place.path +
            "/cat/deeper has no pictures: expected files *.txt in a folder for each class, found 0 folders and none in "
            "them");
  CHECK(contains(refused(place.path + "/none", two), "cannot read the folder " + place.path + "/none: No such file"));
  CHECK(contains(refused(place.path, {.channels = 5}), ".channels is 5; a picture has 1 to 4"));
  CHECK(contains(refused(place.path, {.channels = 2, .classes = {"bird"}}), "cannot read the folder"));
  CHECK(contains(refused(place.path, {.channels = 1}), "is 1 x 1 x 2 in 4 bytes; expected 1 x 1 x 2"));
  write("dog/b.txt", "2 1 abcd");
  CHECK(contains(
      thrown<manta::error>([&] { here.take(last_and_first, b); }),
      "dog/b.txt is 2 x 2 x 1 in 4 bytes; expected 2 x 1 x 2 (channels x height x width), as the first picture"));
}
