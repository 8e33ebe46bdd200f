# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""A module with both interfaces of PettingZoo, as far as manta uses them: parallel_env() and env()."""
import numpy as np

from stand_in import Box, Dict, Discrete


class Race:
    """Parallel. Rewards are the actions. Each agent leaves in its own way: fast ends after three steps, slow is cut off
    after five, and late ends after six. An observation has the count and the last action; the state is the count."""

    possible_agents = ["fast", "slow", "late"]

    def __init__(self, what=""):
        self.what = what
        if what == "dict":
            self.state = {}

    def observation_space(self, agent):
        return Box(0, 10, (2,))

    def action_space(self, agent):
        return Discrete(3 if agent == "fast" else 2)

    def state(self):
        return np.array([self.count], np.float32)

    def look(self, actions):
        high = 20 if self.what == "high" and self.count == 2 else 0
        return {a: np.array([self.count + high, actions.get(a, 0)], np.float32) for a in self.agents}

    def reset(self, seed=None, options=None):
        self.agents, self.count = list(self.possible_agents), 0
        return self.look({}), {a: {} for a in self.agents}

    def step(self, actions):
        assert sorted(actions) == sorted(self.agents) and all(type(a) is int for a in actions.values())
        self.count += 1
        if self.what == "raise" and self.count == 2:
            raise ValueError("the track is wet")
        seen, rewards = self.look(actions), {a: float(x) for a, x in actions.items()}
        ended = {a: {"fast": 3, "late": 6}.get(a) == self.count for a in self.agents}
        cut = {a: a == "slow" and self.count == 5 for a in self.agents}
        infos = {a: {} for a in self.agents}
        self.agents = [a for a in self.agents if not ended[a] and not cut[a]]
        if self.what == "blind":
            del seen["late"]
        if self.what == "short":
            seen["late"] = seen["late"][:1]
        if self.what == "stranger":
            self.agents.append("guest")
            seen["guest"] = seen["late"]
        return seen, rewards, ended, cut, infos


class Heap:
    """AEC. Two take one or two of five stones in turn; who takes the last one wins. Cut off after `limit` moves. Masks
    stand in the observation, or in the info of the agent whose turn it is (`told`)."""

    possible_agents = ["first", "second"]

    def __init__(self, limit=0, told="observation"):
        self.limit, self.told = limit, told

    def agent_iter(self):
        raise NotImplementedError

    def observation_space(self, agent):
        heap = Box(0, 5, (1,))
        return heap if self.told == "info" else Dict(observation=heap, action_mask=Box(0, 1, (2,)))

    def action_space(self, agent):
        return Discrete(2, 1)

    def mask(self):
        return np.array([1, self.heap >= 2], np.int8)

    def observe(self, agent):
        heap = np.array([self.heap], np.float32)
        return heap if self.told == "info" else {"observation": heap, "action_mask": self.mask()}

    def tell(self):
        self.infos = {a: {} for a in self.agents}
        if self.told == "info" and self.agent_selection:
            self.infos[self.agent_selection] = {"action_mask": self.mask()}

    def reset(self, seed=None, options=None):
        self.agents, self.heap, self.moves = list(self.possible_agents), 5, 0
        self.agent_selection = "first"
        self.clear()
        self.terminations = {a: False for a in self.agents}
        self.truncations = {a: False for a in self.agents}
        self.tell()

    def clear(self):
        self.rewards = {a: 0.0 for a in self.agents}

    def step(self, action):
        agent = self.agent_selection
        other = next((a for a in self.agents if a != agent), None)
        if self.terminations[agent] or self.truncations[agent]:
            assert action is None
            self.agents.remove(agent)
            for told in (self.terminations, self.truncations, self.infos):
                del told[agent]
            self.clear()
            self.agent_selection = other
            return
        assert action in (1, 2) and action <= self.heap
        self.clear()
        self.heap -= action
        self.moves += 1
        if self.heap == 0:
            self.rewards = {agent: 1.0, other: -1.0}
            self.terminations = {a: True for a in self.agents}
        elif self.moves == self.limit:
            self.truncations = {a: True for a in self.agents}
        self.agent_selection = other
        self.tell()


def chatty_env(**arguments):
    class Chatty(Race):
        def step(self, actions):
            print("step", self.count, "x" * 100000)  # more than a pipe holds
            return Race.step(self, actions)

    return Chatty(**arguments)


def anonymous_env():
    return object()


def parallel_env(**arguments):
    return Race(**arguments)


def env(**arguments):
    return Heap(**arguments)
