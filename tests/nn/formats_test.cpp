// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Every kind of layer: its gradients, and its weights in files and in archives.
#include <doctest/doctest.h>

#include <algorithm>
#include <cereal/archives/binary.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "../support/every_layer.hpp"
#include "../support/gradients.hpp"
#include "../support/python.hpp"
#include "../support/text.hpp"
#include "manta/nn/weights.hpp"

namespace nn = manta::nn;
using manta::testing::every_layer;
using manta::testing::folder;
using manta::testing::text_of;

TEST_CASE("the networks that are tried have every kind of layer that there is") {
  std::set<std::string> tried;
  for (const nn::network<float>& net : every_layer())
    for (const nn::spec& s : net.specs()) manta::testing::add_kinds(s, tried);
  const std::string table = text_of(manta::testing::folder_beside(__FILE__, "../../include/manta/nn/layer.ipp"));
  const std::regex entry(R"re(\{"(\w+)", made)re");
  int kinds = 0;
  for (std::sregex_iterator at(table.begin(), table.end(), entry), end; at != end; ++at, ++kinds) {
    INFO((*at)[1].str());
    CHECK(tried.contains((*at)[1].str()));
  }
  CHECK(kinds > 35);
}

TEST_CASE("gradients of every kind of layer are those of central differences") {
  for (const nn::network<float>& net : every_layer()) {
    const std::string text = net.describe();
    if (text.find("gain_module") != std::string::npos) continue;  // it has no other numbers than float
    const bool has_words = text.find("embedding") != std::string::npos;
    const nn::matrix<double> words = manta::testing::inputs_for(net, 3).cast<double>();
    manta::testing::check_gradients(nn::network<double>(net.input_shape(), net.specs()), 3, {.seed = 4},
                                    has_words ? words : nn::matrix<double>());
  }
}

TEST_CASE("weights of every layer come back from .npz, .safetensors and archives, and the network gives the same") {
  const folder dir;
  for (nn::network<float>& net : every_layer()) {
    INFO(net.describe());
    net.initialise(5);
    for (std::size_t i = 0; i < net.buffers().size(); ++i) net.buffers()[i] = static_cast<float>(i) + 0.5F;
    net.mode({.training = false});
    const nn::matrix<float> x = manta::testing::inputs_for(net, 3);
    const auto result = [&](nn::network<float>& its) {
      nn::matrix<float> state = its.initial_state(3);
      const bool has_steps = its.state_size() > 0 && its.input_shape().dimensions() == 1;
      return nn::matrix<float>(has_steps ? its.forward(x, state) : its.forward(x));
    };
    const nn::matrix<float> wanted = result(net);
    for (const char* name : {"/w.npz", "/w.safetensors"}) {
      nn::save_weights(dir.path + name, net);
      nn::network<float> read(net.input_shape(), net.specs());
      read.initialise(1);
      nn::load_weights(dir.path + name, read);
      CHECK(std::ranges::equal(read.parameters(), net.parameters()));
      CHECK(std::ranges::equal(read.buffers(), net.buffers()));
      CHECK(result(read) == wanted);
    }
    std::stringstream bytes;
    cereal::BinaryOutputArchive{bytes}(net);
    nn::network<float> loaded;
    cereal::BinaryInputArchive{bytes}(loaded);
    loaded.mode({.training = false});
    CHECK(result(loaded) == wanted);
    nn::network<float> copy = loaded;
    CHECK(result(copy) == wanted);
  }
}
