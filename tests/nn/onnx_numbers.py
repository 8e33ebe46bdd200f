# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Runs ONNX models by the definitions of the operators, in NumPy, and compares what they give.

  onnx_numbers.py FOLDER

For each NAME.onnx of the folder NAME.npz has `x` and `y`. Prints the name and the largest difference; a model that
onnx.checker refuses ends the program.
"""
import math
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

erf = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def windows(x, size, strides, pads, dilations, fill):
    """An axis for each of the window's offsets behind those of x; batch and channels come first."""
    axes = len(size)
    x = np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[axes + i]) for i in range(axes)], constant_values=fill)
    reach = [d * (k - 1) + 1 for k, d in zip(size, dilations)]
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, axis=tuple(range(2, 2 + axes)))
    outer = tuple(slice(None, None, s) for s in strides)
    inner = tuple(slice(None, None, d) for d in dilations)
    return seen[(slice(None), slice(None)) + outer + inner]


def conv(x, w, b=None, *, kernel_shape, strides, pads, dilations, group):
    axes = len(kernel_shape)
    seen = windows(x, kernel_shape, strides, pads, dilations, 0)
    results = []
    for g in range(group):
        per, out = w.shape[1], w.shape[0] // group
        part = seen[:, g * per:(g + 1) * per]
        filters = w[g * out:(g + 1) * out]
        y = np.tensordot(part, filters, ([1] + list(range(2 + axes, 2 + 2 * axes)), list(range(1, 2 + axes))))
        results.append(np.moveaxis(y, -1, 1))
    y = np.concatenate(results, axis=1)
    return y if b is None else y + b.reshape((1, -1) + (1,) * axes)


def conv_transpose(x, w, b=None, *, strides, pads, output_padding=(0, 0), **_):
    n, _, height, width = x.shape
    _, channels, ky, kx = w.shape
    whole = np.zeros((n, channels, (height - 1) * strides[0] + ky + output_padding[0],
                      (width - 1) * strides[1] + kx + output_padding[1]))
    for i in range(height):
        for j in range(width):
            at = (slice(None), slice(None), slice(i * strides[0], i * strides[0] + ky),
                  slice(j * strides[1], j * strides[1] + kx))
            whole[at] += np.einsum("nc,cokl->nokl", x[:, :, i, j], w)
    y = whole[:, :, pads[0]:whole.shape[2] - pads[2], pads[1]:whole.shape[3] - pads[3]]
    return y if b is None else y + b.reshape(1, -1, 1, 1)


def max_pool(x, *, kernel_shape, strides, pads):
    seen = windows(x, kernel_shape, strides, pads, [1] * len(strides), -np.inf)
    return seen.max(axis=tuple(range(-len(strides), 0)))


def average_pool(x, *, kernel_shape, strides, pads):  # padding does not count
    seen = windows(x, kernel_shape, strides, pads, [1] * len(strides), np.nan)
    return np.nanmean(seen, axis=tuple(range(-len(strides), 0)))


def resize(x, _, scales, *, mode, coordinate_transformation_mode, nearest_mode):
    assert coordinate_transformation_mode == ("half_pixel" if mode == "linear" else "asymmetric"), nearest_mode
    for axis in (2, 3):
        count = x.shape[axis]
        at = np.arange(int(count * scales[axis]))
        if mode == "nearest":
            x = np.take(x, np.floor(at / scales[axis]).astype(int), axis)
            continue
        place = np.clip((at + 0.5) / scales[axis] - 0.5, 0, count - 1)
        low = np.floor(place).astype(int)
        part = (place - low).reshape([-1 if a == axis else 1 for a in range(4)])
        x = np.take(x, low, axis) * (1 - part) + np.take(x, np.minimum(low + 1, count - 1), axis) * part
    return x


def normalise(x, axes, epsilon):
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + epsilon)


def per_channel(v, x):
    return v.reshape((1, -1) + (1,) * (x.ndim - 2))


def batch_norm(x, scale, bias, mean, var, *, epsilon):
    p = [per_channel(v, x) for v in (scale, bias, mean, var)]
    return (x - p[2]) / np.sqrt(p[3] + epsilon) * p[0] + p[1]


def instance_norm(x, scale, bias, *, epsilon):
    return normalise(x, tuple(range(2, x.ndim)), epsilon) * per_channel(scale, x) + per_channel(bias, x)


