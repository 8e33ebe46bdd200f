// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Actors: objects that live on some rank, keep their state there and are called
// from anywhere. Four pendulums are stepped without waiting once; an account is
// found by its name, breaks, and comes back with nothing lost. 05_actors.md walks
// through it.
//
//   scripts/run 05_actors -n 4        or        manta-run -n 4 ./05_actors
//
// Expected output:
//   pendulum 0: 60 steps, angle 1.000 -> -0.032
//   pendulum 1: 60 steps, angle 1.500 -> -0.039
//   pendulum 2: 60 steps, angle 2.000 -> -0.032
//   pendulum 3: 60 steps, angle 2.500 -> 0.000
//   the account broke: the file is damaged
//   its balance is still 70
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

constexpr double dt = 0.05;

// [class]
struct pendulum {
  explicit pendulum(double angle) : now{angle, 0} {}
  observation look() const { return now; }
  observation step(double torque) {
    now.speed += dt * (torque - std::sin(now.angle));
    now.angle += dt * now.speed;
    return now;
  }
  observation now;
};
// [end]

double policy(const observation& seen) { return -seen.angle - 2 * seen.speed; }

constexpr int steps = 60;

double angle_without_manta(double start) {
  pendulum p(start);
  for (int i = 0; i < steps; ++i) p.step(policy(p.look()));
  return p.look().angle;
}

bool swing() {
  const std::vector<double> starts{1.0, 1.5, 2.0, 2.5};
  std::vector<manta::future<observation>> last;
  // [calls]
  for (const double start : starts) {
    manta::actor<pendulum> p = manta::spawn<pendulum>(start);  // constructed on some rank; calls may be made right away
    auto seen = manta::async<&pendulum::look>(p);              // a call is a task on the actor's rank
    for (int i = 0; i < steps; ++i) {
      auto torque = manta::async<policy>(seen);         // a task on any rank, when the observation is there
      seen = manta::async<&pendulum::step>(p, torque);  // the next call, when the torque is there
    }
    last.push_back(seen);
  }
  // [end]
  bool right = true;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const double angle = last[i].get().angle;
    std::printf("pendulum %zu: %d steps, angle %.3f -> %.3f\n", i, steps, starts[i], angle);
    right = right && std::abs(angle - angle_without_manta(starts[i])) < 1e-12;
  }
  return right;
}

// [account]
struct account {
  int balance() const { return balance_now; }
  void deposit(int amount) { balance_now += amount; }
  void audit() { throw manta::fatal("the file is damaged"); }  // says that this actor is broken

  template <class Archive>
  void serialize(Archive& archive) {
    archive(balance_now);
  }
  int balance_now = 0;
};
// [end]

// [find]
void pay_in(int amount) {
  manta::actor<account> a = manta::find_actor<account>("savings");
  manta::async<&account::deposit>(a, amount).get();
}
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const bool right = swing();

    // [spawn]
    auto a = manta::spawn<account>({.name = "savings", .restarts = 3, .checkpoint_every = 5});
    manta::for_each<pay_in>(std::vector<int>(7, 10), {.grain = 1});  // seven tasks on any ranks find it by its name
    // [end]

    // [broken]
    try {
      manta::async<&account::audit>(a).get();
    } catch (const manta::task_failed& e) {
      std::printf("the account broke: %s\n", e.details().what.c_str());
    }
    // The new one: the last checkpoint, and the two deposits since then done again.
    const int balance = manta::async<&account::balance>(a).get();
    // [end]
    std::printf("its balance is still %d\n", balance);
    return right && balance == 70 ? 0 : 1;
  });
}
