// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of lunar_lander.hpp. Lengths in metres; a picture of Gymnasium has 30 pixels a metre.
#pragma once

#include <box2d/box2d.h>

#include <cmath>

#include "manta/rl/lunar_lander.hpp"

namespace manta::rl::detail {

namespace lunar {
constexpr float scale = 30, width = 600 / scale, height = 400 / scale, fps = 50, pad = height / 4;
constexpr float leg_away = 20 / scale, leg_down = 18 / scale;
constexpr double main_power = 13, side_power = 0.6;
constexpr int chunks = 11;
}  // namespace lunar

struct moon::world final : b2ContactListener {
  explicit world(random& numbers_of_episode) : numbers(numbers_of_episode.bits()) {
    physics.SetContactListener(this);
    make_ground();
    make_lander();
    make_leg(-1);
    make_leg(1);
  }

  void make_ground() {
    using namespace lunar;
    std::array<double, chunks + 1> rough{};
    for (double& y : rough) y = numbers.uniform(0, static_cast<double>(height) / 2);
    for (std::size_t i = chunks / 2 - 2; i <= chunks / 2 + 2; ++i) rough[i] = static_cast<double>(pad);
    for (std::size_t i = 0; i < chunks; ++i) {
      const double left = rough[i == 0 ? chunks : i - 1];
      ground[i] = static_cast<float>(0.33 * (left + rough[i] + rough[i + 1]));
    }
    b2BodyDef definition;
    b2Body* moon = physics.CreateBody(&definition);
    const auto edge = [&](b2Vec2 from, b2Vec2 to) {
      b2EdgeShape shape;
      shape.SetTwoSided(from, to);
      b2FixtureDef fixture;
      fixture.shape = &shape;
      fixture.friction = 0.1f;
      moon->CreateFixture(&fixture);
    };
    edge({0, 0}, {width, 0});
    const auto corner = [&](int i) {
      return b2Vec2(width / (chunks - 1) * static_cast<float>(i), ground[static_cast<std::size_t>(i)]);
    };
    for (int i = 0; i + 1 < chunks; ++i) edge(corner(i), corner(i + 1));
  }

  void make_lander() {
    using namespace lunar;
    b2BodyDef definition;
    definition.type = b2_dynamicBody;
    definition.position.Set(width / 2, height);
    lander = physics.CreateBody(&definition);
    b2Vec2 hull[] = {{-14, 17}, {-17, 0}, {-17, -10}, {17, -10}, {17, 0}, {14, 17}};
    for (b2Vec2& corner : hull) corner *= 1 / scale;
    b2PolygonShape shape;
    shape.Set(hull, 6);
    lander->CreateFixture(&body_fixture(shape, 5, 0x0010));
    const auto push = [&] { return static_cast<float>(numbers.uniform(-1000, 1000)); };
    const float x = push(), y = push();
    lander->ApplyForceToCenter({x, y}, true);
  }

  void make_leg(int side) {
    using namespace lunar;
    const float s = static_cast<float>(side);
    b2BodyDef definition;
    definition.type = b2_dynamicBody;
    definition.position.Set(width / 2 - s * leg_away, height);
    definition.angle = s * 0.05f;
    b2Body* leg = physics.CreateBody(&definition);
    b2PolygonShape shape;
    shape.SetAsBox(2 / scale, 8 / scale);
    leg->CreateFixture(&body_fixture(shape, 1, 0x0020));
    b2RevoluteJointDef joint;
    joint.bodyA = lander;
    joint.bodyB = leg;
    joint.localAnchorB.Set(s * leg_away, leg_down);
    joint.enableMotor = joint.enableLimit = true;
    joint.maxMotorTorque = 40;
    joint.motorSpeed = 0.3f * s;
    joint.lowerAngle = side < 0 ? 0.4f : -0.9f;
    joint.upperAngle = side < 0 ? 0.9f : -0.4f;
    physics.CreateJoint(&joint);
    legs[side < 0 ? 0 : 1] = leg;
  }

  b2FixtureDef& body_fixture(const b2PolygonShape& shape, float density, std::uint16_t category) {
    fixture_ = {};
    fixture_.shape = &shape;
    fixture_.density = density;
    fixture_.friction = category == 0x0010 ? 0.1f : 0.2f;
    fixture_.filter.categoryBits = category;
    fixture_.filter.maskBits = 0x0001;  // the ground
    return fixture_;
  }

  void BeginContact(b2Contact* contact) override {
    for (b2Body* body : {contact->GetFixtureA()->GetBody(), contact->GetFixtureB()->GetBody()}) {
      if (body == lander) crashed = true;
      for (std::size_t i = 0; i < 2; ++i) touches[i] = touches[i] || body == legs[i];
    }
  }
  void EndContact(b2Contact* contact) override {
    for (b2Body* body : {contact->GetFixtureA()->GetBody(), contact->GetFixtureB()->GetBody()})
      for (std::size_t i = 0; i < 2; ++i) touches[i] = touches[i] && body != legs[i];
  }

