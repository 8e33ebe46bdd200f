// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The program that the Python processes of gymnasium.hpp run, behind python_channel(). Numbers are little-endian. Requests:
//
//   'D'                                           asks for the spaces
//   'R', int32 place, uint32 seed                 resets an environment, which is made on its first reset
//   'S', int32 n, then n times: int32 place, the action as float32
//
// Answers: for each environment asked for, its observation as float32, and for steps a float64 reward and two bytes,
// terminated and truncated.
#pragma once

namespace manta::rl::detail {

inline constexpr const char* gymnasium_server = R"PYTHON(
import importlib
import numpy as np

def kind(space):
    return type(space).__name__

def parts(space):
    if kind(space) == 'Dict':
        return list(space.spaces.items())
    return list(enumerate(space.spaces))

# The numbers of a value: lists of parts are joined, a choice inside of them is as many numbers, of which one is 1.
def flatten(space, value, inside=False):
    if kind(space) in ('Dict', 'Tuple'):
        return np.concatenate([flatten(s, value[key], True) for key, s in parts(space)])
    if inside and kind(space) == 'Discrete':
        one = np.zeros(int(space.n), np.float32)
        one[int(value) - int(getattr(space, 'start', 0))] = 1
        return one
    return np.asarray(value, np.float32).reshape(-1)

def bounds(space):
    if kind(space) in ('Dict', 'Tuple'):
        lows, highs = zip(*[bounds(s) for _, s in parts(space)])
        return np.concatenate(lows), np.concatenate(highs)
    if kind(space) == 'Discrete':
        n = int(space.n)
    elif kind(space) == 'MultiBinary':
        n = int(np.prod(space.n))
    elif kind(space) == 'MultiDiscrete':
        return np.zeros(len(space.nvec), np.float32), np.asarray(space.nvec, np.float32) - 1
    else:
        return np.asarray(space.low, np.float32).reshape(-1), np.asarray(space.high, np.float32).reshape(-1)
    return np.zeros(n, np.float32), np.ones(n, np.float32)

# 0: discrete, n, start; 1: choices, n of each; 2: a box, its shape, lower and upper bounds.
def describe(space):
    name = kind(space)
    if name == 'Discrete':
        return struct.pack('<iii', 0, int(space.n), int(getattr(space, 'start', 0)))
    if name in ('MultiDiscrete', 'MultiBinary'):
        n = np.asarray(space.nvec).reshape(-1) if name == 'MultiDiscrete' else np.full(int(np.prod(space.n)), 2)
        return struct.pack('<ii', 1, len(n)) + n.astype('<i4').tobytes()
    if name not in ('Box', 'Dict', 'Tuple'):
        raise TypeError('manta has no counterpart of the space ' + repr(space))
    low, high = bounds(space)
    shape = list(space.shape) if name == 'Box' else []
    return (struct.pack('<ii', 2, len(shape)) + struct.pack('<%di' % len(shape), *shape) + struct.pack('<i', len(low)) +
            low.astype('<f4').tobytes() + high.astype('<f4').tobytes())

class Server:
    def __init__(self, module, name, arguments):
        self.make = lambda: importlib.import_module(module).make(name, **json.loads(arguments))
        self.made = {}
        self.spare = None

    def spaces(self):
        self.spare = self.make()
        self.observations, self.actions = self.spare.observation_space, self.spare.action_space
        if kind(self.actions) in ('Dict', 'Tuple'):
            raise TypeError('manta takes no actions of the space ' + repr(self.actions))

    def observation(self, value):
        return flatten(self.observations, value).astype('<f4').tobytes()

    def reset(self, place, seed):
        if place not in self.made:
            self.made[place] = self.spare or self.make()
            self.spare = None
        return self.observation(self.made[place].reset(seed=seed)[0])

    def action(self, numbers):
        name = kind(self.actions)
        if name == 'Discrete':
            return int(numbers[0])
        if name == 'Box':
            return numbers.reshape(self.actions.shape).astype(self.actions.dtype)
        return numbers.astype(np.int64)

    def step(self, place, numbers):
        if place not in self.made:
            raise RuntimeError('environment was not reset')
        observation, reward, terminated, truncated, _ = self.made[place].step(self.action(numbers))
        return self.observation(observation) + struct.pack('<dBB', float(reward), bool(terminated), bool(truncated))

    def answer(self, request):
        if request[:1] == b'D':
            return describe(self.observations) + describe(self.actions)
        if request[:1] == b'R':
            place, seed = struct.unpack('<iI', request[1:9])
            return self.reset(place, seed)
        count = struct.unpack('<i', request[1:5])[0]
        size = (len(request) - 5) // count
        answer = b''
        for i in range(count):
            entry = request[5 + i * size:5 + (i + 1) * size]
            answer += self.step(struct.unpack('<i', entry[:4])[0], np.frombuffer(entry[4:], '<f4'))
        return answer

def make():
    server = Server(*sys.argv[1:4])
    server.spaces()
    return server.answer

answer_messages(make)
)PYTHON";

}  // namespace manta::rl::detail
