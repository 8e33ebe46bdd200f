// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>

#include "manta/serve/http_error.hpp"

namespace manta::serve {

MANTA_DECL http_error::http_error(int status, const std::string& text,
                                  std::vector<std::pair<std::string, std::string>> header)
    : error(text), status_(status), text_(text), header_(std::move(header)) {
  rethrow_as<http_error>();
}

}  // namespace manta::serve