  /// Pushes the lander away from the point at which an engine throws gas out. `along` and `across` are that point's
  /// place in the lander's own directions.
  void fire(double along, double across, double power, double up, double down) {
    const double angle = static_cast<double>(lander->GetAngle()), sin = std::sin(angle), cos = std::cos(angle);
    const double x = sin * along - cos * across, y = -cos * along - sin * across;
    const b2Vec2 at = lander->GetPosition();
    lander->ApplyLinearImpulse({static_cast<float>(-x * power), static_cast<float>(-y * power)},
                               {at.x + static_cast<float>(x - sin * down), at.y + static_cast<float>(y + cos * up)},
                               true);
  }

  [[nodiscard]] observation observe() const {
    using namespace lunar;
    const b2Vec2 at = lander->GetPosition(), v = lander->GetLinearVelocity();
    return {(at.x - width / 2) / (width / 2),
            (at.y - (pad + leg_down)) / (height / 2),
            v.x * (width / 2) / fps,
            v.y * (height / 2) / fps,
            lander->GetAngle(),
            20 * lander->GetAngularVelocity() / fps,
            touches[0] ? 1.f : 0.f,
            touches[1] ? 1.f : 0.f};
  }

  rl::step<observation> move(double main, double side) {
    using namespace lunar;
    constexpr double m = 1 / static_cast<double>(scale);
    const double spread[] = {numbers.uniform(-1, 1) * m, numbers.uniform(-1, 1) * m};
    if (main > 0) fire(4 * m + 2 * spread[0], spread[1], main_power * main, 0, 0);
    if (side != 0) {
      fire(spread[0], 3 * spread[1] + (side < 0 ? -1 : 1) * 12 * m, side_power * std::abs(side), 14 * m, 17 * m);
    }
    physics.Step(1 / fps, 180, 60);
    const observation o = observe();
    const auto s = [&](std::size_t i) { return static_cast<double>(o[i]); };
    const double now =
        -100 * std::hypot(s(0), s(1)) - 100 * std::hypot(s(2), s(3)) - 100 * std::abs(s(4)) + 10 * (s(6) + s(7));
    double reward = now - std::exchange(shaping, now) - 0.3 * main - 0.03 * std::abs(side);
    bool over = false;
    if (crashed || std::abs(s(0)) >= 1) {
      over = true;
      reward = -100;
    }
    if (!lander->IsAwake()) {
      over = true;
      reward = 100;
    }
    return {o, reward, over};
  }

  random numbers;
  b2World physics{b2Vec2(0, -10)};
  b2Body* lander = nullptr;
  std::array<b2Body*, 2> legs{};
  std::array<bool, 2> touches{};
  std::array<float, lunar::chunks> ground{};
  bool crashed = false;
  double shaping = 0;

 private:
  b2FixtureDef fixture_;
};

MANTA_DECL moon::moon() = default;
MANTA_DECL moon::moon(moon&&) noexcept = default;
MANTA_DECL moon& moon::operator=(moon&&) noexcept = default;
MANTA_DECL moon::~moon() = default;

MANTA_DECL moon::observation moon::begin(random& numbers) {
  world_ = std::make_unique<world>(numbers);
  return world_->move(0, 0).observation;
}
MANTA_DECL rl::step<moon::observation> moon::move(double main, double side) { return world_->move(main, side); }

MANTA_DECL std::string moon::text() const {
  using namespace lunar;
  if (world_ == nullptr) return {};
  constexpr int columns = 41, rows = 16;
  std::string s;
  const b2Vec2 at = world_->lander->GetPosition();
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const float x = width * static_cast<float>(c) / (columns - 1),
                  y = (height + 1) * static_cast<float>(rows - 1 - r) / rows;
      const std::size_t chunk = static_cast<std::size_t>(c / 4);
      const float part = static_cast<float>(c % 4) / 4;
      const float level =
          world_->ground[chunk] * (1 - part) + world_->ground[std::min<std::size_t>(chunk + 1, 10)] * part;
      const bool here = std::lround(at.x * (columns - 1) / width) == c &&
                        std::clamp(std::lround(at.y * rows / (height + 1)), 0L, rows - 1L) ==
                            rows - 1 - r;  // the top row: above the view
      s += here ? 'A' : y <= level ? (x >= 8 && x <= 12 ? '=' : '#') : ' ';
    }
    s += '\n';
  }
  return s;
}

}  // namespace manta::rl::detail
