// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files of weights, read and written by manta and by Python; schedules; and that a step allocates nothing.
#include <doctest/doctest.h>

#include <cereal/archives/binary.hpp>
#include <cstdlib>
#include <fstream>
#include <new>
#include <numbers>
#include <sstream>

#include "../support/text.hpp"
#include "manta/nn.hpp"
#include "manta/nn/weights.hpp"

namespace nn = manta::nn;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::text_of;
using manta::testing::thrown;

// ---- allocations ----

extern "C" void* __libc_malloc(std::size_t);

namespace {
bool counting = false;
int allocations = 0;
}  // namespace

// Eigen, operator new and the C library all come here.
extern "C" void* malloc(std::size_t bytes) {
  allocations += counting;
  return __libc_malloc(bytes);
}

namespace {

nn::network<float> small() {
  nn::network<float> net(nn::shape{2, 4, 4}, nn::conv2d(3, 3), nn::batch_norm(), nn::linear(5));
  net.initialise(7);
  for (std::size_t i = 0; i < net.buffers().size(); ++i) net.buffers()[i] = static_cast<float>(i) + 0.5F;
  return net;
}

/// A Python that has NumPy: the first of the path, or Debian's; "" if there is none.
const std::string& interpreter() {
  static const std::string found = [] {
    for (const std::string name : {"python3", "/usr/bin/python3"})
      if (std::system((name + " -c 'import numpy' 2> /dev/null").c_str()) == 0) return name;
    MESSAGE("python3-numpy is not installed: nothing is compared with Python");
    return std::string();
  }();
  return found;
}

/// What a script prints that has NumPy imported, or its error.
std::string python(const folder& where, const std::string& script) {
  std::ofstream(where.path + "/script.py") << "import json, struct\nimport numpy\n" << script;
  const std::string command = "cd " + where.path + " && " + interpreter() + " script.py > out.txt 2> err.txt";
  if (std::system(command.c_str()) != 0) return "failed: " + text_of(where.path + "/err.txt");
  return text_of(where.path + "/out.txt");
}

/// A reader and a writer of safetensors in Python, from the description of the format.
const char* const safetensors_in_python = R"(
def read(path):
    data = open(path, 'rb').read()
    size = struct.unpack('<Q', data[:8])[0]
    arrays = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == '__metadata__': continue
        begin, end = entry['data_offsets']
        kind = {'F32': '<f4', 'F64': '<f8'}[entry['dtype']]
        arrays[name] = numpy.frombuffer(data[8 + size + begin:8 + size + end], kind).reshape(entry['shape'])
    return arrays

def write(path, arrays, kind='F32'):
    header, data = {'__metadata__': {'format': 'pt'}}, b''
    for name, a in arrays.items():
        raw = a.tobytes()
        header[name] = {'dtype': kind, 'shape': list(a.shape), 'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)
)";

}  // namespace

TEST_CASE("weights come back from both formats as they were") {
  const folder dir;
  const nn::network<float> net = small();
  for (const char* name : {"/w.npz", "/w.safetensors"}) {
    nn::save_weights(dir.path + name, net);
    nn::network<float> read = small();
    read.initialise(1);
    nn::load_weights(dir.path + name, read);
    CHECK(std::ranges::equal(read.parameters(), net.parameters()));
    CHECK(std::ranges::equal(read.buffers(), net.buffers()));
    nn::network<double> wide(nn::shape{2, 4, 4}, nn::conv2d(3, 3), nn::batch_norm(), nn::linear(5));
    nn::load_weights(dir.path + name, wide);
    CHECK(std::ranges::equal(wide.parameters(), net.parameters()));
  }
}

