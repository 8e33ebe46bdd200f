// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The program that the Python processes of pettingzoo.hpp run, behind python_channel() and gymnasium_spaces. Numbers
// are little-endian. Requests:
//
//   'D'                                                asks for the seats
//   'R', uint32 seed                                   begins an episode
//   'S', int32 n, then n times: int32 seat, its action as float32
//
// Answer for 'D': int32 how many seats, for each the length of its name, the name, its two spaces as Gymnasium's server
// describes them, and the numbers of its masks; then the numbers of the state of the whole, 0 where there is none.
// Other answers have for each seat a byte (1: it has seen something; 2: its episode has ended; 4: it is cut off), a
// float64 reward, and, where it has seen something, the observation as float32 and its mask; then the state of the
// whole as float32.
#pragma once

namespace manta::rl::detail {

inline constexpr const char* pettingzoo_server = R"PYTHON(
# What an agent sees and does, as manta has it.
class Seat:
    def __init__(self, translator, observations, actions, infos, name):
        self.translator, self.actions, self.only = translator, actions, None
        # Who does not act at first may get a mask when its turn comes, as others have one now.
        self.may_lack = name not in infos or MASK not in (infos[name] or {})
        told = any(MASK in (info or {}) for info in infos.values()) and choices(actions) > 0
        self.mask_in = 'info' if told or not self.may_lack else ''
        if kind(observations) == 'Dict' and MASK in observations.spaces:
            self.mask_in, self.may_lack = 'the observation', False
            observations = copy.copy(observations)
            observations.spaces = {k: s for k, s in observations.spaces.items() if k != MASK}
            if len(observations.spaces) == 1:  # the dictionary was there for the mask
                self.only, observations = next(iter(observations.spaces.items()))
        self.observations = observations
        self.choices = choices(actions) if self.mask_in else 0
        if self.mask_in and not self.choices:
            raise TypeError('%s has an action_mask, but actions of the space %r cannot be masked'
                            % (self.mask_in, actions))

    def describe(self, name):
        text = str(name).encode()
        return (struct.pack('<i', len(text)) + text + self.translator.describe(self.observations) +
                self.translator.describe(self.actions) + struct.pack('<i', self.choices))

    # From the front of the numbers, and the numbers behind it.
    def action(self, numbers):
        return self.translator.action(self.actions, numbers)

    def seen(self, value, info, over):
        answer = self.translator.flatten(self.observations, value if self.only is None else value[self.only])
        answer = answer.astype('<f4').tobytes()
        if not self.mask_in:
            refuse_new_mask(info)
            return answer
        source = value if self.mask_in == 'the observation' else info or {}
        if over or (self.may_lack and MASK not in source):
            return answer + bytes([1] * self.choices)
        if MASK not in source:
            raise KeyError('%s has no action_mask, but that of the first reset() had one' % self.mask_in)
        return answer + mask_bytes(self.actions, source[MASK])

# After reset and step: what agents see that act next or whose episodes are cut off, what the step has given to whom,
# and for whom it has ended the episode. An agent is told of its end once.
class Players:
    def __init__(self, env):
        self.env = env

    def begin(self):
        self.rewards, self.terminated, self.truncated, self.over = {}, set(), set(), set()

    def note(self, rewards, terminated, truncated):
        self.rewards = {a: r for a, r in rewards.items() if a not in self.over}
        self.terminated = {a for a, ends in terminated.items() if ends} - self.over
        self.truncated = {a for a, ends in truncated.items() if ends} - self.terminated - self.over
        self.over |= self.terminated | self.truncated

# Agents act at once.
class AtOnce(Players):
    def reset(self, seed):
        result = self.env.reset(seed=seed)
        self.begin()
        self.look(*(result if isinstance(result, tuple) else (result, {})))

    def look(self, seen, infos):
        self.infos = infos
        self.acting = [a for a in self.env.agents if a not in self.over]
        shown = self.acting + sorted(self.truncated, key=str)
        if lacking := [a for a in shown if a not in seen]:
            raise ValueError('there is no observation for the agent %r' % lacking[0])
        self.seen = {a: seen[a] for a in shown}

