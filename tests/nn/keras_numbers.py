# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Weights as Keras has them, and what its layers give with these, by their definitions, in NumPy.

  keras_numbers.py FOLDER

Writes NAME.npz with the weights, in the order of model.get_weights() or by names, and NAME.xy.npz with x and y as
channels first, a row a sample.
"""
import sys

import numpy as np

random = np.random.default_rng(7)
folder = sys.argv[1]


def draw(*shape):
    return random.normal(size=shape, scale=0.5)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def conv(x, kernel, bias, stride=1, groups=1):
    """x: batch, the axes, channels; kernel: the window, inputs, outputs."""
    axes = x.ndim - 2
    window = kernel.shape[:axes]
    seen = np.lib.stride_tricks.sliding_window_view(x, window, axis=tuple(range(1, 1 + axes)))
    seen = seen[(slice(None),) + (slice(None, None, stride),) * axes]
    inputs, outputs = kernel.shape[axes], kernel.shape[axes + 1] // groups
    parts = []
    for g in range(groups):
        part = seen[(Ellipsis, slice(g * inputs, (g + 1) * inputs)) + (slice(None),) * axes]
        filters = kernel[..., g * outputs:(g + 1) * outputs]
        over = list(range(part.ndim - axes, part.ndim)) + [part.ndim - axes - 1]
        parts.append(np.tensordot(part, filters, (over, list(range(axes + 1)))))
    return np.concatenate(parts, axis=-1) + bias


def depthwise(x, kernel, bias):
    """kernel: height, width, channels, multiplier."""
    seen = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[:2], axis=(1, 2))
    y = np.einsum("nijcyx,yxcm->nijcm", seen, kernel)
    return y.reshape(y.shape[:3] + (-1,)) + bias


def conv_transpose(x, kernel, bias, stride):
    """kernel: height, width, outputs, inputs; padding "valid"."""
    n, height, width, _ = x.shape
    size = kernel.shape[0]
    y = np.zeros((n, (height - 1) * stride + size, (width - 1) * stride + size, kernel.shape[2]))
    for i in range(height):
        for j in range(width):
            y[:, i * stride:i * stride + size, j * stride:j * stride + size] += np.einsum(
                "nc,yxoc->nyxo", x[:, i, j], kernel)
    return y + bias


def batch_norm(x, gamma, beta, mean, variance):
    return (x - mean) / np.sqrt(variance + 1e-3) * gamma + beta


def layer_norm(x, gamma, beta, axes=(-1,)):
    mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-3) * gamma + beta


def lstm(x, kernel, recurrent, bias):
    h = c = np.zeros((len(x), recurrent.shape[0]))
    results = []
    for t in range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        results.append(h)
    return np.stack(results, axis=1)


def gru(x, kernel, recurrent, bias):
    """reset_after=True: the reset gate multiplies the hidden state's part of the candidate."""
    h = np.zeros((len(x), recurrent.shape[0]))
    results = []
    for t in range(x.shape[1]):
        xz, xr, xh = np.split(x[:, t] @ kernel + bias[0], 3, axis=1)
        hz, hr, hh = np.split(h @ recurrent + bias[1], 3, axis=1)
        z, r = sigmoid(xz + hz), sigmoid(xr + hr)
        h = z * h + (1 - z) * np.tanh(xh + r * hh)
        results.append(h)
    return np.stack(results, axis=1)


def attention(x, query, query_bias, key, key_bias, value, value_bias, output, output_bias):
    q, k, v = (np.einsum("nle,ehd->nhld", x, w) + b[:, None] for w, b in
               ((query, query_bias), (key, key_bias), (value, value_bias)))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(query.shape[2])
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = scores / scores.sum(axis=-1, keepdims=True) @ v
    return np.einsum("nhld,hde->nle", mixed, output) + output_bias


def norm_weights(*shape):
    return [1 + draw(*shape), draw(*shape)]


def channels_first(x):
    return np.moveaxis(x, -1, 1) if x.ndim > 3 else x


