// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Model serving: deployments with queues, batches and replicas. manta/serve/http.hpp puts them behind HTTP.
// examples/20_serve.md has the tour.
#pragma once

#include "manta/serve/deployment.hpp"
