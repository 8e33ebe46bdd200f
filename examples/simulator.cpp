// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Simulators as actors: objects that live on some rank, keep their state there
// and are stepped from here. Calls to one actor run in the order made, so the
// driver queues a whole episode without waiting once: each action is a task
// that depends on the observation before it, each step depends on the action.
//
//   scripts/run simulator -n 4        or        mpirun -n 4 ./simulator
//
// Expected output:
//   pendulum 0: 60 steps, angle 1.000 -> -0.032
//   pendulum 1: 60 steps, angle 1.500 -> -0.039
//   pendulum 2: 60 steps, angle 2.000 -> -0.032
//   pendulum 3: 60 steps, angle 2.500 -> 0.000
#include <manta/manta.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

/// What is seen of a pendulum; crosses between ranks, hence `serialize`.
struct observation {
  double angle = 0;
  double speed = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(angle, speed);
  }
};

/// Nothing to inherit, nothing to register: any class with public methods can be an actor.
class pendulum {
 public:
  explicit pendulum(double angle) : now_{angle, 0} {}

  observation look() const { return now_; }

  observation step(double torque) {
    constexpr double dt = 0.05;
    now_.speed += dt * (torque - std::sin(now_.angle));
    now_.angle += dt * now_.speed;
    return now_;
  }

 private:
  observation now_;
};

double policy(const observation& seen) { return -seen.angle - 2 * seen.speed; }

constexpr int steps = 60;

double angle_without_manta(double start) {
  pendulum p(start);
  for (int i = 0; i < steps; ++i) p.step(policy(p.look()));
  return p.look().angle;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const std::vector<double> starts{1.0, 1.5, 2.0, 2.5};
    std::vector<manta::future<observation>> last;
    for (const double start : starts) {
      manta::actor<pendulum> p = manta::spawn<pendulum>(start);
      auto seen = manta::async<&pendulum::look>(p);
      for (int i = 0; i < steps; ++i) seen = manta::async<&pendulum::step>(p, manta::async<policy>(seen));
      last.push_back(seen);
    }

    bool right = true;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const double angle = last[i].get().angle;
      std::printf("pendulum %zu: %d steps, angle %.3f -> %.3f\n", i, steps, starts[i], angle);
      right = right && std::abs(angle - angle_without_manta(starts[i])) < 1e-12;
    }
    return right ? 0 : 1;
  });
}
