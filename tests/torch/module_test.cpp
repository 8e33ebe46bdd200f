// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Networks of libtorch as modules, TorchScript files and tensors as values. The oracle is libtorch by itself: its
// gradients, its losses and its optimisers.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "../support/text.hpp"
#include "../support/world.hpp"
#include "manta/serve.hpp"
#include "manta/serve/torch.hpp"
#include "manta/torch.hpp"
#include "manta/train.hpp"

using manta::torch_module;
using manta::torch_script;
using manta::torch_tensor;
using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace nn = manta::nn;
namespace serve = manta::serve;
namespace train = manta::train;

// If a macro of libtorch had replaced doctest's, no check below would count.
#define NAME_OF(x) NAME_OF_EXPANDED(x)
#define NAME_OF_EXPANDED(x) #x
static_assert(std::string_view(NAME_OF(CHECK(true))).find("DOCTEST") != std::string_view::npos);

namespace {

struct mlp : torch::nn::SequentialImpl {
  explicit mlp(int hidden)
      : SequentialImpl(torch::nn::Linear(8, hidden), torch::nn::Tanh(), torch::nn::Linear(hidden, 3)) {}
};
static_assert(nn::module<torch_module<float>> && nn::module<torch_module<double>>);

/// Convolution and batch norm, whose running means and number of batches are no parameters.
struct normalised : torch::nn::Module {
  torch::nn::Conv2d conv{register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 2, 3)))};
  torch::nn::BatchNorm2d norm{register_module("norm", torch::nn::BatchNorm2d(2))};
  torch::nn::Linear last{register_module("last", torch::nn::Linear(8, 3))};
  torch::Tensor forward(const torch::Tensor& x) { return last(torch::relu(norm(conv(x))).flatten(1)); }
};

struct drops : torch::nn::SequentialImpl {
  drops() : SequentialImpl(torch::nn::Linear(8, 32), torch::nn::Dropout(0.5), torch::nn::Linear(32, 3)) {}
};

int workers() { return std::max(1, manta::size() - 1); }

/// Three clouds of points in eight dimensions.
train::samples clouds(int count) {
  const nn::random r(5);
  Eigen::MatrixXd x(8, count);
  std::vector<int> y(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    y[static_cast<std::size_t>(i)] = i % 3;
    for (int k = 0; k < 8; ++k) x(k, i) = r.normal(static_cast<std::uint64_t>(8 * i + k)) + (k % 3 == i % 3 ? 1.5 : 0);
  }
  return train::samples(std::move(x), std::move(y));
}

struct three_clouds {
  torch_script file = {};
  bool has_dropout = false;

  torch_module<double> model() const {
    if (!file.path().empty()) return torch_module<double>(file);
    return has_dropout ? torch_module<double>(manta::own<drops>()) : torch_module<double>(manta::own<mlp>(16));
  }
  nn::sgd optimizer() const { return nn::sgd({.rate = 0.1, .momentum = 0.9}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const { return clouds(301); }
  train::samples validation_data() const { return clouds(90); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(file, has_dropout);
  }
};

std::vector<double> numbers(const torch_module<double>& net) {
  return {net.parameters().begin(), net.parameters().end()};
}
std::vector<double> numbers(const std::vector<torch::Tensor>& parameters) {
  std::vector<double> all;
  for (const torch::Tensor& p : parameters) {
    const torch::Tensor c = p.detach().contiguous();
    all.insert(all.end(), c.data_ptr<double>(), c.data_ptr<double>() + c.numel());
  }
  return all;
}
/// Relative.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double d = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) d += (a[i] - b[i]) * (a[i] - b[i]), size += a[i] * a[i];
  return std::sqrt(d / size);
}

/// A loop in libtorch's own words, over the order of samples that a trainer takes.
std::vector<double> by_libtorch(torch::nn::Sequential net, std::uint64_t seed, int batch, int epochs) {
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const train::samples data = clouds(301);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::vector<std::uint64_t> order(data.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const nn::random draws(seed, static_cast<std::uint64_t>(epoch), 1);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draws.bits(i) % i]);
    for (std::size_t at = 0; at < order.size(); at += static_cast<std::size_t>(batch)) {
      train::batch<double> b;
      data.take(std::span(order).subspan(at, std::min(order.size() - at, static_cast<std::size_t>(batch))), b);
      const torch::Tensor x = manta::view_as_tensor(b.x);
      const torch::Tensor labels = torch::tensor(b.labels, torch::kInt).to(torch::kLong);
      optimizer.zero_grad();
      torch::nn::functional::cross_entropy(net->forward(x), labels).backward();
      optimizer.step();
    }
  }
  return numbers(net->parameters());
}
torch::nn::Sequential fresh_mlp(std::uint64_t seed) {
  torch::manual_seed(seed);
  torch::nn::Sequential net(torch::nn::Linear(8, 16), torch::nn::Tanh(), torch::nn::Linear(16, 3));
  net->to(torch::kDouble);
  return net;
}

