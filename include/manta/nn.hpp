// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Small networks on Eigen: layers, losses and optimisers, for float and double. examples/17_nn.md has the tour.
//
//   nn::network<float> net(nn::shape{784}, nn::linear(128), nn::relu(), nn::linear(10));
#pragma once

#include "manta/nn/graph.hpp"
#include "manta/nn/layers.hpp"
#include "manta/nn/loss.hpp"
#include "manta/nn/module.hpp"
#include "manta/nn/network.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/nn/own.hpp"
#include "manta/nn/own_loss.hpp"
#include "manta/nn/random.hpp"
#include "manta/nn/schedule.hpp"
#include "manta/nn/shape.hpp"
