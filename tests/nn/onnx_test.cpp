// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Networks as ONNX models: onnx.checker accepts them, and by the definitions of the operators they give the network's
// numbers.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "../support/every_layer.hpp"
#include "../support/python.hpp"
#include "../support/text.hpp"
#include "manta/nn/onnx.hpp"
#include "manta/nn/weights.hpp"

namespace nn = manta::nn;
using manta::testing::contains;
using manta::testing::every_layer;
using manta::testing::folder;
using manta::testing::text_of;
using manta::testing::thrown;

namespace {

bool has_onnx() {
  if (!manta::testing::has_python()) return false;
  if (std::system("/usr/bin/python3 -c 'import onnx, numpy' 2> /dev/null") == 0) return true;
  MESSAGE("python3-onnx is not installed: the models are written, but not run");
  return false;
}

/// Numbers that show more than those of a new network.
void disturb(nn::network<float>& net) {
  const nn::random r(2);
  for (std::size_t i = 0; i < net.parameters().size(); ++i)
    net.parameters()[i] += static_cast<float>(0.2 * r.normal(i));
  for (std::size_t i = 0; i < net.buffers().size(); ++i) net.buffers()[i] += static_cast<float>(0.5 * r.uniform(i));
}

bool can_be_written(const nn::network<float>& net) {
  const std::string text = net.describe();
  for (const char* kind : {"masked", "step_attention", "gain_module"})
    if (contains(text, kind)) return false;
  return true;
}

}  // namespace

TEST_CASE("models of ONNX give the numbers of the networks, for every layer that ONNX has") {
  const folder dir;
  std::map<std::string, std::string> texts;
  for (nn::network<float>& net : every_layer()) {
    if (!can_be_written(net)) continue;
    disturb(net);
    net.mode({.training = false});
    const nn::matrix<float> x = manta::testing::inputs_for(net, 3);
    const nn::matrix<float> y = net.forward(x);
    const std::string name = "net" + std::to_string(texts.size());
    texts[name] = net.describe();
    nn::save_onnx(dir.path + "/" + name + ".onnx", net);
    const nn::shape of_x{3, static_cast<int>(x.rows())}, of_y{3, static_cast<int>(y.rows())};
    nn::write_arrays(dir.path + "/" + name + ".npz",
                     {nn::detail::store("x", of_x, x.data()), nn::detail::store("y", of_y, y.data())});
  }
  CHECK(texts.size() == 19);
  if (const char* copy = std::getenv("MANTA_KEEP_ONNX"))  // for other programs that run models
    CHECK(std::system(("cp " + dir.path + "/* " + copy).c_str()) == 0);
  if (!has_onnx()) return;
  const std::string script = manta::testing::folder_beside(__FILE__, "onnx_numbers.py");
  const std::string command =
      "/usr/bin/python3 " + script + " " + dir.path + " > " + dir.path + "/out 2> " + dir.path + "/err";
  INFO(text_of(dir.path + "/err"));
  CHECK(std::system(command.c_str()) == 0);
  INFO(text_of(dir.path + "/err"));
  std::ifstream out(dir.path + "/out");
  std::size_t compared = 0;
  for (std::string name, difference; out >> name >> difference; ++compared) {
    INFO(texts[name] << ": " << difference);
    CHECK(std::stod(difference) < 1e-5);
  }
  CHECK(compared == texts.size());
}

TEST_CASE("what ONNX lacks is one sentence, and no file is written") {
  const folder dir;
  const std::string path = dir.path + "/net.onnx";
  const auto refused = [&](const nn::network<float>& net, const nn::onnx_options& options = {}) {
    const std::string text = thrown<manta::error>([&] { nn::save_onnx(path, net, options); });
    CHECK(text_of(path).empty());
    return text;
  };
  CHECK(contains(refused(nn::network<float>(nn::shape{5}, nn::masked(0, {nn::embedding(7, 4), nn::mean()}))),
                 "save_onnx: the layer masked(0, embedding(7, 4), mean()) has no counterpart in ONNX"));
  CHECK(contains(refused(nn::network<float>(nn::shape{6}, nn::step_attention(2, 3))), "no counterpart in ONNX"));
  CHECK(contains(refused(nn::network<float>(nn::shape{6}, nn::lstm(3))),
                 "lstm(3) carries its state from step to step, and ONNX's runs over whole sequences"));
  CHECK(contains(refused(nn::network<float>(nn::shape{6}, nn::linear(3)), {.batch = -1}), ".batch is -1"));
  CHECK(contains(refused(nn::network<float>(nn::shape{6}, nn::linear(3)), {.input = "a", .output = "a"}),
                 "both names differ"));
  CHECK(contains(thrown<manta::error>([&] {
                   nn::save_onnx(dir.path + "/none/net.onnx", nn::network<float>(nn::shape{6}, nn::linear(3)));
                 }),
                 "none/net.onnx cannot be written"));
}