/// What torch.jit.script(net).save(path) would write: a perceptron with the numbers of a Sequential.
void write_script(const std::string& path, torch::nn::Sequential net) {
  torch::jit::Module script("perceptron");
  const auto given = net->named_parameters();
  for (const auto& [name, as] : {std::pair{"0.weight", "w1"}, {"0.bias", "b1"}, {"2.weight", "w2"}, {"2.bias", "b2"}})
    script.register_parameter(as, given[name].detach().clone().requires_grad_(), false);
  script.define(R"(
    def forward(self, x):
        h = torch.tanh(torch.matmul(x, self.w1.t()) + self.b1)
        return torch.matmul(h, self.w2.t()) + self.b2
  )");
  script.save(path);
}

double own_loop(manta::team team, int steps) {
  torch_module<double> net(manta::own<mlp>(16));
  net.initialise(static_cast<std::uint64_t>(team.rank()));  // the first member's count
  train::data_parallel ddp(team, net, {.bucket_bytes = 64});
  nn::sgd optimizer({.rate = 0.1, .momentum = 0.9});
  const train::samples data = clouds(120);
  std::vector<std::uint64_t> mine(static_cast<std::size_t>(120 / team.size()));
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = i + mine.size() * static_cast<std::size_t>(team.rank());
  train::batch<double> b;
  data.take(mine, b);
  for (int i = 0; i < steps; ++i) {
    const auto [loss, dy] = nn::cross_entropy(ddp.forward(b.x), b.labels);
    ddp.backward(dy);
    optimizer.step(net.parameters(), net.gradients());
  }
  double sum = 0;
  for (const double p : net.parameters()) sum += p * p;
  return sum;
}

struct holder {
  torch::Tensor weights;
  std::string name;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(weights, name);
  }
};

torch_tensor doubled(const torch_tensor& x) { return 2 * x.view(); }
torch_tensor made(std::int64_t n) { return torch::arange(n, torch::kFloat).reshape({-1, 4}); }
torch_tensor turned(torch_tensor x) { return torch::Tensor(std::move(x)).t(); }
double sum_of(const torch_tensor& x) { return x.view().sum().item<double>(); }
int address_is_kept(const torch_tensor& x, const torch_tensor& y) { return x.data() == y.data(); }
holder grown(holder h) { return {h.weights + 1, h.name + "!"}; }

}  // namespace

TEST_CASE("outputs and gradients are libtorch's own, and lie in one array") {
  torch_module<double> net(manta::own<mlp>(16));
  net.initialise(3);
  CHECK_FALSE(net.is_fresh());
  torch::nn::Sequential plain = fresh_mlp(3);
  torch_module<double> drawn(manta::own<mlp>(16));  // libtorch draws in float: the same numbers after that
  drawn.initialise(3);
  CHECK(numbers(net) == numbers(drawn));
  {
    const torch::NoGradGuard guard;
    std::size_t at = 0;
    for (torch::Tensor& p : plain->parameters()) {
      for (std::int64_t i = 0; i < p.numel(); ++i) p.view(-1)[i] = std::as_const(net).parameters()[at++];
    }
  }
  nn::matrix<double> x = nn::matrix<double>::Random(8, 5);
  const std::vector<int> labels{0, 1, 2, 0, 1};
  const nn::matrix<double> y = net.forward(x);
  const torch::Tensor expected = plain->forward(manta::view_as_tensor(x));
  CHECK((y - manta::view_as_matrix<double>(expected.detach())).norm() < 1e-14);

  auto [loss, dy] = nn::cross_entropy(y, labels);
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  net.backward(dy, [&](std::size_t first, std::size_t last) { ranges.emplace_back(first, last); });
  torch::nn::functional::cross_entropy(expected, torch::tensor(labels, torch::kInt).to(torch::kLong)).backward();
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& p : plain->parameters()) gradients.push_back(p.grad());
  const std::vector<double> want = numbers(gradients);
  std::vector<double> got(net.gradients().begin(), net.gradients().end());
  CHECK(distance(got, want) < 1e-13);

  REQUIRE(ranges.size() > 1);  // while backward went on
  CHECK(ranges.front().second == want.size());
  CHECK(ranges.back().first == 0);
  for (std::size_t i = 1; i < ranges.size(); ++i) CHECK(ranges[i].second == ranges[i - 1].first);

  net.forward(x);
  net.backward(dy);  // adds
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(net.gradients()[i] == doctest::Approx(2 * want[i]));
}

