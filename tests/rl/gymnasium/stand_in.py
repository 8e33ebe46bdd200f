# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""A module with the interface of Gymnasium, as far as manta uses it: spaces, make, reset, step.

Counter-v0 counts up to `length`; what happens then, and at the step `at`, its arguments say.
"""
import os
import time

import numpy as np


class Discrete:
    def __init__(self, n, start=0):
        self.n, self.start = n, start


class MultiDiscrete:
    def __init__(self, nvec):
        self.nvec = np.array(nvec)


class MultiBinary:
    def __init__(self, n):
        self.n = n


class Box:
    def __init__(self, low, high, shape):
        self.low, self.high, self.shape = np.full(shape, low, np.float32), np.full(shape, high, np.float32), shape
        self.dtype = np.dtype(np.float32)


class Dict:
    def __init__(self, **spaces):
        self.spaces = spaces


class Counter:
    """Observes the count, the sum of actions, the seed of the episode modulo 1000, and the process it lives in."""

    observation_space = Box(-1e9, 1e9, (4,))
    action_space = Discrete(3)

    def __init__(self, length=5, at=-1, what=""):
        self.length, self.at, self.what = length, at, what

    def look(self):
        return np.array([self.count, self.sum, self.seed % 1000, os.getpid()], np.float32)

    def reset(self, seed=None):
        self.count, self.sum, self.seed = 0, 0, seed
        return self.look(), {}

    def step(self, action):
        assert type(action) is int
        self.count += 1
        self.sum += action
        if self.count == self.at:
            if self.what == "crash":
                print("a segment of the leg is gone", flush=True)
                os._exit(7)
            if self.what == "hang":
                print("thinking", flush=True)
                time.sleep(1000)
            if self.what == "raise":
                raise ValueError("the joint is broken")
            if self.what == "once":
                marker = os.environ["MANTA_TEST_MARKER"]
                if not os.path.exists(marker):
                    open(marker, "w").close()
                    os._exit(9)
        end = self.count == self.length
        return self.look(), float(action), end and self.what != "truncate", end and self.what == "truncate", {}


class Reacher:
    """Continuous actions, observations in a dictionary."""

    observation_space = Dict(angles=Box(-1, 1, (2, 2)), mode=Discrete(3))
    action_space = Box(-2, 2, (2,))

    def reset(self, seed=None):
        return {"angles": np.zeros((2, 2)), "mode": 2}, {}

    def step(self, action):
        assert action.shape == (2,) and action.dtype == np.float32
        angles = np.array([action / 2, [0, 1]])
        return {"angles": angles, "mode": 1}, float(action.sum()), False, False, {}


class Cards:
    """Of five choices some are open; another one is an error. Each open one above the choice costs 1.

    `form` says how masks are told: in "info", in the "observation", or for other actions in "parts" or "bits".
    `fault`: what is wrong with them from the third step on.
    """

    def __init__(self, form="info", fault=""):
        self.form, self.fault = form, fault
        cards = Box(0, 1, (5,))
        both = Dict(observation=cards, action_mask=Box(0, 1, (5,)))
        self.observation_space = both if form == "observation" else cards
        spaces = {"parts": MultiDiscrete([2, 3]), "bits": MultiBinary(2)}
        self.action_space = Box(0, 1, (1,)) if fault == "box" else spaces.get(form, Discrete(5, -2))

    def draw(self):
        self.open = self.random.random(5) < 0.4
        self.open[[self.random.integers(2), 2 + self.random.integers(3)]] = True
        seen = self.open.astype(np.float32)
        mask = self.open.astype(np.int8)
        if self.form == "parts":
            mask = (mask[:2], mask[2:])
        if self.form == "bits":  # of the first two choices one has to be 1; the second number is free
            mask = np.array([2 if self.open[0] and self.open[1] else int(self.open[1]), 2])
        if self.count >= 3 and self.fault == "short":
            mask = mask[:3]
        if self.count >= 3 and self.fault == "none":
            mask = 0 * mask
        lost = self.fault == "lost" and self.count >= 3 or self.fault == "new" and self.count < 3
        told = {} if lost else {"action_mask": mask}
        return ({"observation": seen, **told}, {}) if self.form == "observation" else (seen, told)

    def reset(self, seed=None):
        self.random, self.count = np.random.default_rng(seed), 0
        return self.draw()

    def step(self, action):
        if self.form == "parts":
            taken = [action[0], 2 + action[1]]
        else:
            taken = [action[0]] if self.form == "bits" else [action + 2]
        if not all(self.open[t] for t in taken):
            raise ValueError("the choice %s is closed" % taken)
        cost = self.open[taken[-1] + 1:].sum()
        self.count += 1
        observation, told = self.draw()
        end = self.count == 20
        return observation, -float(cost), end, False, {} if end else told


def make(name, **arguments):
    if name == "Counter-v0":
        return Counter(**arguments)
    if name == "Reacher-v0":
        return Reacher()
    if name == "Cards-v0":
        return Cards(**arguments)
    raise LookupError("there is no environment " + name)
