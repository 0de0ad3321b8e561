/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <string.h>

static bool has_suffix(const char *path, const char *suffix)
{
	size_t len = strlen(path), n = strlen(suffix);

	return len > n && !strcmp(path + len - n, suffix);
}

bool ts_picture_is_svg(const char *path)
{
	return has_suffix(path, ".svg");
}

bool ts_picture_is_name(const char *path)
{
	return ts_picture_is_svg(path) || has_suffix(path, ".html") || has_suffix(path, ".htm");
}
