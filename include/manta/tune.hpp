// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Hyper-parameter search: trials of a function, a class or an MPI program on the
// ranks of a job. examples/16_tune.md has the tour; each header below says what it is for.
// The searchers that need Eigen are not among them: include manta/tune/bayesian.hpp,
// manta/tune/cma_es.hpp or manta/tune/pb2.hpp for those.
//
//   void train(const manta::tune::config& c, manta::tune::trial& trial) {
//     for (model m(c["lr"]); trial.report({{"accuracy", m.epoch()}});) {}
//   }
//   auto r = manta::tune::run<train>({{"lr", manta::tune::loguniform(1e-4, 1)}},
//                                    {.maximise = "accuracy", .trials = 100, .scheduler = manta::tune::asha()});
#pragma once

#include "manta/base/config.hpp"

#include "manta/tune/asha.hpp"
#include "manta/tune/bohb.hpp"
#include "manta/tune/halving.hpp"
#include "manta/tune/index.hpp"
#include "manta/tune/median_stopping.hpp"
#include "manta/tune/nsga2.hpp"
#include "manta/tune/patience_stopping.hpp"
#include "manta/tune/pbt.hpp"
#include "manta/tune/percentile_stopping.hpp"
#include "manta/tune/random_search.hpp"
#include "manta/tune/run.hpp"
#include "manta/tune/sobol.hpp"
#include "manta/tune/study.hpp"
#include "manta/tune/tpe.hpp"
#include "manta/tune/wilcoxon_stopping.hpp"
