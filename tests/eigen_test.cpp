// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Eigen's matrices, arrays and sparse matrices as arguments and results.
#include <doctest/doctest.h>

#include <manta/eigen.hpp>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <complex>

#include "support/world.hpp"

using manta::testing::in_world;

namespace {

using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using sparse_columns = Eigen::SparseMatrix<double>;
using sparse_rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// A matrix whose every entry tells its place.
template <typename M>
M numbered(int rows, int columns) {
  using real = typename Eigen::NumTraits<typename M::Scalar>::Real;
  M m(rows, columns);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) m(r, c) = static_cast<real>(100 * r + c);
  }
  return m;
}

template <typename M>
M same(const M& m) {
  return m;
}

template <typename M>
M doubled(const M& m) {
  return m + m;
}

Eigen::MatrixXd zeros(int rows, int columns) { return Eigen::MatrixXd::Zero(rows, columns); }
Eigen::MatrixXd multiply(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y) { return x * y; }
double norm_of(const Eigen::Ref<const Eigen::MatrixXd>& m) { return m.norm(); }
double norm_of_value(Eigen::Ref<const Eigen::MatrixXd> m) { return m.norm(); }
double sum_of_vector(const Eigen::Ref<const Eigen::VectorXd>& v) { return v.sum(); }

/// There and back as value and through a chain of futures.
template <typename M>
void check_round_trip(const M& m) {
  const M back = manta::async<same<M>>(m).get();
  CHECK(back.rows() == m.rows());
  CHECK(back.cols() == m.cols());
  CHECK((back.array() == m.array()).all());
  const M twice = manta::async<doubled<M>>(manta::async<same<M>>(m)).get();
  CHECK(twice.rows() == m.rows());
  CHECK((twice.array() == (m + m).array()).all());
}

template <typename S>
S diagonal(int n) {
  S m(n, n);
  for (int i = 0; i < n; ++i) {
    m.insert(i, i) = i + 1;
    if (i > 0 && i % 3 == 0) m.insert(i, i - 1) = -i;
  }
  m.makeCompressed();
  return m;
}

Eigen::VectorXd apply(const sparse_columns& m, const Eigen::VectorXd& v) { return m * v; }

struct model {
  std::string name;
  Eigen::MatrixXf weights;
  std::vector<Eigen::VectorXf> biases;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(name, weights, biases);
  }
};

model train(model m, float rate) {
  m.weights *= rate;
  for (auto& b : m.biases) b.array() += rate;
  return m;
}

}  // namespace

TEST_CASE("the matrix program of the interface page gives the serial result") {
  in_world([] {
    manta::future<Eigen::MatrixXd> x = manta::async<zeros>(100, 100);
    auto y = manta::async<zeros>(100, 100);
    auto z = manta::async<multiply>(x, y);
    CHECK(z.get().norm() == 0.0);
    const Eigen::MatrixXd a = numbered<Eigen::MatrixXd>(30, 20);
    const Eigen::MatrixXd b = numbered<Eigen::MatrixXd>(20, 40);
    const Eigen::MatrixXd product = a * b;
    CHECK(manta::async<multiply>(a, manta::put(b)).get().isApprox(product));
  });
}

TEST_CASE("dense matrices of either order, fixed or dynamic, arrive as they were") {
  in_world([] {
    check_round_trip(numbered<Eigen::MatrixXd>(7, 5));
    check_round_trip(numbered<row_major>(7, 5));
    check_round_trip(numbered<Eigen::Matrix3d>(3, 3));
    check_round_trip(numbered<Eigen::Matrix4f>(4, 4));
    check_round_trip(numbered<Eigen::Matrix<double, 2, 3, Eigen::RowMajor>>(2, 3));
    check_round_trip(numbered<Eigen::Matrix<double, 3, Eigen::Dynamic>>(3, 9));
    check_round_trip(numbered<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 8, 8>>(6, 5));
  });
}

TEST_CASE("vectors and arrays arrive as they were") {
  in_world([] {
    check_round_trip(numbered<Eigen::VectorXd>(100, 1));
    check_round_trip(numbered<Eigen::RowVectorXd>(1, 100));
    check_round_trip(numbered<Eigen::Vector3d>(3, 1));
    check_round_trip(numbered<Eigen::Vector4d>(4, 1));
    check_round_trip(numbered<Eigen::ArrayXXd>(6, 4));
    check_round_trip(numbered<Eigen::ArrayXd>(50, 1));
    check_round_trip(numbered<Eigen::Array<double, 2, 2>>(2, 2));
  });
}

TEST_CASE("scalars may be integers, single precision or complex") {
  in_world([] {
    check_round_trip(numbered<Eigen::MatrixXi>(5, 6));
    check_round_trip(numbered<Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>>(5, 1));
    check_round_trip(numbered<Eigen::MatrixXf>(5, 6));
    check_round_trip(numbered<Eigen::MatrixXcd>(5, 6));
    Eigen::MatrixXcf m = numbered<Eigen::MatrixXcf>(3, 3);
    m *= std::complex<float>(0, 2);
    check_round_trip(m);
    const Eigen::Matrix<bool, Eigen::Dynamic, 1> flags = Eigen::Matrix<bool, Eigen::Dynamic, 1>::Constant(9, true);
    CHECK(manta::async<same<Eigen::Matrix<bool, Eigen::Dynamic, 1>>>(flags).get() == flags);
  });
}