TEST_CASE("copies and saved networks are values of their own, with running means and counts") {
  torch_module<float> net(manta::own<normalised>(), {.input = {1, 4, 4}});
  CHECK(contains(net.describe(), "conv.weight[2, 1, 3, 3]"));
  CHECK(net.is_fresh());
  const nn::matrix<float> x = nn::matrix<float>::Random(16, 6);
  net.mode({.training = true});
  for (int i = 0; i < 3; ++i) net.forward(x);
  CHECK(net.buffers().size() == 4);
  CHECK(std::any_of(net.buffers().begin(), net.buffers().end(), [](float b) { return b != 0 && b != 1; }));
  torch_module<float> copy = net, loaded;
  manta::output::unpack(manta::output::pack(net), loaded);
  for (torch_module<float>* other : {&copy, &loaded}) {
    other->mode({.training = false});
    net.mode({.training = false});
    CHECK(other->forward(x) == net.forward(x));
    CHECK(other->describe() == net.describe());
    CHECK(other->parameters().data() != net.parameters().data());
  }
  copy.parameters()[0] += 1;
  CHECK(copy.forward(x) != net.forward(x));

  const manta::testing::folder place;
  net.save_file(place.path + "/net.pt");
  auto read = std::make_shared<normalised>();
  torch::load(read, place.path + "/net.pt");
  read->eval();
  nn::matrix<float> again = x;
  const torch::Tensor y = read->forward(manta::view_as_tensor(again).view({6, 1, 4, 4})).detach().contiguous();
  CHECK((net.forward(x) - manta::view_as_matrix<float>(y)).norm() < 1e-6F);
  CHECK(read->norm->num_batches_tracked.item<int>() == 3);
}

TEST_CASE("a trainer of any number of workers gives what libtorch's own loop gives") {
  in_world([] {
    torch_module<double> begin(manta::own<mlp>(16));
    begin.initialise(7);
    torch::nn::Sequential plain = fresh_mlp(7);
    {
      const torch::NoGradGuard guard;
      std::size_t at = 0;
      for (torch::Tensor& p : plain->parameters()) {
        for (std::int64_t i = 0; i < p.numel(); ++i) p.view(-1)[i] = std::as_const(begin).parameters()[at++];
      }
    }
    const manta::testing::folder place;
    write_script(place.path + "/net.pt", plain);
    const torch_script file(place.path + "/net.pt");
    const std::vector<double> expected = by_libtorch(plain, 7, 28, 3);
    for (const int n : {1, 2, 4}) {
      if (n > workers()) continue;
      std::vector<std::vector<double>> runs;
      for (int run = 0; run < 2; ++run) {
        train::trainer trainer(three_clouds{}, {.workers = n, .batch = 28, .seed = 7, .bucket_bytes = 128});
        for (int epoch = 0; epoch < 3; ++epoch) trainer.train();
        runs.push_back(numbers(trainer.model()));
        CHECK(trainer.validate()["accuracy"] > 0.8);
      }
      CHECK(runs[0] == runs[1]);
      CHECK(distance(runs[0], expected) < 1e-6);

      train::trainer from_file(three_clouds{.file = file}, {.workers = n, .batch = 28, .seed = 1});
      train::trainer same_order(three_clouds{.file = file}, {.workers = n, .batch = 28, .seed = 7});
      for (int epoch = 0; epoch < 3; ++epoch) same_order.train();
      from_file.restore(same_order.state());
      CHECK(distance(numbers(from_file.model()), expected) < 1e-6);
    }
  });
}

