// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/error.hpp"
#include "manta/nn/layers.hpp"

namespace manta::nn {

namespace detail {
inline spec with_start(spec s, start how, double gain) {
  return s.with("start", static_cast<double>(how), 0).with("gain", gain, 1);
}
inline spec pool(const char* kind, int size, const pool_options& options) {
  return spec{kind, {size}, {}, {}}.with("stride", options.stride, 0).with("padding", options.padding, 0);
}
inline spec plain(const char* kind) { return {kind, {}, {}, {}}; }
}  // namespace detail

MANTA_DECL spec linear(int outputs, const linear_options& options) {
  return detail::with_start(spec{"linear", {outputs}, {}, {}}.with("bias", options.bias, 1), options.start,
                            options.gain);
}

MANTA_DECL spec tied_linear(int layer, const tied_linear_options& options) {
  return spec{"tied_linear", {layer}, {}, {}}.with("transposed", options.transposed, 0).with("bias", options.bias, 1);
}

MANTA_DECL spec relu() { return detail::plain("relu"); }
MANTA_DECL spec tanh() { return detail::plain("tanh"); }
MANTA_DECL spec sigmoid() { return detail::plain("sigmoid"); }
MANTA_DECL spec gelu() { return detail::plain("gelu"); }
MANTA_DECL spec leaky_relu(double slope) { return detail::plain("leaky_relu").with("slope", slope, 0.01); }
MANTA_DECL spec elu(double alpha) { return detail::plain("elu").with("alpha", alpha, 1); }
MANTA_DECL spec silu() { return detail::plain("silu"); }
MANTA_DECL spec softplus() { return detail::plain("softplus"); }
MANTA_DECL spec softmax() { return detail::plain("softmax"); }

namespace detail {
inline spec convolution(const char* kind, int channels, int size, const conv2d_options& options) {
  return with_start(spec{kind, {channels, size}, {}, {}}
                        .with("stride", options.stride, 1)
                        .with("padding", options.padding, 0)
                        .with("dilation", options.dilation, 1)
                        .with("groups", options.groups, 1)
                        .with("bias", options.bias, 1),
                    options.start, options.gain);
}
}  // namespace detail
MANTA_DECL spec conv2d(int channels, int size, const conv2d_options& options) {
  return detail::convolution("conv2d", channels, size, options);
}
MANTA_DECL spec conv3d(int channels, int size, const conv3d_options& options) {
  return detail::convolution("conv3d", channels, size, options);
}
MANTA_DECL spec conv1d(int features, int size, const conv1d_options& options) {
  return detail::with_start(spec{"conv1d", {features, size}, {}, {}}
                                .with("stride", options.stride, 1)
                                .with("padding", options.padding, 0)
                                .with("dilation", options.dilation, 1)
                                .with("bias", options.bias, 1),
                            options.start, options.gain);
}
MANTA_DECL spec conv2d_transposed(int channels, int size, const conv2d_transposed_options& options) {
  return detail::with_start(spec{"conv2d_transposed", {channels, size}, {}, {}}
                                .with("stride", options.stride, 1)
                                .with("padding", options.padding, 0)
                                .with("more", options.more, 0)
                                .with("bias", options.bias, 1),
                            options.start, options.gain);
}
MANTA_DECL spec upsample(int factor, const upsample_options& options) {
  return spec{"upsample", {factor}, {}, {}}.with("bilinear", options.bilinear, 0);
}
MANTA_DECL spec max_pool(int size, const pool_options& options) { return detail::pool("max_pool", size, options); }
MANTA_DECL spec average_pool(int size, const pool_options& options) {
  return detail::pool("average_pool", size, options);
}

MANTA_DECL spec batch_norm(const batch_norm_options& options) {
  return detail::plain("batch_norm")
      .with("momentum", options.momentum, 0.1)
      .with("epsilon", options.epsilon, 1e-5)
      .with("all_workers", options.all_workers, 0);
}
MANTA_DECL spec layer_norm(double epsilon) { return detail::plain("layer_norm").with("epsilon", epsilon, 1e-5); }
MANTA_DECL spec group_norm(int groups, double epsilon) {
  return spec{"group_norm", {groups}, {}, {}}.with("epsilon", epsilon, 1e-5);
}
MANTA_DECL spec dropout(double probability) { return detail::plain("dropout").with("probability", probability, 0); }

MANTA_DECL spec embedding(int words, int features) { return {"embedding", {words, features}, {}, {}}; }
MANTA_DECL spec positions() { return detail::plain("positions"); }
MANTA_DECL spec lstm(int features, const recurrent_options& options) {
  return detail::with_start({"lstm", {features}, {}, {}}, options.start, options.gain);
}
MANTA_DECL spec gru(int features, const recurrent_options& options) {
  return detail::with_start({"gru", {features}, {}, {}}, options.start, options.gain);
}
MANTA_DECL spec bidirectional(const spec& recurrent) {
  if (recurrent.kind != "lstm" && recurrent.kind != "gru")
    throw error("manta: nn: bidirectional takes an lstm or a gru, and got " + recurrent.text());
  return {"bidirectional", {}, {}, {recurrent}};
}
MANTA_DECL spec attention(int heads, const attention_options& options) {
  return spec{"attention", {heads}, {}, {}}.with("causal", options.causal, 0);
}
MANTA_DECL spec step_attention(int heads, int length) { return {"step_attention", {heads, length}, {}, {}}; }
MANTA_DECL spec last() { return detail::plain("last"); }
MANTA_DECL spec reshape(const shape& out) { return {"reshape", out.extents(), {}, {}}; }
MANTA_DECL spec mean() { return detail::plain("mean"); }
MANTA_DECL spec masked(int padding, std::vector<spec> layers) { return {"masked", {padding}, {}, std::move(layers)}; }
MANTA_DECL spec flatten() { return detail::plain("flatten"); }

MANTA_DECL spec sequential(std::vector<spec> layers) { return {"sequential", {}, {}, std::move(layers)}; }
MANTA_DECL spec residual(const spec& layer) { return {"residual", {}, {}, {layer}}; }
MANTA_DECL spec residual(const spec& layer, const spec& shortcut) { return {"residual", {}, {}, {layer, shortcut}}; }
MANTA_DECL spec part(const shape& in, std::vector<spec> layers) {
  return {"part", in.extents(), {}, std::move(layers)};
}
MANTA_DECL spec parts(std::vector<spec> all) { return {"parts", {}, {}, std::move(all)}; }

}  // namespace manta::nn
