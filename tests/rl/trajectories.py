# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Writes trajectories.inc: trajectories of the classic control problems, computed from their published equations.

CartPole: Barto, Sutton, Anderson, 1983; semi-explicit constants of Gymnasium (Euler steps of 0.02 s). Acrobot: Sutton and
Barto's book, with one Runge-Kutta step of 0.2 s. MountainCar: Moore, 1990. Pendulum: a rod of mass and length 1, g = 10.
"""
import math
import sys


def cart_pole(s, a):
    x, v, t, w = s
    f = 10.0 if a else -10.0
    tmp = (f + 0.05 * w * w * math.sin(t)) / 1.1
    dw = (9.8 * math.sin(t) - math.cos(t) * tmp) / (0.5 * (4 / 3 - 0.1 * math.cos(t) ** 2 / 1.1))
    dv = tmp - 0.05 * dw * math.cos(t) / 1.1
    return [x + 0.02 * v, v + 0.02 * dv, t + 0.02 * w, w + 0.02 * dw]


def acrobot(s, a):
    def slope(s):
        t1, t2, w1, w2 = s
        d1 = 0.25 + (1.25 + math.cos(t2)) + 2
        d2 = 0.25 + 0.5 * math.cos(t2) + 1
        p2 = 0.5 * 9.8 * math.cos(t1 + t2 - math.pi / 2)
        p1 = -0.5 * w2 ** 2 * math.sin(t2) - w2 * w1 * math.sin(t2) + 1.5 * 9.8 * math.cos(t1 - math.pi / 2) + p2
        a2 = (a - 1 + d2 / d1 * p1 - 0.5 * w1 ** 2 * math.sin(t2) - p2) / (1.25 - d2 ** 2 / d1)
        return [w1, w2, -(d2 * a2 + p1) / d1, a2]

    def add(s, h, k):
        return [p + h * q for p, q in zip(s, k)]
    k1 = slope(s)
    k2 = slope(add(s, 0.1, k1))
    k3 = slope(add(s, 0.1, k2))
    k4 = slope(add(s, 0.2, k3))
    s = [p + 0.2 / 6 * (q1 + 2 * q2 + 2 * q3 + q4) for p, q1, q2, q3, q4 in zip(s, k1, k2, k3, k4)]
    wrap = lambda t: (t + math.pi) % (2 * math.pi) - math.pi
    clip = lambda w, m: max(-m, min(m, w))
    return [wrap(s[0]), wrap(s[1]), clip(s[2], 4 * math.pi), clip(s[3], 9 * math.pi)]


def mountain_car(s, a):
    x, v = s
    v = max(-0.07, min(0.07, v + (a - 1) * 0.001 - 0.0025 * math.cos(3 * x)))
    x = max(-1.2, min(0.6, x + v))
    return [x, 0.0 if x == -1.2 and v < 0 else v]


def pendulum(s, a):
    t, w = s
    w = max(-8.0, min(8.0, w + (1.5 * 10 * math.sin(t) + 3 * max(-2.0, min(2.0, a))) * 0.05))
    return [t + 0.05 * w, w]


CASES = [("cart_pole", cart_pole, [0.1, -0.2, 0.05, 0.3], lambda i: i % 3 != 0, ["x", "v", "angle", "spin"], 25),
         ("acrobot", acrobot, [0.1, -0.2, 0.3, -0.1], lambda i: i % 3, ["state[0]", "state[1]", "state[2]", "state[3]"], 40),
         ("mountain_car", mountain_car, [-0.5, 0.0], lambda i: 2 if i < 40 else 0, ["x", "v"], 90),
         ("pendulum", pendulum, [2.0, -0.5], lambda i: (i % 5) - 2.0, ["angle", "spin"], 60)]


def main():
    with open(sys.argv[1], "w") as out:
        for name, move, state, action, members, steps in CASES:
            out.write(f"  {{\n    rl::{name} e;\n")
            out.writelines(f"    e.{m} = {x!r};\n" for m, x in zip(members, state))
            is_float = name == "pendulum"
            actions = [action(i) for i in range(steps)]
            out.write(f"    for (const {'float' if is_float else 'int'} a : {{" + ", ".join(f"{x}f" if is_float else str(int(x)) for x in actions) + "}) e.step(a);\n")
            for a in actions:
                state = move(state, a)
            out.writelines(f"    CHECK(e.{m} == doctest::Approx({x!r}).epsilon(1e-9));\n" for m, x in zip(members, state))
            out.write("  }\n")


main()
