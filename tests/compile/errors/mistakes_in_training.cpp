// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// As mistakes.cpp: mistakes with networks and trainings.
#include <manta/train.hpp>
#include <manta/train/picture_folder.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace nn = manta::nn;
namespace train = manta::train;

struct good {
  nn::network<float> model() const { return {}; }
  nn::adam optimizer() const { return nn::adam(); }
  nn::loss loss() const { return nn::mse(); }
  train::samples training_data() const { return {}; }
};

/// Nothing here says how it could be sent.
struct limits {
  double low = 0, high = 1;
};
struct with_limits : good {
  std::vector<limits> all;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(all));
  }
};

[[maybe_unused]] void driver() {
  nn::network net(nn::shape{4}, nn::linear(3), nn::relu());
  nn::matrix<float> x;
  nn::adam optimizer;
#if defined(mistake_network_without_shape)
  const nn::network<float> other(784, nn::linear(10));
#elif defined(mistake_layer_with_its_inputs)
  const nn::network<float> other(nn::shape{784}, nn::linear(784, 128));
#elif defined(mistake_convolution_with_its_inputs)
  const nn::network<float> other(nn::shape{1, 28, 28}, nn::conv2d(1, 16, 3));
#elif defined(mistake_layer_with_a_misspelt_option)
  const nn::network<float> other(nn::shape{1, 28, 28}, nn::conv2d(16, 3, {.pad = 1}));
#elif defined(mistake_layer_without_parentheses)
  const nn::network<float> other(nn::shape{784}, nn::linear(128), nn::relu);
#elif defined(mistake_recipe_with_a_member_of_another_form)
  struct recipe : good {
    train::samples validation_data() { return {}; }
  };
  train::trainer trainer(recipe{});
#elif defined(mistake_recipe_without_loss)
  struct recipe {
    nn::network<float> model() const { return {}; }
    nn::adam optimizer() const { return nn::adam(); }
    train::samples training_data() const { return {}; }
  };
  train::trainer trainer(recipe{});
#elif defined(mistake_recipe_that_may_change)
  struct recipe {
    nn::network<float> model() { return {}; }
    nn::adam optimizer() { return nn::adam(); }
    nn::loss loss() { return nn::mse(); }
    train::samples training_data() { return {}; }
  };
  train::trainer trainer(recipe{});
#elif defined(mistake_recipe_without_serialize)
  struct recipe : good {
    float rate = 1e-3F;
  };
  train::trainer trainer(recipe{});
#elif defined(mistake_member_without_serialize)
  train::trainer trainer(with_limits{}, {.workers = 2});
#elif defined(mistake_trainer_of_a_network)
  train::trainer trainer(net, {.workers = 2});
#elif defined(mistake_trainer_with_a_misspelt_option)
  train::trainer trainer(good{}, {.worker = 2, .batch = 32});
#elif defined(mistake_trainer_with_a_number)
  train::trainer trainer(good{}, 2);
#elif defined(mistake_fit_with_a_number)
  train::trainer trainer(good{});
  trainer.fit(10);
#elif defined(mistake_fit_with_a_misspelt_option)
  train::trainer trainer(good{});
  trainer.fit({.epoch = 10});
#elif defined(mistake_callback_of_another_argument)
  train::fit_options o{.epochs = 3, .callbacks = {{.on_batch = [](int step) { return step < 100; }}}};
#elif defined(mistake_pictures_without_a_reader)
  train::picture_folder<std::string> pictures("photos");
#elif defined(mistake_optimizer_with_a_misspelt_option)
  const nn::sgd other({.lr = 0.1, .momentum = 0.9});
#elif defined(mistake_optimizer_with_a_number)
  const nn::adam other(1e-3);
#elif defined(mistake_optimizer_of_parameters)
  const nn::adam other(net.parameters(), {.rate = 1e-3});
#elif defined(mistake_step_of_parameters_alone)
  optimizer.step(net.parameters());
#elif defined(mistake_step_of_nothing)
  optimizer.step();
#elif defined(mistake_step_of_gradients_and_parameters)
  optimizer.step(net.gradients(), net.parameters());
#elif defined(mistake_backward_of_a_loss)
  net.backward(0.5F);
#elif defined(mistake_forward_of_a_vector)
  net.forward(std::vector<float>(4));
#elif defined(mistake_forward_of_doubles)
  net.forward(nn::matrix<double>(4, 1));
#elif defined(mistake_loss_with_a_misspelt_option)
  const nn::loss l = nn::cross_entropy({.label_smoothing = 0.1});
#elif defined(mistake_classes_of_another_type)
  auto [value, dy] = nn::cross_entropy(x, std::vector<long>{1});
#elif defined(mistake_numbers_as_a_vector)
  auto [value, dy] = nn::mse(x, std::vector<float>{1});
#elif defined(mistake_samples_in_rows)
  const train::samples s(std::vector<std::vector<float>>{{1, 2}}, std::vector<int>{0});
#elif defined(mistake_samples_without_targets)
  const train::samples s(x);
#elif defined(mistake_model_of_a_recipe)
  const auto m = train::load_model<good>("checkpoint");
#elif defined(mistake_trainer_of_nothing)
  train::trainer<good> trainer;
#elif defined(mistake_fit_with_two_numbers)
  train::trainer trainer(good{});
  trainer.fit(10, 32);
#elif defined(mistake_data_parallel_without_team)
  train::data_parallel ddp(net);
#elif defined(mistake_data_parallel_on_a_communicator)
  train::data_parallel ddp(MPI_COMM_WORLD, net);
#elif defined(mistake_predictions_of_classes)
  const auto y = train::predict(net, std::vector<int>{1});
#elif defined(mistake_predictions_of_classes_by_a_trainer)
  train::trainer trainer(good{});
  const auto y = trainer.predict(std::vector<int>{1});
#elif defined(mistake_evaluation_without_recipe)
  const auto s = train::evaluate(net, train::samples());
#elif defined(mistake_evaluation_of_two_arrays)
  train::trainer trainer(good{});
  const auto s = trainer.evaluate(x, std::vector<int>{1});
#elif defined(mistake_samples_of_three_arrays)
  const train::samples s(x, x, std::vector<float>{1});
#elif defined(mistake_read_ahead_with_a_misspelt_option)
  train::read_ahead data(train::shards(), {.windows = 2});
#elif defined(mistake_graph_with_the_layer_last)
  nn::graph g;
  const nn::node in = g.input({4}), h = g.add(in, nn::linear(3));
#elif defined(mistake_graph_of_two_nodes)
  nn::graph g;
  const nn::node in = g.input({4}), h = g.add("joined", nn::linear(3), in, in);
#elif defined(mistake_network_of_a_graph)
  nn::graph g;
  const nn::network<float> other(g);
#elif defined(mistake_loss_with_a_number)
  auto [value, dy] = nn::cross_entropy(x, std::vector<int>{1}, 0.1);
#elif defined(mistake_layer_with_its_activation)
  const nn::network<float> other(nn::shape{784}, nn::linear(10, "relu"));
#elif defined(mistake_oblong_filter)
  const nn::network<float> other(nn::shape{1, 28, 28}, nn::conv2d(16, {3, 3}));
#elif defined(mistake_residual_of_many)
  const nn::network<float> other(nn::shape{4}, nn::residual(nn::linear(4), nn::relu(), nn::linear(4)));
#elif defined(mistake_server_with_a_misspelt_option)
  train::parameter_server server(net.parameters(), nn::adam(), {.shard = 2});
#elif defined(mistake_server_of_a_network)
  train::parameter_server server(net, nn::adam());
#else
  train::trainer trainer(good{}, {.workers = 2, .batch = 32});
  trainer.fit({.epochs = 10, .callbacks = {{.on_batch = [](const train::summary&) { return true; }}}});
  (void)trainer.predict(x);
  (void)trainer.predict(nn::matrix<double>(4, 1).leftCols(1));
  (void)trainer.predict({x, std::vector<int>()});
  (void)trainer.evaluate({x, std::vector<int>()});
  (void)train::predict(net, x.leftCols(1));
  (void)train::predict(net, train::samples());
  (void)train::evaluate(good{}, net, train::samples());
  train::read_ahead data(train::shards("x.npy", "y.npy"), {.window = 2});
  const train::shards some({"x0.npy", "x1.npy"}, {"y0.npy", "y1.npy"}), one({"x.npy"}, {"y.npy"}, {.most = 3});
  nn::graph g;
  const nn::node in = g.input({4}), h = g.add("hidden", nn::linear(3), g.add(nn::tanh(), in));
  const nn::network<float> of_graph(g.input_shape(), g.outputs({h})), copy = of_graph;
  const nn::sgd other({.rate = 0.1, .groups = {{.arrays = "*.bias", .weight_decay = 0}}});
  nn::optimizer any = other;
  any = nn::lbfgs();
  optimizer.step(net);
  optimizer.step(net.parameters(), net.gradients());
  auto [value, dy] = nn::cross_entropy(net.forward(x), std::vector<int>{1, 2}, {.smoothing = 0.1});
  net.forward(x.leftCols(1));
  net.backward(dy);
  net.freeze("0.*");
  const train::samples pairs(std::vector<std::pair<std::vector<float>, int>>{});
  train::parameter_server server(net.parameters(), nn::adam(), {.shards = 2});
  train::parameter_server of_numbers(std::vector<double>(3), nn::adam());
#endif
}

}  // namespace

int main(int argc, char** argv) { return manta::run(argc, argv, driver); }
