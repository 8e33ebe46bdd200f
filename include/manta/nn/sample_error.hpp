// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The error of one sample of a batch: a label that is no class, a word that an embedding does not have. Who knows where
// the batch comes from can say which sample of the data it is.
#pragma once

#include <cstddef>
#include <string>

#include "manta/base/text.hpp"
#include "manta/error.hpp"

namespace manta::nn {

class sample_error : public error {
 public:
  /// The text is `begin`, "sample 3 of the batch", and `rest`.
  sample_error(const std::string& begin, std::size_t sample, const std::string& rest)
      : error(base::text("{}sample {} of the batch{}", begin, sample, rest)),
        begin_(begin),
        rest_(rest),
        sample_(sample) {}

  /// The number of the sample in its batch.
  [[nodiscard]] std::size_t sample() const { return sample_; }
  /// The text for a sample of the data, as in "sample 17 of the training data".
  [[nodiscard]] std::string text_for(const std::string& which) const { return begin_ + which + rest_; }

 private:
  std::string begin_, rest_;
  std::size_t sample_;
};

}  // namespace manta::nn