def write(name, weights, x, y):
    if isinstance(weights, dict):
        np.savez(f"{folder}/{name}.npz", **weights)
    else:
        np.savez(f"{folder}/{name}.npz", *weights)
    rows = [np.ascontiguousarray(channels_first(a)).reshape(len(a), -1).astype(np.float64) for a in (x, y)]
    np.savez(f"{folder}/{name}.xy.npz", x=rows[0], y=rows[1])


# Convolution, batch norm, flatten, and a dense layer over the flattened image.
x = draw(3, 6, 5, 2)
w = [draw(3, 3, 2, 4), draw(4)] + norm_weights(4) + [draw(4), np.abs(draw(4)) + 0.5, draw(48, 5), draw(5)]
w += norm_weights(5) + [draw(5, 2), draw(2)]
y = np.maximum(batch_norm(conv(x, w[0], w[1]), *w[2:6]), 0).reshape(3, -1)
y = layer_norm(np.tanh(y @ w[6] + w[7]), *w[8:10]) @ w[10] + w[11]
write("images", w, x, y)

# A batch norm between flatten and dense has the features of the image too.
w = [draw(2, 2, 2, 3), draw(3)] + norm_weights(60) + [draw(60), np.abs(draw(60)) + 0.5] + [draw(60, 2), draw(2)]
y = batch_norm(conv(x, w[0], w[1]).reshape(3, -1), *w[2:6]) @ w[6] + w[7]
write("flattened", w, x, y)

# Groups, depthwise, transposed; layer norm over whole images.
x = draw(2, 5, 5, 4)
w = [draw(3, 3, 2, 6), draw(6), draw(2, 2, 6, 2), draw(12), draw(2, 2, 3, 12), draw(3)] + norm_weights(4, 4, 3)
y = conv_transpose(depthwise(conv(x, w[0], w[1], groups=2), w[2], w[3]), w[4], w[5], 2)
y = layer_norm(y, *w[6:8], axes=(1, 2, 3))
write("filters", w, x, y)

# Volumes.
x = draw(2, 4, 5, 4, 2)
w = [draw(2, 2, 2, 2, 3), draw(3), draw(108, 2), draw(2)]
y = conv(x, w[0], w[1]).reshape(2, -1) @ w[2] + w[3]
write("volumes", w, x, y)

# Sequences.
x = draw(3, 6, 4)
w = [draw(2, 4, 5), draw(5), draw(5, 12), draw(3, 12), draw(12), draw(3, 12), draw(4, 12), draw(2, 12), draw(4, 2),
     draw(2)]
y = conv(x, w[0], w[1])
y = gru(lstm(y, *w[2:5]), *w[5:8])[:, -1] @ w[8] + w[9]
write("sequences", w, x, y)

# A layer in both directions, by names.
w = {"model/bidirectional/forward_gru/gru_cell/kernel:0": draw(4, 9),
     "model/bidirectional/forward_gru/gru_cell/recurrent_kernel:0": draw(3, 9),
     "model/bidirectional/forward_gru/gru_cell/bias:0": draw(2, 9),
     "model/bidirectional/backward_gru/gru_cell/kernel:0": draw(4, 9),
     "model/bidirectional/backward_gru/gru_cell/recurrent_kernel:0": draw(3, 9),
     "model/bidirectional/backward_gru/gru_cell/bias:0": draw(2, 9),
     "layers/dense/vars/1": draw(2), "layers/dense/vars/0": draw(6, 2), "iteration": np.array(3)}
a = list(w.values())
y = np.concatenate([gru(x, *a[0:3]), gru(x[:, ::-1], *a[3:6])[:, ::-1]], axis=-1) @ a[7] + a[6]
write("both_ways", w, x, y)

# Words and attention.
words = random.integers(0, 9, (3, 5))
w = [draw(9, 6), draw(5, 6), draw(6, 2, 3), draw(2, 3), draw(6, 2, 3), draw(2, 3), draw(6, 2, 3), draw(2, 3),
     draw(2, 3, 6), draw(6)] + norm_weights(6)
y = w[0][words] + w[1]
y = layer_norm(y + attention(y, *w[2:10]), *w[10:12])
write("words", w, words.astype(np.float64), y)