def layer_norm(x, scale, bias, *, axis, epsilon):
    return normalise(x, tuple(range(axis % x.ndim, x.ndim)), epsilon) * scale + bias


def recurrent(step, states):
    def run(x, w, r, b, *, hidden_size, direction, linear_before_reset=1):
        assert linear_before_reset == 1
        ways = []
        for way in range(2 if direction == "bidirectional" else 1):
            state = [np.zeros((x.shape[1], hidden_size)) for _ in range(states)]
            gates = b.shape[1] // 2
            results = [None] * len(x)
            for t in range(len(x)) if way == 0 else reversed(range(len(x))):
                state = step(x[t] @ w[way].T + b[way, :gates], lambda h: h @ r[way].T + b[way, gates:], state)
                results[t] = state[0]
            ways.append(np.stack(results))
        return np.stack(ways, axis=1)
    return run


def lstm_step(inputs, hidden, state):
    i, o, f, c = np.split(inputs + hidden(state[0]), 4, axis=1)
    cell = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(c)
    return [sigmoid(o) * np.tanh(cell), cell]


def gru_step(inputs, hidden, state):
    (zi, ri, ni), (zh, rh, nh) = np.split(inputs, 3, axis=1), np.split(hidden(state[0]), 3, axis=1)
    z, n = sigmoid(zi + zh), np.tanh(ni + sigmoid(ri + rh) * nh)
    return [(1 - z) * n + z * state[0]]


def sliced(x, starts, ends, axes):
    at = [slice(None)] * x.ndim
    at[axes[0]] = slice(starts[0], ends[0])
    return x[tuple(at)]


OPERATORS = {
    "Add": lambda a, b: a + b,
    "AveragePool": average_pool,
    "BatchNormalization": batch_norm,
    "Cast": lambda x, *, to: x.astype(np.int64),
    "Concat": lambda *all, axis: np.concatenate(all, axis),
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "Elu": lambda x, *, alpha: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))),
    "Erf": erf,
    "Flatten": lambda x, *, axis: x.reshape(x.shape[0], -1),
    "GRU": recurrent(gru_step, 1),
    "Gather": lambda x, i, *, axis: np.take(x, i, axis),
    "Gemm": lambda x, w, b=0, *, transB: x @ (w.T if transB else w) + b,
    "Identity": lambda x: x,
    "InstanceNormalization": instance_norm,
    "LSTM": recurrent(lstm_step, 2),
    "LayerNormalization": layer_norm,
    "LeakyRelu": lambda x, *, alpha: np.where(x > 0, x, alpha * x),
    "MatMul": lambda a, b: a @ b,
    "MaxPool": max_pool,
    "Mul": lambda a, b: a * b,
    "ReduceMean": lambda x, *, axes, keepdims: x.mean(axis=tuple(axes)),
    "Relu": lambda x: np.maximum(x, 0),
    "Reshape": lambda x, to: x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(to)]),
    "Resize": resize,
    "Sigmoid": sigmoid,
    "Slice": sliced,
    "Softmax": lambda x, *, axis: softmax(x, axis),
    "Softplus": lambda x: np.logaddexp(x, 0),
    "Sum": lambda *all: sum(all),
    "Tanh": np.tanh,
    "Transpose": lambda x, *, perm: x.transpose(perm),
}


def run(model, x):
    values = {t.name: numpy_helper.to_array(t).astype(np.float64 if t.data_type == 1 else np.int64)
              for t in model.graph.initializer}
    values[""] = None
    values[model.graph.input[0].name] = x
    for node in model.graph.node:
        settings = {}
        for a in node.attribute:
            value = helper.get_attribute_value(a)
            settings[a.name] = value.decode() if isinstance(value, bytes) else value
        values[node.output[0]] = OPERATORS[node.op_type](*[values[i] for i in node.input], **settings)
    return values[model.graph.output[0].name]


for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
    model = onnx.load(str(path))
    onnx.checker.check_model(model, full_check=True)  # shapes too
    data = np.load(path.with_suffix(".npz"))
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim][1:]
    y = run(model, data["x"].astype(np.float64).reshape([-1] + shape))
    told = [d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim][1:]
    assert list(y.shape[1:]) == told, (path.name, y.shape, told)
    print(path.stem, np.abs(y.reshape(data["y"].shape) - data["y"]).max() / max(1, np.abs(data["y"]).max()))
