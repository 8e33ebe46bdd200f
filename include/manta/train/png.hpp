// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Pictures in PNG files, for train::picture_folder. Opt-in: needs libpng, link with -lpng.
//
//   train::picture_folder<train::png> photos("photos/train");
#pragma once

#include <png.h>  // not found? Install libpng-dev

#include <string>

#include "manta/error.hpp"
#include "manta/train/picture_folder.hpp"

namespace manta::train {

struct png {
  static constexpr const char* ending = ".png";

  /// The picture with 1 (grey), 2 (grey and alpha), 3 (red, green, blue) or 4 channels, whatever the file has; 8 bits
  /// each. Throws manta::error.
  static picture read(const std::string& path, int channels) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    const auto check = [&](bool holds) {
      if (holds) return;
      const std::string why = image.message;
      png_image_free(&image);
      throw error("manta: train: cannot read the picture " + path + ": " + why);
    };
    check(png_image_begin_read_from_file(&image, path.c_str()) != 0);
    constexpr png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
    image.format = formats[channels - 1];
    picture p{static_cast<int>(image.height), static_cast<int>(image.width), channels, {}};
    p.bytes.resize(PNG_IMAGE_SIZE(image));
    const png_color black{0, 0, 0};  // behind what is transparent, where there is no alpha
    check(png_image_finish_read(&image, &black, p.bytes.data(), 0, nullptr) != 0);
    return p;
  }
};

}  // namespace manta::train
