// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: a page that shows a run while it goes on, in a browser.
//
//   manta::run(argc, argv, [] {
//     manta::dashboard page;                  // says once where it is; until the object goes
//     ...
//   });
//
// It shows what runs where and for how long, where calls and tasks wait, in which functions a task is, and the report
// page. It works while the driver and the tasks compute, by a thread of its own. It needs nlohmann/json, as serve does.
#pragma once

#include "manta/serve/dashboard.hpp"