TEST_CASE("parts of a file are loaded by name and shape, with a report") {
  const folder dir;
  const nn::network<float> net = small();
  for (const std::string name : {"/w.npz", "/w.safetensors"}) {
    nn::save_weights(dir.path + name, net);
    // The same layers, but for the last: in a part of a network whose names begin otherwise.
    nn::network<float> other(nn::shape{2, 4, 4}, nn::sequential(nn::conv2d(3, 3), nn::batch_norm()), nn::linear(7));
    const std::vector<float> before(other.parameters().begin(), other.parameters().end());
    const nn::load_report r = nn::load_matching(
        dir.path + name, other, {.names = {{"0.*", "*"}, {"1.*", "2.*"}, {"0.1.running_var", "nowhere"}}});
    CHECK(r.loaded == std::vector<std::string>{"0.0.weight", "0.0.bias", "0.1.weight", "0.1.bias", "0.1.running_mean"});
    CHECK(r.missing == std::vector<std::string>{"0.1.running_var"});
    CHECK(r.unused == std::vector<std::string>{"2.weight", "2.bias", "1.running_var"});
    CHECK(
        r.text() ==
        "loaded 5 arrays; missing in the file: 0.1.running_var; of another shape or type: 1.weight ('2.weight' is "
        "expected to be 7 x 12, and is 5 x 12), 1.bias ('2.bias' is expected to be 7, and is 5); not used of the file: "
        "2.weight, 2.bias, 1.running_var");
    const std::size_t same = 3 * 2 * 9 + 3 + 6;
    CHECK(std::ranges::equal(other.parameters().first(same), net.parameters().first(same)));
    CHECK(std::ranges::equal(other.parameters().subspan(same), std::span(before).subspan(same)));
    CHECK(other.buffers()[0] == net.buffers()[0]);
    CHECK(other.buffers()[3] == 1);

    nn::network<float> bias = small();
    bias.initialise(1);
    const nn::load_report few = nn::load_matching(dir.path + name, bias, {.arrays = "*.bias"});
    CHECK(few.loaded.size() == 3);
    CHECK(few.left_out.size() == 5);
    CHECK(contains(thrown<manta::error>([&] { nn::load_matching(dir.path + name, bias, {.arrays = "7.*"}); }),
                   "the network gets none of the file's arrays: loaded 0 arrays; left out: 0.weight"));
    // Patterns of names also where the whole file is wanted.
    nn::network<float> whole(nn::shape{2, 4, 4}, nn::sequential(nn::conv2d(3, 3), nn::batch_norm(), nn::linear(5)));
    nn::load_weights(dir.path + name, whole, {{"0.*", "*"}});
    CHECK(std::ranges::equal(whole.parameters(), net.parameters()));
  }
}

TEST_CASE("Python reads what is written, and what Python writes is read") {
  if (interpreter().empty()) return;
  const folder dir;
  const nn::network<float> net = small();
  nn::save_weights(dir.path + "/w.npz", net);
  nn::save_weights(dir.path + "/w.safetensors", net);
  const std::string seen = python(dir, std::string(safetensors_in_python) + R"(
a, b = numpy.load('w.npz'), read('w.safetensors')
assert sorted(a.keys()) == sorted(b.keys())
for k in a.keys(): assert (a[k] == b[k]).all() and a[k].dtype == numpy.float32
print(a['0.weight'].shape, a['1.running_var'].tolist(), '%.9g' % a['2.weight'][4, 11])
half = {k: (v + 1).astype('<f4') for k, v in b.items()}
half['1.num_batches_tracked'] = numpy.array(3, '<i8')
half['2.weight'] = numpy.asfortranarray(half['2.weight'])
numpy.savez('half.npz', **half)
numpy.savez_compressed('small.npz', **half)
write('half.safetensors', {k: (v + 1).astype('<f2') for k, v in b.items()}, 'F16')
)");
  char expected[100];
  std::snprintf(expected, sizeof expected, "(3, 2, 3, 3) [3.5, 4.5, 5.5] %.9g\n",
                static_cast<double>(net.parameters()[54 + 3 + 6 + 4 * 12 + 11]));
  CHECK(seen == expected);
  nn::network<float> read = small();
  nn::load_weights(dir.path + "/half.npz", read);
  for (std::size_t i = 0; i < read.parameters().size(); ++i) CHECK(read.parameters()[i] == net.parameters()[i] + 1);
  nn::load_weights(dir.path + "/half.safetensors", read);
  for (std::size_t i = 0; i < read.parameters().size(); ++i)
    CHECK(read.parameters()[i] == doctest::Approx(net.parameters()[i] + 1).epsilon(1e-3));
  nn::network<float> compressed = small();
  nn::load_weights(dir.path + "/small.npz", compressed);
  nn::load_weights(dir.path + "/half.npz", read);
  CHECK(std::ranges::equal(compressed.parameters(), read.parameters()));
  CHECK(std::ranges::equal(compressed.buffers(), read.buffers()));
  std::string damaged = text_of(dir.path + "/small.npz");
  damaged[200] = static_cast<char>(damaged[200] ^ 8);
  std::ofstream(dir.path + "/small.npz", std::ios::binary) << damaged;
  CHECK(contains(thrown<manta::error>([&] { nn::load_weights(dir.path + "/small.npz", read); }),
                 ": the file is damaged"));
}

