/* SPDX-License-Identifier: MIT */
/*
 * The images that pintenet lists in NAME.log, beside the logs NAME.NUMBER.log of the threads:
 *
 *      Loaded image: 0xLOW:0xHIGH -> FILE
 *
 * When they were loaded is not said: they are modules from position 0 on.
 */
#ifndef LOADERS_TENET_IMAGES_H
#define LOADERS_TENET_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/source/source.h"
#include "src/trace/step.h"

/*
 * Append the images to @initial; adds nothing if the file is missing or names no images.
 *
 * Returns false if memory is exhausted (TS_ENOMEM) or the file cannot be read any more (TS_EIO, TS_ETRUNC).
 */
bool tenet_read_images(const struct ts_source *log, struct ts_steps *initial, struct ts_error *err);

/* Where the image with the name of the file @path was loaded.  Returns false if @initial does not list it. */
bool tenet_find_image(const struct ts_steps *initial, const char *path, uint64_t *base);

#endif
