// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The layers that a network may consist of, as the program writes them. Each function gives a spec (spec.hpp), which
// knows neither the shape of its input nor the scalar type: the network fills them in, and checks them.
//
// Shapes of a sample: {features}, a vector; {length, features}, a sequence of positions; {channels, height, width}, an
// image. Layers that work on vectors take a sequence position by position.
//
// Sequences, for lstm and gru, lie in either of two ways. A column has a whole sequence, shape {length, features},
// which begins at the state zero; the result is a sequence as well, and last() is its last position. Or a column has
// one step, shape {features}, and network::forward(x, state, resets) carries the state: from call to call for a
// simulation that goes on, and through the steps of one call for training. The parameters are alike in both.
#pragma once

#include <concepts>
#include <initializer_list>
#include <vector>

#include "manta/base/unknown_options.hpp"
#include "manta/nn/shape.hpp"
#include "manta/nn/spec.hpp"

namespace manta::nn {

/// How a layer's weights are drawn by network::initialise. Biases are 0, but for `standard`.
enum class start {
  standard,    ///< uniform within 1 / sqrt(inputs), biases too: what PyTorch does
  he,          ///< normal with variance gain^2 * 2 / inputs, for relu (He et al., 2015)
  glorot,      ///< uniform within gain * sqrt(6 / (inputs + outputs)) (Glorot, Bengio, 2010)
  orthogonal,  ///< orthogonal rows or columns, times gain (Saxe et al., 2014); usual in reinforcement learning
  zero,
};

struct linear_options {
  bool bias = true;
  nn::start start = start::standard;
  double gain = 1;
};
struct conv2d_options {
  int stride = 1;
  int padding = 0;   ///< rows and columns of zeros on each side
  int dilation = 1;  ///< distance between neighbouring pixels of a filter
  int groups = 1;    ///< parts of the channels, which are filtered apart; as many as channels: depthwise convolution
  bool bias = true;
  nn::start start = start::standard;
  double gain = 1;
};
/// For volumes, what is said of rows and columns goes for planes as well.
using conv3d_options = conv2d_options;
struct tied_linear_options {
  bool transposed = false;  ///< W^T instead of W, for an autoencoder's way back
  bool bias = true;         ///< the layer's own
};
struct conv1d_options {
  int stride = 1;
  int padding = 0;   ///< positions of zeros on each side
  int dilation = 1;  ///< distance between neighbouring positions of a filter
  bool bias = true;
  nn::start start = start::standard;
  double gain = 1;
};
struct conv2d_transposed_options {
  int stride = 1;
  int padding = 0;  ///< that of the opposite convolution: rows and columns that the result lacks on each side
  int more = 0;     ///< rows and columns that the result has more at its end: PyTorch's output_padding
  bool bias = true;
  nn::start start = start::standard;
  double gain = 1;
};
struct upsample_options {
  bool bilinear = false;  ///< between the nearest pixels, instead of the nearest one
};
struct pool_options {
  int stride = 0;   ///< 0: the size
  int padding = 0;  ///< on each side; counts neither as a maximum nor in a mean
};
struct batch_norm_options {
  double momentum = 0.1;     ///< the part of a new mean in the running one
  double epsilon = 1e-5;     ///< added to the variance
  bool all_workers = false;  ///< statistics over all workers, by pass::sum_over_workers
};
struct recurrent_options {
  nn::start start = start::standard;  ///< standard: uniform within 1 / sqrt(features), biases too
  double gain = 1;
};
struct attention_options {
  bool causal = false;  ///< a position attends to itself and those before it
};

/// y = W x + b. An image counts as a vector.
MANTA_DECL spec linear(int outputs, const linear_options& options = {});

/// Numbers of inputs, which other libraries ask for, and options of other names are refused in a sentence.
spec linear(int, int) = delete;  // manta: linear(outputs): its inputs are the outputs of the layer before
template <std::size_t N>
spec linear(int, base::unknown_options<N>) = delete;  // manta: nn::linear_options has no such name, or other types
template <std::same_as<int>... Others>
spec conv2d(  // manta: conv2d(channels, size): its inputs are those of the layer before
    int, int, int, Others...) = delete;
spec conv2d(int, std::initializer_list<int>) = delete;  // manta: nn: filters are square: conv2d(channels, 3)
spec conv2d(int, int, const char*) = delete;  // manta: nn: an activation is a layer of its own, such as nn::relu()
spec linear(int, const char*) = delete;       // manta: nn: an activation is a layer of its own, such as nn::relu()
template <std::size_t N>
spec conv2d(int, int, base::unknown_options<N>) = delete;  // manta: nn::conv2d_options has no such name
spec batch_norm(int) = delete;  // manta: batch_norm(): its features are the outputs of the layer before
spec lstm(int, int) = delete;   // manta: lstm(features): its inputs are the outputs of the layer before
spec gru(int, int) = delete;    // manta: gru(features): its inputs are the outputs of the layer before

/// y = W x + b with the weights W of another layer, a linear or an embedding, which is counted by `layer` from 0 in the
/// same network, sequential or node of a graph, and stands before this one. Both train the same numbers, which the
/// network has once, under the other layer's name.
///
///   nn::network<float> words(nn::shape{32}, nn::embedding(1000, 64), nn::lstm(64), nn::tied_linear(0));
MANTA_DECL spec tied_linear(int layer, const tied_linear_options& options = {});

MANTA_DECL spec relu();
MANTA_DECL spec tanh();
MANTA_DECL spec sigmoid();
MANTA_DECL spec gelu();
/// x above 0, and `slope` x below.
MANTA_DECL spec leaky_relu(double slope = 0.01);
/// x above 0, and `alpha` (e^x - 1) below.
MANTA_DECL spec elu(double alpha = 1);
/// x times its sigmoid, also called swish.
MANTA_DECL spec silu();
/// log(1 + e^x).
MANTA_DECL spec softplus();
/// Over the features. A network that is trained by cross_entropy ends without it.
MANTA_DECL spec softmax();

/// Images to images with the given number of channels, by filters of size x size.
MANTA_DECL spec conv2d(int channels, int size, const conv2d_options& options = {});
/// Volumes, {channels, depth, height, width}, to volumes, by filters of size x size x size.
MANTA_DECL spec conv3d(int channels, int size, const conv3d_options& options = {});
/// Sequences to sequences with the given number of features, by filters over `size` positions.
MANTA_DECL spec conv1d(int features, int size, const conv1d_options& options = {});
/// The way back of a convolution: images to larger images, (height - 1) * stride - 2 * padding + size + more high.
MANTA_DECL spec conv2d_transposed(int channels, int size, const conv2d_transposed_options& options = {});
/// Images to images `factor` times as high and as wide.
MANTA_DECL spec upsample(int factor, const upsample_options& options = {});
/// Windows of size x size of each channel of an image, of size positions of each feature of a sequence, or of size x
/// size x size of each channel of a volume. A size of 0 stands for the whole image, sequence or volume.
MANTA_DECL spec max_pool(int size, const pool_options& options = {});
MANTA_DECL spec average_pool(int size, const pool_options& options = {});

/// Over the batch: for each channel of an image, or each feature. In training a batch needs two numbers of a channel;
/// only what is left of an epoch may have one, and takes the running means (pass::is_rest).
MANTA_DECL spec batch_norm(const batch_norm_options& options = {});
/// Over all numbers of a sample; over the features of each position of a sequence.
MANTA_DECL spec layer_norm(double epsilon = 1e-5);
/// Over each group of channels of a sample, an image or a vector. As many groups as channels: instance norm.
MANTA_DECL spec group_norm(int groups, double epsilon = 1e-5);
/// In training sets numbers to zero with this probability, and scales the others to keep the mean. What is dropped
/// follows pass::seed, pass::step and the sample's number.
MANTA_DECL spec dropout(double probability);

/// From {length}, numbers of words, to {length, features}: a vector of parameters for each word.
MANTA_DECL spec embedding(int words, int features);
/// Adds a vector of parameters to each position of a sequence.
MANTA_DECL spec positions();
MANTA_DECL spec lstm(int features, const recurrent_options& options = {});
MANTA_DECL spec gru(int features, const recurrent_options& options = {});
/// An lstm or a gru over whole sequences in both directions, with twice as many features: first those of the way there.
MANTA_DECL spec bidirectional(const spec& recurrent);
/// Each position attends to all positions of the sequence. The features are divided among the heads.
MANTA_DECL spec attention(int heads, const attention_options& options = {});
/// Each step attends to itself and the `length` - 1 steps before it. For networks that run step by step, as lstm: the
/// carried state has what is remembered. Usual inside of residual(..).
MANTA_DECL spec step_attention(int heads, int length);
/// The last position of a sequence.
MANTA_DECL spec last();
/// The mean over the positions of a sequence.
MANTA_DECL spec mean();
/// For sequences of different lengths, {length} words or {length, features} numbers, of which those at the end are
/// `padding` where a sequence is shorter: attention, bidirectional, last and mean in these layers leave such positions
/// out. A loss for each position leaves them out by cross_entropy({.ignore = ..}). No layer may change the number of
/// positions.
///
///   nn::masked(0, {nn::embedding(1000, 64), nn::attention(4), nn::mean(), nn::linear(2)})
MANTA_DECL spec masked(int padding, std::vector<spec> layers);
/// As one vector.
MANTA_DECL spec flatten();
/// Gives the numbers another shape, and leaves them in their order.
MANTA_DECL spec reshape(const shape& out);

/// Layers that count as one.
MANTA_DECL spec sequential(std::vector<spec> layers);
template <std::convertible_to<spec>... Layers>
spec sequential(const spec& first, const Layers&... others) {
  return sequential(std::vector<spec>{first, others...});
}
/// layer(x) + x.
MANTA_DECL spec residual(const spec& layer);
/// layer(x) + shortcut(x), where the shape changes.
MANTA_DECL spec residual(const spec& layer, const spec& shortcut);
template <class... Layers>
spec residual(  // manta: nn: residual(nn::sequential(layers..)), or residual(layer, shortcut)
    const spec&, const spec&, const spec&, const Layers&...) = delete;
/// Layers beside each other: the input's numbers are those of the parts, one after the other, each of which goes
/// through layers of its own; the results are joined to one vector.
///
///   nn::parts({nn::part({3, 64, 64}, {nn::conv2d(16, 3), nn::relu()}), nn::part({5}, {})})
MANTA_DECL spec parts(std::vector<spec> all);
/// A part of the input, of this shape. Without layers it is joined as it is.
MANTA_DECL spec part(const shape& in, std::vector<spec> layers);

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/layers.ipp"
#endif