TEST_CASE("dropout gives the same bits from run to run") {
  in_world([] {
    std::vector<std::vector<double>> runs;
    for (int run = 0; run < 2; ++run) {
      train::trainer trainer(three_clouds{.has_dropout = true}, {.workers = workers(), .batch = 28, .seed = 7});
      trainer.train();
      runs.push_back(numbers(trainer.model()));
    }
    CHECK(runs[0] == runs[1]);
  });
}

TEST_CASE("data_parallel gives the members of a gang the mean gradient of a torch module") {
  in_world([] {
    const double one = manta::async<own_loop>({.ranks = 1}, 20).get();
    for (const int n : {2, 4}) {
      if (n <= workers()) CHECK(manta::async<own_loop>({.ranks = n}, 20).get() == doctest::Approx(one).epsilon(1e-9));
    }
  });
}

TEST_CASE("a TorchScript file is deployed in one line, and written back after training") {
  in_world([] {
    const manta::testing::folder place;
    torch::nn::Sequential plain = fresh_mlp(1);
    write_script(place.path + "/net.pt", plain);
    auto d = serve::deploy_torch({.name = "net", .max_batch = 16}, place.path + "/net.pt");
    std::vector<manta::future<std::vector<float>>> answers;
    std::vector<nn::matrix<double>> requests;
    for (int i = 0; i < 40; ++i) {
      requests.emplace_back(nn::matrix<double>::Random(8, 1));
      const Eigen::VectorXf x = requests.back().cast<float>();
      answers.push_back(d(std::vector<float>(x.data(), x.data() + 8)));
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const torch::Tensor expected = plain->forward(manta::view_as_tensor(requests[i]));
      const std::vector<float> y = answers[i].get();
      REQUIRE(y.size() == 3);
      for (int k = 0; k < 3; ++k)
        CHECK(static_cast<double>(y[static_cast<std::size_t>(k)]) == doctest::Approx(expected[0][k].item<double>()));
    }
    CHECK(contains(thrown<std::exception>([&] { d({1.F}).get(); }), "forward of the TorchScript file"));

    torch_module<double> net{torch_script(place.path + "/net.pt")};
    for (double& p : net.parameters()) p *= 2;
    net.save_file(place.path + "/more.pt");
    CHECK(numbers(torch_module<double>(torch_script(place.path + "/more.pt"))) == numbers(net));

    CHECK(contains(thrown<manta::error>([&] { serve::deploy_torch({.name = "none"}, place.path + "/none.pt"); }),
                   "none.pt cannot be read; is it there?"));
    std::ofstream(place.path + "/cut.pt") << manta::testing::text_of(place.path + "/net.pt").substr(0, 500);
    const std::string text = thrown<manta::error>([&] { torch_script(place.path + "/cut.pt"); });
    CHECK(contains(text, "cut.pt cannot be read as TorchScript"));
    CHECK_FALSE(contains(text, "frame #"));
  });
}