TEST_CASE("empty matrices keep their shape") {
  in_world([] {
    check_round_trip(Eigen::MatrixXd(0, 0));
    check_round_trip(Eigen::MatrixXd(0, 5));
    check_round_trip(Eigen::MatrixXd(5, 0));
    check_round_trip(Eigen::VectorXd(0));
    CHECK(manta::async<norm_of>(Eigen::MatrixXd(0, 3)).get() == 0.0);
  });
}

TEST_CASE("matrices of every size up to some megabytes arrive whole") {
  in_world([] {
    for (const int n : {1, 2, 8, 16, 23, 64, 90, 91, 128, 300, 600}) {
      check_round_trip(numbered<Eigen::MatrixXd>(n, n));
      check_round_trip(numbered<row_major>(n, n + 1));
    }
  });
}

TEST_CASE("an Eigen::Ref parameter reads a matrix given as a value or as a future") {
  in_world([] {
    const Eigen::MatrixXd m = numbered<Eigen::MatrixXd>(40, 30);
    CHECK(manta::async<norm_of>(m).get() == doctest::Approx(m.norm()));
    CHECK(manta::async<norm_of>(manta::put(m)).get() == doctest::Approx(m.norm()));
    CHECK(manta::async<norm_of>(manta::async<same<Eigen::MatrixXd>>(m)).get() == doctest::Approx(m.norm()));
    CHECK(manta::async<norm_of_value>(manta::async<multiply>(m.transpose().eval(), m)).get() ==
          doctest::Approx((m.transpose() * m).norm()));
    const Eigen::VectorXd v = numbered<Eigen::VectorXd>(1000, 1);
    CHECK(manta::async<sum_of_vector>(v).get() == doctest::Approx(v.sum()));
    CHECK(manta::async<sum_of_vector>(manta::put(v)).get() == doctest::Approx(v.sum()));
  });
}

TEST_CASE("an expression is evaluated when it is passed for a matrix") {
  in_world([] {
    const Eigen::MatrixXd m = numbered<Eigen::MatrixXd>(4, 4);
    const Eigen::MatrixXd expected = m + m;
    CHECK(manta::async<same<Eigen::MatrixXd>>(m + m).get() == expected);
    const Eigen::MatrixXd block = m.block(1, 1, 2, 2);
    CHECK(manta::async<same<Eigen::MatrixXd>>(m.block(1, 1, 2, 2)).get() == block);
  });
}

TEST_CASE("sparse matrices of either order arrive as they were") {
  in_world([] {
    for (const int n : {0, 1, 10, 1000, 30'000}) {
      const auto columns = diagonal<sparse_columns>(n);
      const sparse_columns back = manta::async<same<sparse_columns>>(columns).get();
      CHECK(back.rows() == n);
      CHECK(back.nonZeros() == columns.nonZeros());
      CHECK((n == 0 || (back - columns).norm() == 0.0));
      const auto rows = diagonal<sparse_rows>(n);
      const sparse_rows rows_back = manta::async<same<sparse_rows>>(manta::async<same<sparse_rows>>(rows)).get();
      CHECK(rows_back.nonZeros() == rows.nonZeros());
      CHECK((n == 0 || (rows_back - rows).norm() == 0.0));
    }
    const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(50, 1.0, 50.0);
    const Eigen::VectorXd expected = diagonal<sparse_columns>(50) * v;
    CHECK(manta::async<apply>(manta::async<diagonal<sparse_columns>>(50), v).get() == expected);
    sparse_columns loose(5, 5);
    loose.reserve(Eigen::VectorXi::Constant(5, 3));
    loose.insert(2, 3) = 4.5;  // not compressed
    CHECK((manta::async<same<sparse_columns>>(loose).get() - loose).norm() == 0.0);
  });
}

TEST_CASE("an Eigen::Ref parameter reads a sparse matrix") {
  in_world([] {
    const auto sum = [](Eigen::Ref<const sparse_columns> m, const Eigen::Ref<const sparse_rows>& n) {
      return m.sum() + n.sum();
    };
    sparse_columns m(20, 30);
    for (int i = 0; i < 20; ++i) m.insert(i, 29 - i) = i + 1;
    const sparse_rows n = 2 * m;
    CHECK(manta::async(sum, m, n).get() == 630);
    CHECK(manta::async(sum, manta::put(m), manta::put(n)).get() == 630);
  });
}

TEST_CASE("matrices inside structs and containers are values too") {
  in_world([] {
    model m{
        "net", Eigen::MatrixXf::Constant(200, 100, 2.0F), {Eigen::VectorXf::Zero(3), Eigen::VectorXf::Ones(70'000)}};
    auto f = manta::put(m);
    for (int i = 0; i < 3; ++i) f = manta::async<train>(f, 0.5F);
    const model& trained = f.get();
    CHECK(trained.name == "net");
    CHECK(trained.weights == Eigen::MatrixXf::Constant(200, 100, 0.25F));
    REQUIRE(trained.biases.size() == 2U);
    CHECK(trained.biases[0] == Eigen::VectorXf::Constant(3, 1.5F));
    CHECK(trained.biases[1] == Eigen::VectorXf::Constant(70'000, 2.5F));
  });
}
