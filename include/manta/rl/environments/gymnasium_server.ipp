// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The program that the Python processes of gymnasium.hpp run, behind python_channel(). Numbers are little-endian.
// Requests:
//
//   'D'                                           asks for the spaces
//   'R', int32 place, uint32 seed                 resets an environment, which is made on its first reset
//   'S', int32 n, then n times: int32 place, the action as float32
//
// Answers: for 'D' the two spaces, and an int32, the numbers of a mask of actions, 0 where environments have none. Else
// for each environment asked for, its observation as float32 and its mask, a byte for each choice, and for steps a
// float64 reward and two bytes, terminated and truncated.
#pragma once

namespace manta::rl::detail {

inline constexpr const char* gymnasium_server = R"PYTHON(
import copy
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

MASK = 'action_mask'

# The numbers of a mask of these actions; 0 if they are no choices.
def choices(actions):
    name = kind(actions)
    if name == 'Discrete':
        return int(actions.n)
    if name == 'MultiDiscrete':
        return int(np.sum(actions.nvec))
    return 2 * int(np.prod(actions.n)) if name == 'MultiBinary' else 0

# A byte for each choice. Gymnasium's masks of MultiBinary say 0 or 1 where a number has to be that, else 2.
def mask_bytes(actions, mask):
    numbers = np.concatenate([np.ravel(p) for p in mask]) if isinstance(mask, (list, tuple)) else np.ravel(mask)
    if kind(actions) == 'MultiBinary' and 2 * len(numbers) == choices(actions):
        numbers = np.stack([numbers != 1, numbers != 0], axis=1).ravel()
    if len(numbers) != choices(actions):
        raise ValueError('action_mask has %d numbers; it needs one for each choice, which are %d'
                         % (len(numbers), choices(actions)))
    return (numbers != 0).astype(np.uint8).tobytes()

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
        self.find_mask()

    # Masks stand in observations that are dictionaries, as in PettingZoo, or in info, as in Gymnasium's Taxi.
    def find_mask(self):
        self.mask_in = ''
        if kind(self.observations) == 'Dict' and MASK in self.observations.spaces:
            self.mask_in = 'the observation'
            self.observations = copy.copy(self.observations)
            self.observations.spaces = {k: s for k, s in self.observations.spaces.items() if k != MASK}
        elif MASK in (self.spare.reset(seed=0)[1] or {}):
            self.mask_in = 'info'
        self.choices = choices(self.actions) if self.mask_in else 0
        if self.mask_in and not self.choices:
            raise TypeError('%s has an action_mask, but actions of the space %r cannot be masked'
                            % (self.mask_in, self.actions))

    def describe(self):
        return describe(self.observations) + describe(self.actions) + struct.pack('<i', self.choices)

    # The numbers of an observation, and its mask, for which nobody asks at the end of an episode.
    def state(self, value, info, over=False):
        answer = flatten(self.observations, value).astype('<f4').tobytes()
        if not self.mask_in:
            return answer
        source = info if self.mask_in == 'info' else value
        if over:
            return answer + bytes([1] * self.choices)
        if MASK not in source:
            raise KeyError('%s has no action_mask, but that of the first reset() had one' % self.mask_in)
        return answer + mask_bytes(self.actions, source[MASK])

    def reset(self, place, seed):
        if place not in self.made:
            self.made[place] = self.spare or self.make()
            self.spare = None
        return self.state(*self.made[place].reset(seed=seed))

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
        observation, reward, terminated, truncated, info = self.made[place].step(self.action(numbers))
        return (self.state(observation, info, over=terminated) +
                struct.pack('<dBB', float(reward), bool(terminated), bool(truncated)))

    def answer(self, request):
        if request[:1] == b'D':
            return self.describe()
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
