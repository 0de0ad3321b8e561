/* SPDX-License-Identifier: MIT */
/*
 * The file names of pictures, which select their form.
 */
#ifndef TS_PICTURE_H
#define TS_PICTURE_H

#include <stdbool.h>

/* Can a picture be written to @path?  It ends in .svg, .html or .htm. */
bool ts_picture_is_name(const char *path);

/* Is it a still picture, and not a page that zooms? */
bool ts_picture_is_svg(const char *path);

#endif