TEST_CASE("tensors are arguments and results, and values of their own") {
  in_world([] {
    const torch::Tensor x = torch::randn({300, 400});  // more than what is shared by the ranks of a node
    const torch::Tensor y = manta::async<doubled>(manta::async<doubled>(x)).get();
    CHECK(torch::equal(y, 4 * x));
    const manta::future<torch_tensor> f = manta::async<made>(std::int64_t{400'000});
    CHECK(manta::async<sum_of>(f).get() == doctest::Approx(400'000. * 399'999 / 2));
    CHECK(torch::equal(manta::async<turned>(f).get().view(), f.get().view().t()));
    CHECK(manta::async<address_is_kept>(f, f).get() == 1);

    torch::Tensor mine = torch::ones({5000});
    const manta::future<torch_tensor> put = manta::put(torch_tensor(mine));
    torch::Tensor got = put.get();
    mine.zero_();
    got.zero_();
    CHECK(put.get().view().sum().item<float>() == 5000);

    for (const torch::Tensor& t : {torch::arange(6, torch::kLong), torch::zeros({0, 3}), torch::tensor(2.5),
                                   torch::randn({3, 4}, torch::kDouble).t(), torch::ones({2, 2}).requires_grad_(),
                                   torch::randn({4}, torch::kBFloat16), torch::tensor({true, false})}) {
      const torch::Tensor back =
          manta::async<turned>(manta::async<turned>(torch_tensor(t.dim() < 2 ? t.view({-1, 1}) : t))).get();
      CHECK((back.scalar_type() == t.scalar_type()));
      CHECK(torch::equal(back.view(t.sizes()), t.detach()));
    }
    CHECK_FALSE(torch_tensor().view().defined());

    const holder h = manta::async<grown>(holder{torch::ones({100, 30}), "w"}).get();
    CHECK(h.weights.sum().item<float>() == 6000);
    CHECK(h.name == "w!");
    CHECK(contains(thrown<manta::error>([] { torch_tensor(torch::eye(3).to_sparse()); }), "this tensor is sparse"));
    CHECK(contains(thrown<manta::error>([] {
                     manta::view_as_matrix<float>(torch::zeros({2, 3}).t());
                   }),
                   ".contiguous()"));
  });
}

TEST_CASE("memory that libtorch does not own is copied into a value") {
  torch_tensor kept;
  {
    std::vector<float> numbers(100, 3);
    kept = torch_tensor(torch::from_blob(numbers.data(), {100}));
    std::fill(numbers.begin(), numbers.end(), 0.F);
  }
  CHECK(kept.view().sum().item<float>() == 300);
  torch::Tensor large = torch::ones({1000});
  const void* const place = large.data_ptr();
  CHECK(torch_tensor(std::move(large)).data() == place);  // taken over
}

TEST_CASE("mixed precision: autocast to bfloat16, and a scaled loss") {
  const auto gradients = [](const manta::torch_options& o) {
    torch_module<float> net(manta::own<mlp>(16), o);
    const nn::matrix<float> x = Eigen::VectorXf::LinSpaced(80, -1, 1).reshaped(8, 10);
    const auto [loss, dy] = nn::cross_entropy(net.forward(x), std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0});
    for (int i = 0; i < 2; ++i) {
      net.forward(x);
      net.backward(dy);
    }
    return Eigen::VectorXf(Eigen::Map<Eigen::VectorXf>(net.gradients().data(), std::ssize(net.gradients())));
  };
  const Eigen::VectorXf plain = gradients({}), scaled = gradients({.loss_scale = 1024}),
                        rounded = gradients({.autocast = manta::torch_autocast::bfloat16, .loss_scale = 8});
  CHECK(scaled == plain);
  CHECK(rounded != plain);
  CHECK((rounded - plain).norm() < 0.02F * plain.norm());
  CHECK(contains(thrown<manta::error>([&] { gradients({.autocast = manta::torch_autocast::float16}); }),
                 "autocast to bfloat16 alone"));
  CHECK(contains(thrown<manta::error>([&] { gradients({.loss_scale = 1000}); }), "a power of two"));
  CHECK(contains(thrown<manta::error>(
                     [&] { torch_module<double>(manta::own<mlp>(16), {.autocast = manta::torch_autocast::bfloat16}); }),
                 "torch_module<float>"));
}

TEST_CASE("what does not suit is one sentence, without a backtrace") {
  torch_module<float> net(manta::own<mlp>(16));
  const std::string text = thrown<manta::error>([&] { net.forward(nn::matrix<float>::Zero(7, 2)); });
  CHECK(contains(text, "forward of"));
  CHECK(contains(text, "2x7 and 8x16"));
  CHECK_FALSE(contains(text, "frame #"));
  CHECK(contains(thrown<manta::error>([&] { net.backward(nn::matrix<float>::Zero(3, 2)); }), "after forward"));
  net.forward(nn::matrix<float>::Zero(8, 2));
  CHECK(contains(thrown<manta::error>([&] { net.backward(nn::matrix<float>::Zero(3, 4)); }), "the output is of 3 x 2"));
  net.mode({.training = false});
  net.forward(nn::matrix<float>::Zero(8, 2));
  CHECK(contains(thrown<manta::error>([&] { net.backward(nn::matrix<float>::Zero(3, 2)); }), "no training pass"));
  torch_module<float> images(manta::own<normalised>(), {.input = {1, 4, 4}});
  CHECK(contains(thrown<manta::error>([&] { images.forward(nn::matrix<float>::Zero(15, 2)); }), "input says 16"));
  torch_module<float> empty;
  CHECK(contains(thrown<manta::error>([&] { empty.forward(nn::matrix<float>::Zero(8, 2)); }), "is empty"));
  CHECK(empty.parameters().empty());
}
