// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values as JSON, which serve reads from bodies and writes into answers: that of manta/output under serve's own names.
#pragma once

#include "manta/output/json_numbers.hpp"
#include "manta/output/json_reader.hpp"
#include "manta/output/json_schema.hpp"
#include "manta/output/json_writer.hpp"
#include "manta/serve/source_json.hpp"

namespace manta::serve {
using output::deepest_json;
using output::from_json;
using output::json_depth;
using output::json_document;
using output::json_error;
using output::json_number_array;
using output::json_reader;
using output::json_schema;
using output::json_view;
using output::json_without_numbers;
using output::json_writer;
using output::read_plain_numbers;
using output::take_out_numbers;
using output::to_json;
}  // namespace manta::serve
