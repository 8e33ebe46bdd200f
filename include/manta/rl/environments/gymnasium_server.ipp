// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The program that the Python processes of gymnasium.hpp run, behind python_channel(). Numbers
// are little-endian. Requests:
//
//   'D'                                           asks for the spaces
//   'R', int32 place, uint32 seed                 resets an environment, which is made on its first reset
//   'S', int32 n, then n times: int32 place, the action as float32
//
// Answers: for 'D' the two spaces, the numbers of a mask of actions, 0 where environments have none, and 1 where
// observations are bytes, else 0, both as int32. Else for each environment asked for, its observation, as float32 or as
// bytes, and its mask, a byte for each choice, and for steps a float64 reward and two bytes, terminated and truncated.
//
// A space is an int32, its kind, and what it needs: 0 discrete: n, start; 1 several choices: how many, n of each, start
// of each; 2 a box: 1 for bytes, the dimensions of an image or 0, their sizes, how many numbers, lower and upper bounds
// as float32; 3 a dict: how many parts, then of each the length of its name, the name and the space; 4 a tuple: how
// many parts, then these; 5 switches: how many.
#pragma once

namespace manta::rl::detail {

/// Spaces and values of Gymnasium, which PettingZoo has too.
inline constexpr const char* gymnasium_spaces = R"PYTHON(
import copy
import importlib
import numpy as np

KINDS = ('Discrete', 'MultiDiscrete', 'MultiBinary', 'Box', 'Dict', 'Tuple')

# The name of a space's class, or of the first known one that it derives from.
def kind(space):
    return next((c.__name__ for c in type(space).__mro__ if c.__name__ in KINDS), type(space).__name__)

# Of a dictionary in the order of their names, as manta has them.
def parts(space):
    return sorted(space.spaces.items()) if kind(space) == 'Dict' else list(enumerate(space.spaces))

def shape_of(space):
    name = kind(space)
    if name == 'MultiDiscrete':
        return np.shape(space.nvec)
    return () if name == 'Discrete' else space.n if name == 'MultiBinary' else space.shape

def is_bytes(space):
    return np.dtype(space.dtype) in (np.uint8, np.bool_) and np.min(space.low) >= 0

# Whether the last of three dimensions is that of the channels: Gymnasium's images have it last, networks read it first.
def has_channels_last(shape, order):
    if len(shape) != 3 or order != 'auto':
        return len(shape) == 3 and order == 'last'
    return shape[2] <= shape[0]

class Translator:
    def __init__(self, order):
        self.order = order

    def in_order(self, values):
        values = np.asarray(values)
        return np.moveaxis(values, 2, 0) if has_channels_last(values.shape, self.order) else values

    def flatten(self, space, value):
        name = kind(space)
        if name in ('Dict', 'Tuple'):
            return np.concatenate([self.flatten(s, value[key]) for key, s in parts(space)])
        value = np.asarray(value)
        if value.size != np.prod(shape_of(space)):
            raise ValueError('an observation has the shape %r, but its space is %r' % (value.shape, space))
        if name == 'Box':
            value = self.in_order(value.reshape(space.shape))
        return np.asarray(value, np.float32).reshape(-1)

    # An action from the front of the numbers, and the numbers behind it.
    def action(self, space, numbers):
        name = kind(space)
        if name in ('Dict', 'Tuple'):
            values = {}
            for key, part in parts(space):
                values[key], numbers = self.action(part, numbers)
            return (values if name == 'Dict' else tuple(values.values())), numbers
        if name == 'Discrete':
            return int(numbers[0]), numbers[1:]
        shape = shape_of(space)
        own = {'MultiDiscrete': np.int64, 'MultiBinary': np.int8}.get(name)
        size = int(np.prod(shape))
        return numbers[:size].reshape(shape).astype(own or space.dtype), numbers[size:]

