// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network, whose arrays go from the program to libmanta.a and back.
#include <manta/nn.hpp>

#include <cstdio>

namespace nn = manta::nn;

int main() {
  nn::network<float> net(nn::shape{10}, nn::linear(8), nn::relu(), nn::linear(2));
  net.initialise(1);
  const nn::matrix<float> x = nn::matrix<float>::Ones(10, 4), y = net.forward(x);
  const auto [loss, dy] = nn::cross_entropy(y, std::vector<int>{0, 1, 0, 1});
  net.backward(dy);
  std::printf("loss %g\n", static_cast<double>(loss));
  return loss > 0 ? 0 : 1;
}