    def step(self, actions):
        seen, rewards, terminated, truncated, infos = self.env.step(actions)
        self.note(rewards, terminated, truncated)
        self.look(seen, infos)

# Agents act in turn. An agent whose episode has ended takes an empty step when its turn comes.
class InTurn(Players):
    def reset(self, seed):
        self.env.reset(seed=seed)
        self.begin()
        self.look({})

    def look(self, last):
        while self.env.agents and self.env.agent_selection in self.over:
            self.env.step(None)
        self.infos = dict(self.env.infos)
        self.acting = [self.env.agent_selection] if self.env.agents else []
        self.seen = {**last, **{a: self.env.observe(a) for a in self.acting}}

    def step(self, actions):
        self.env.step(actions[self.env.agent_selection])
        self.note({a: self.env.rewards[a] for a in self.env.agents}, dict(self.env.terminations),
                  dict(self.env.truncations))
        self.look({a: self.env.observe(a) for a in self.truncated})

class Game:
    def __init__(self, module, function, arguments, order):
        made_by = importlib.import_module(module)
        names = [function] if function else ['parallel_env', 'env']
        make = next((getattr(made_by, n) for n in names if hasattr(made_by, n)), None)
        if make is None:
            raise AttributeError('the module %s has no %s' % (module, ' and no '.join(names)))
        self.env = make(**json.loads(arguments))
        self.game = (InTurn if hasattr(self.env, 'agent_iter') else AtOnce)(self.env)
        if not hasattr(self.env, 'possible_agents'):
            raise AttributeError('the environment has no possible_agents: manta has to know all agents beforehand')
        self.names = list(self.env.possible_agents)
        self.game.reset(0)
        translator = Translator(order)
        self.seats = [Seat(translator, self.env.observation_space(a), self.env.action_space(a),
                           self.game.infos, a) for a in self.names]
        self.size_of_state = self.find_state()

    # How many numbers the state of the whole has; 0 where there is none: some have a member `state` of another kind.
    def find_state(self):
        try:
            return len(self.state()) // 4
        except (AttributeError, NotImplementedError, TypeError):
            return 0

    def state(self):
        return np.asarray(self.env.state(), np.float32).reshape(-1).astype('<f4').tobytes()

    def describe(self):
        return (struct.pack('<i', len(self.names)) + b''.join(s.describe(a) for a, s in zip(self.names, self.seats)) +
                struct.pack('<i', self.size_of_state))

    def tell(self):
        if strangers := [a for a in self.env.agents if a not in self.names]:
            raise ValueError('the agent %r acts, but is not in possible_agents' % strangers[0])
        answer = b''
        for name, seat in zip(self.names, self.seats):
            sees, ended, cut = (name in group for group in (self.game.seen, self.game.terminated, self.game.truncated))
            answer += struct.pack('<Bd', sees | 2 * ended | 4 * cut, float(self.game.rewards.get(name, 0)))
            if sees:
                answer += seat.seen(self.game.seen[name], self.game.infos.get(name), cut)
        state = self.state() if self.size_of_state else b''
        if len(state) != 4 * self.size_of_state:
            raise ValueError('state() has %d numbers, and had %d at first' % (len(state) // 4, self.size_of_state))
        return answer + state

    def answer(self, request):
        if request[:1] == b'D':
            return self.describe()
        if request[:1] == b'R':
            self.game.reset(struct.unpack('<I', request[1:5])[0])
            return self.tell()
        rest, actions = request[5:], {}
        for _ in range(struct.unpack('<i', request[1:5])[0]):
            number = struct.unpack('<i', rest[:4])[0]
            action, left = self.seats[number].action(np.frombuffer(rest[4:], '<f4'))
            actions[self.names[number]] = action
            rest = rest[len(rest) - 4 * len(left):]
        self.game.step(actions)
        return self.tell()

answer_messages(lambda: Game(*sys.argv[1:5]).answer)
)PYTHON";

}  // namespace manta::rl::detail