    def describe(self, space):
        name = kind(space)
        if name == 'Discrete':
            return struct.pack('<iii', 0, int(space.n), int(getattr(space, 'start', 0)))
        if name == 'MultiBinary':
            return struct.pack('<ii', 5, int(np.prod(space.n)))
        if name == 'MultiDiscrete':
            n = np.asarray(space.nvec).reshape(-1)
            start = np.asarray(getattr(space, 'start', np.zeros_like(n))).reshape(-1)
            return struct.pack('<ii', 1, len(n)) + n.astype('<i4').tobytes() + start.astype('<i4').tobytes()
        if name in ('Dict', 'Tuple'):
            answer = struct.pack('<ii', 3 if name == 'Dict' else 4, len(parts(space)))
            for key, part in parts(space):
                if name == 'Dict':
                    answer += struct.pack('<i', len(str(key).encode())) + str(key).encode()
                answer += self.describe(part)
            return answer
        if name != 'Box':
            raise TypeError('manta has no counterpart of the space ' + repr(space) + ': leave it out by a wrapper of '
                            "Gymnasium's, such as FilterObservation or TransformObservation")
        low = self.in_order(np.broadcast_to(space.low, space.shape))
        high = self.in_order(np.broadcast_to(space.high, space.shape))
        shape = low.shape if len(low.shape) in (2, 3) and self.order != 'flat' else ()
        return (struct.pack('<iii', 2, is_bytes(space), len(shape)) + struct.pack('<%di' % len(shape), *shape) +
                struct.pack('<i', low.size) + low.astype('<f4').tobytes() + high.astype('<f4').tobytes())

MASK = 'action_mask'

# The numbers of a mask of these actions; 0 if they are no choices.
def choices(actions):
    name = kind(actions)
    if name == 'Discrete':
        return int(actions.n)
    if name == 'MultiDiscrete':
        return int(np.sum(actions.nvec))
    return 2 * int(np.prod(actions.n)) if name == 'MultiBinary' else 0

# Who has not shown a mask at first has none: one that comes later would be overlooked.
def refuse_new_mask(info):
    if MASK in (info or {}):
        raise ValueError('info has an action_mask, but that of the first reset() had none')

# A byte for each choice. Gymnasium's masks of MultiBinary say 0 or 1 where a number has to be that, else 2.
def mask_bytes(actions, mask):
    numbers = np.concatenate([np.ravel(p) for p in mask]) if isinstance(mask, (list, tuple)) else np.ravel(mask)
    if kind(actions) == 'MultiBinary' and 2 * len(numbers) == choices(actions):
        numbers = np.stack([numbers != 1, numbers != 0], axis=1).ravel()
    if len(numbers) != choices(actions):
        raise ValueError('action_mask has %d numbers; it needs one for each choice, which are %d'
                         % (len(numbers), choices(actions)))
    return (numbers != 0).astype(np.uint8).tobytes()
)PYTHON";

inline constexpr const char* gymnasium_server = R"PYTHON(
class Server:
    def __init__(self, module, name, arguments, order):
        self.make = lambda: importlib.import_module(module).make(name, **json.loads(arguments))
        self.translator = Translator(order)
        self.made = {}
        self.spare = None

    def spaces(self):
        self.spare = self.make()
        self.observations, self.actions = self.spare.observation_space, self.spare.action_space
        self.find_mask()
        self.answer_of_spaces = self.describe()

    # Masks stand in observations that are dictionaries, as in PettingZoo, or in info, as in Gymnasium's Taxi.
    def find_mask(self):
        self.mask_in = ''
        self.only = None
        if kind(self.observations) == 'Dict' and MASK in self.observations.spaces:
            self.mask_in = 'the observation'
            self.observations = copy.copy(self.observations)
            self.observations.spaces = {k: s for k, s in self.observations.spaces.items() if k != MASK}
            if len(self.observations.spaces) == 1:  # the dictionary was there for the mask
                self.only, self.observations = next(iter(self.observations.spaces.items()))
        elif MASK in (self.spare.reset(seed=0)[1] or {}):
            self.mask_in = 'info'
        self.choices = choices(self.actions) if self.mask_in else 0
        if self.mask_in and not self.choices:
            raise TypeError('%s has an action_mask, but actions of the space %r cannot be masked'
                            % (self.mask_in, self.actions))

    def describe(self):
        spaces = self.translator.describe(self.observations) + self.translator.describe(self.actions)
        is_image = kind(self.observations) == 'Box' and is_bytes(self.observations)
        self.code = 'u1' if is_image else '<f4'
        return spaces + struct.pack('<ii', self.choices, is_image)

    # The numbers of an observation, and its mask, for which nobody asks at the end of an episode.
    def state(self, value, info, over=False):
        seen = value if self.only is None else value[self.only]
        answer = self.translator.flatten(self.observations, seen).astype(self.code).tobytes()
        if not self.mask_in:
            refuse_new_mask(info)
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

    def step(self, place, numbers):
        if place not in self.made:
            raise RuntimeError('environment was not reset')
        action, _ = self.translator.action(self.actions, numbers)
        observation, reward, terminated, truncated, info = self.made[place].step(action)
        return (self.state(observation, info, over=terminated) +
                struct.pack('<dBB', float(reward), bool(terminated), bool(truncated)))

    def answer(self, request):
        if request[:1] == b'D':
            return self.answer_of_spaces
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
    server = Server(*sys.argv[1:5])
    server.spaces()
    return server.answer

answer_messages(make)
)PYTHON";

}  // namespace manta::rl::detail
