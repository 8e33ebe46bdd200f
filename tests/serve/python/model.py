# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Models for python_test.cpp."""
import os
import signal
import time

import numpy as np


def predict(x):
    """Twice each row; ends badly for rows that begin with -1 (an exception), -2 (a crash), -3 (a hang), -4 (wrong)."""
    assert x.dtype == np.float32 and x.ndim == 2, (x.dtype, x.shape)
    if (x[:, 0] == -1).any():
        raise ValueError('no luck with %s' % x[0].tolist())
    if (x[:, 0] == -2).any():
        print('last words of the model', flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if (x[:, 0] == -3).any():
        time.sleep(100)
    if (x[:, 0] == -4).any():
        return x[0]
    return 2 * x


def sizes_and_sums(x):
    return np.full(len(x), x.shape[1]), x.sum(axis=1)


def upper(texts):
    return [t.upper() for t in texts]


def join(points):
    return [{'x': p['y'], 'y': np.float64(p['x']), 'label': '%d in a batch' % len(points)} for p in points]


class Model:
    def __init__(self, factor=1):
        self.factor = factor
        self.calls = 0

    def scale(self, x):
        self.calls += 1
        return self.factor * x

    def reconfigure(self, settings):
        self.factor = settings['factor']

    def healthy(self):
        return self.calls < 2