TEST_CASE("values are those that NumPy computes") {
  if (interpreter().empty()) return;
  const folder dir;
  nn::network<double> lstm(nn::shape{3, 2}, nn::lstm(4)), gru(nn::shape{3, 2}, nn::gru(4)),
      attention(nn::shape{3, 4}, nn::attention(2, {.causal = true})), norm(nn::shape{6}, nn::layer_norm(), nn::gelu());
  const auto run = [&](const std::string& name, nn::network<double>& net) {
    net.initialise(5);
    nn::save_weights(dir.path + "/" + name + ".npz", net);
    nn::matrix<double> x(net.input_shape().size(), 2);
    for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = 0.1 * static_cast<double>(i % 7) - 0.2;
    const nn::matrix<double>& y = net.forward(x);
    nn::write_arrays(dir.path + "/" + name + "_xy.npz",
                     {nn::detail::store("x", nn::shape{2, net.input_shape().size()}, x.data()),
                      nn::detail::store("y", nn::shape{2, net.output_shape().size()}, y.data())});
  };
  run("lstm", lstm), run("gru", gru), run("attention", attention), run("norm", norm);
  CHECK(python(dir, R"(
import math
sigmoid = lambda v: 1 / (1 + numpy.exp(-v))
def same(name, f):
    w, xy = numpy.load(name + '.npz'), numpy.load(name + '_xy.npz')
    for x, y in zip(xy['x'], xy['y']):
        assert abs(numpy.array(f({k[2:]: w[k] for k in w.keys()}, x)).ravel() - y).max() < 1e-14, name
def lstm(w, x):
    h, c, out = numpy.zeros(4), numpy.zeros(4), []
    for t in x.reshape(3, 2):
        i, f, g, o = numpy.split(w['weight_ih_l0'] @ t + w['bias_ih_l0'] + w['weight_hh_l0'] @ h + w['bias_hh_l0'], 4)
        c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
        h = sigmoid(o) * numpy.tanh(c)
        out.append(h)
    return out
def gru(w, x):
    h, out = numpy.zeros(4), []
    for t in x.reshape(3, 2):
        a, b = numpy.split(w['weight_ih_l0'] @ t + w['bias_ih_l0'], 3), numpy.split(w['weight_hh_l0'] @ h + w['bias_hh_l0'], 3)
        r, z = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
        h = (1 - z) * numpy.tanh(a[2] + r * b[2]) + z * h
        out.append(h)
    return out
def attention(w, x):
    q, k, v = numpy.split(x.reshape(3, 4) @ w['in_proj_weight'].T + w['in_proj_bias'], 3, axis=1)
    mixed = numpy.zeros((3, 4))
    for head in (slice(0, 2), slice(2, 4)):
        for i in range(3):
            s = numpy.exp([q[i, head] @ k[j, head] / math.sqrt(2) for j in range(i + 1)])
            mixed[i, head] = (s / s.sum()) @ v[:i + 1, head]
    return mixed @ w['out_proj.weight'].T + w['out_proj.bias']
def norm(w, x):
    z = (x - x.mean()) / math.sqrt(x.var() + 1e-5) * w['weight'] + w['bias']
    return [v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in z]
for f in (lstm, gru, attention, norm): same(f.__name__, f)
print('same')
)") == "same\n");
}

TEST_CASE("a file that does not fit or is damaged is told with place, what was expected and what was found") {
  const folder dir;
  nn::network<float> net = small();
  const std::vector<float> before(net.parameters().begin(), net.parameters().end());
  for (const std::string& name : {dir.path + "/w.npz", dir.path + "/w.safetensors"}) {
    nn::save_weights(name, net);
    nn::network<float> other(nn::shape{2, 4, 4}, nn::conv2d(3, 3), nn::batch_norm(), nn::linear(6));
    std::string text = thrown<manta::error>([&] { nn::load_weights(name, other); });
    CHECK(contains(text, name + ", offset "));
    CHECK(contains(text, "'2.weight' is expected to be 6 x 12, and is 5 x 12"));
    nn::network<float> fewer(nn::shape{2, 4, 4}, nn::conv2d(3, 3)),
        renamed(nn::shape{2, 4, 4}, nn::relu(), nn::relu(), nn::relu(), nn::conv2d(3, 3));
    CHECK(contains(thrown<manta::error>([&] { nn::load_weights(name, fewer); }),
                   "The network does not have its array '1.weight' of 3, '1.bias' of 3, '2.weight' of 5 x 12, "));
    text = thrown<manta::error>([&] { nn::load_weights(name, renamed); });
    CHECK(contains(text, "It has no array '3.weight' of 3 x 2 x 3 x 3, '3.bias' of 3."));
    CHECK(contains(text, "The file has 0.weight (3 x 2 x 3 x 3), 0.bias (3), 1.weight (3)"));
    CHECK(contains(text, "; asked for were 3.weight (3 x 2 x 3 x 3), 3.bias (3)"));
    CHECK(thrown<manta::error>([&] {
            nn::load_weights(name, net, {{"fc.weight", "2.weight"}});
          }) == "manta: nn: " + name +
                    ": '2.weight' was to be read as the network's array 'fc.weight', which it does not have; it has "
                    "0.weight, 0.bias, 1.weight, 1.bias, 2.weight, 2.bias, 1.running_mean, 1.running_var");
    const std::string whole = text_of(name);
    for (std::size_t size : {std::size_t{0}, std::size_t{5}, whole.size() / 2, whole.size() - 1}) {
      std::ofstream(name, std::ios::binary) << whole.substr(0, size);
      text = thrown<manta::error>([&] { nn::load_weights(name, net); });
      INFO(text);
      CHECK(contains(text, name + ", offset "));
      CHECK(contains(text, "expected "));
    }
  }
  std::string damaged = (nn::save_weights(dir.path + "/w.npz", net), text_of(dir.path + "/w.npz"));
  damaged[200] = static_cast<char>(damaged[200] ^ 1);
  std::ofstream(dir.path + "/w.npz", std::ios::binary) << damaged;
  CHECK(contains(thrown<manta::error>([&] { nn::load_weights(dir.path + "/w.npz", net); }), "the file is damaged"));
  CHECK(std::ranges::equal(net.parameters(), before));
  CHECK(contains(thrown<manta::error>([&] { nn::load_weights(dir.path + "/none.npz", net); }), "No such file"));
  CHECK(contains(thrown<manta::error>([&] { nn::save_weights("/dev/full/w.npz", net); }), "cannot be written"));
  CHECK(contains(thrown<manta::error>([&] { nn::save_weights(dir.path + "/w.h5", net); }),
                 "ends in .npz or .safetensors"));
}

TEST_CASE("arrays of all types are read, and only one that is asked for has to be convertible") {
  if (interpreter().empty()) return;
  const folder dir;
  REQUIRE(python(dir, std::string(safetensors_in_python) + R"(
types = ['bool', 'u1', 'i1', '<u2', '<i2', '<u4', '<i4', '<u8', '<i8', '<f2', '<f4', '<f8']
numpy.savez_compressed('all.npz', **{str(i): numpy.array([0, 1, 100], t) for i, t in enumerate(types)})
numpy.savez('big.npz', **{'0.weight': numpy.ones((1, 1), '>f4')})
w = {'0.weight': numpy.full((1, 1), 3, '<f4'), '0.bias': numpy.full(1, 2, '<f4')}
write('odd.safetensors', {k: v.astype('u1') for k, v in w.items()}, 'F8_E5M2')
)") == "");
  const auto arrays = nn::read_arrays(dir.path + "/all.npz");
  REQUIRE(arrays.size() == 12);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    double numbers[3];
    nn::detail::convert(arrays[i], numbers);
    CHECK(numbers[0] == 0);
    CHECK(numbers[1] == 1);
    CHECK(numbers[2] == (arrays[i].type == "BOOL" ? 1 : 100));
  }
  nn::write_arrays(dir.path + "/again.npz", arrays);
  CHECK(nn::read_arrays(dir.path + "/again.npz")[3].bytes == arrays[3].bytes);
  nn::network<float> one(nn::shape{1}, nn::linear(1));
  CHECK(contains(thrown<manta::error>([&] { nn::load_weights(dir.path + "/big.npz", one); }),
                 "numpy's astype('<f4') gives for '0.weight', found >f4"));
  CHECK(contains(thrown<manta::error>([&] { nn::load_weights(dir.path + "/odd.safetensors", one); }),
                 "'0.weight' has numbers of the type F8_E5M2, which are not read"));
  CHECK(nn::read_arrays(dir.path + "/odd.safetensors").size() == 2);
}

TEST_CASE("a network that has read its weights predicts, and does not change when it does") {
  const folder dir;
  nn::network<float> net(nn::shape{4}, nn::linear(8), nn::batch_norm(), nn::dropout(0.5), nn::linear(2));
  nn::save_weights(dir.path + "/w.npz", net);
  nn::load_weights(dir.path + "/w.npz", net);
  const nn::matrix<float> x = nn::matrix<float>::Random(4, 3), twice = (nn::matrix<float>(4, 6) << x, x).finished();
  const std::vector<float> before(net.buffers().begin(), net.buffers().end());
  const nn::matrix<float> y = net.forward(twice);
  CHECK(y.leftCols(3) == y.rightCols(3));
  CHECK(std::ranges::equal(net.buffers(), before));
}

TEST_CASE("any sequence of damaged bytes is an error or a file, never a crash") {
  const folder dir;
  nn::network<float> net = small();
  for (const std::string& name : {dir.path + "/w.npz", dir.path + "/w.safetensors"}) {
    nn::save_weights(name, net);
    const std::string whole = text_of(name);
    for (std::uint64_t i = 0; i < 300; ++i) {
      std::string bytes = whole;
      const nn::random r(i);
      for (std::uint64_t k = 0; k < 4; ++k) bytes[r.bits(2 * k) % bytes.size()] = static_cast<char>(r.bits(2 * k + 1));
      std::ofstream(name, std::ios::binary) << bytes;
      try {
        nn::load_weights(name, net);
      } catch (const manta::error&) {
      }
    }
  }
}

TEST_CASE("schedules give the factors of their formulas") {
  const nn::schedule steps = nn::step_decay(10, 0.5);
  CHECK(nn::schedule()(1000) == 1);
  CHECK(steps(9) == 1);
  CHECK(steps(10) == 0.5);
  CHECK(steps(39) == 0.125);
  CHECK(nn::cosine(100)(50) == doctest::Approx(0.5));
  CHECK(nn::cosine(100, 0.1)(25) == doctest::Approx(0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2));
  CHECK(nn::cosine(100, 0.1)(500) == doctest::Approx(0.1));
  const nn::schedule warm = nn::warm_up(4, nn::cosine(10));
  CHECK(warm(0) == 0.25);
  CHECK(warm(3) == 1);
  CHECK(warm(4) == 1);
  CHECK(warm(9) == doctest::Approx(0.5));
  const nn::schedule cycle = nn::one_cycle(100);
  CHECK(cycle(0) == doctest::Approx(1. / 25));
  CHECK(cycle(29) == doctest::Approx(1));
  CHECK(cycle(14.5) == doctest::Approx((1 + 1. / 25) / 2));
  CHECK(cycle(99) == doctest::Approx(1e-4 / 25));
  std::stringstream bytes;
  nn::schedule read;
  cereal::BinaryOutputArchive{bytes}(warm);
  cereal::BinaryInputArchive{bytes}(read);
  CHECK(read == warm);
}

TEST_CASE("cross entropy of sequences is that of all positions") {
  const nn::matrix<double> y = nn::matrix<double>::Random(3 * 4, 2), columns = y.reshaped(4, 6);
  const std::vector<int> labels{0, 3, 1, 2, 2, 0};
  const auto a = nn::cross_entropy(y, labels), b = nn::cross_entropy(columns, labels);
  CHECK(a.value == b.value);
  CHECK(a.gradient == b.gradient.reshaped(12, 2));
  CHECK(nn::correct(y, labels) == nn::correct(columns, labels));
}

TEST_CASE("a step allocates nothing after the first") {
  const auto check = [](const nn::shape& in, std::vector<nn::spec> layers, int samples) {
    nn::network<float> net(in, std::move(layers));
    INFO(net.describe());
    // Whole numbers, as an embedding takes them.
    const nn::matrix<float> x = (nn::matrix<float>::Random(in.size(), samples).array().abs() * 49).floor();
    const nn::gradients_ready ready = [](std::size_t, std::size_t) {};
    const std::vector<int> labels(static_cast<std::size_t>(samples), 1);
    const nn::loss loss = nn::cross_entropy();
    nn::adam optimizer;
    nn::matrix<float> dy;
    for (int step = 0; step < 4; ++step) {
      allocations = 0;
      counting = step > 1;
      loss(net.forward(x), labels, dy);
      net.zero_gradients();
      net.backward(dy);
      net.backward(dy, ready);
      optimizer.step(net.parameters(), net.gradients());
      counting = false;
      if (step > 1) CHECK(allocations == 0);
    }
  };
  check({784}, {nn::linear(128), nn::relu(), nn::dropout(0.1), nn::linear(10)}, 128);
  check({784}, {nn::linear(400), nn::relu(), nn::linear(10)}, 32);
  check({1, 28, 28},
        {nn::conv2d(16, 3, {.padding = 1}), nn::batch_norm(), nn::relu(), nn::max_pool(2),
         nn::residual(nn::conv2d(16, 3, {.padding = 1})), nn::average_pool(0), nn::linear(10)},
        32);
  check({20},
        {nn::embedding(50, 64), nn::positions(),
         nn::residual(nn::sequential(nn::layer_norm(), nn::attention(4, {.causal = true}))), nn::gelu(), nn::lstm(96),
         nn::gru(64), nn::last(), nn::tanh(), nn::linear(10)},
        32);
}
