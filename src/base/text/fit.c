/* SPDX-License-Identifier: MIT */
#include "fit.h"

#include <string.h>

#include "utf8.h"

static const char cut_mark[] = "…";

/* Characters of East Asian scripts, and pictures, take two places (Unicode, annex 11: W and F). */
static bool is_wide(uint32_t c)
{
	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x231a && c <= 0x23ff) || (c >= 0x25fd && c <= 0x27bf) ||
	       (c >= 0x2b1b && c <= 0x2b55) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xa960 && c <= 0xa97f) ||
	       (c >= 0xac00 && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe10 && c <= 0xfe6f) ||
	       (c >= 0xff00 && c <= 0xffe6) || (c >= 0x16fe0 && c <= 0x1b2ff) || (c >= 0x1f000 && c <= 0x1fbff) ||
	       (c >= 0x20000 && c <= 0x3ffff);
}

/* The length of the character at @p, 1 for an invalid byte; *width is set to its columns. */
static size_t take(const char *p, uint32_t *width)
{
	uint32_t c = 0;
	size_t n;

	if (!((uint8_t)*p & 0x80)) { /* ASCII, as most text is */
		*width = 1;
		return 1;
	}
	n = ts_utf8_take(p, strnlen(p, 4), &c);
	*width = n && is_wide(c) ? 2 : 1;
	return n ? n : 1;
}

uint32_t ts_fit_width_of(const char *text)
{
	uint32_t width = 0, w;

	while (*text) {
		text += take(text, &w);
		width += w;
	}
	return width;
}

void ts_fit_columns(struct ts_fit_column *columns, size_t n, uint32_t room)
{
	uint64_t all = n ? 2 * (n - 1) : 0;

	for (size_t i = 0; i < n; i++)
		all += columns[i].width;
	while (all > room) {
		struct ts_fit_column *widest = NULL;

		for (size_t i = 0; i < n; i++) {
			uint32_t least = columns[i].least ? columns[i].least : TS_FIT_LEAST;

			if (columns[i].may_be_cut && columns[i].width > least && (!widest || columns[i].width > widest->width))
				widest = &columns[i];
		}
		if (!widest)
			return;
		widest->width--;
		all--;
	}
}

/* The length of the longest beginning of @text that takes at most @width places. */
static size_t beginning(const char *text, uint32_t width)
{
	uint32_t used = 0, w;
	size_t len = 0, n;

	while (text[len] && (n = take(text + len, &w), used + w <= width)) {
		used += w;
		len += n;
	}
	return len;
}

/* Where the longest end of @text begins that takes at most @width places: at a slash, if there is one in it. */
static const char *end_of(const char *text, uint32_t width)
{
	uint32_t left = ts_fit_width_of(text), w;
	const char *slash;

	while (left > width) {
		text += take(text, &w);
		left -= w;
	}
	slash = strchr(text, '/');
	return slash && slash[1] ? slash : text;
}

void ts_fit_put(struct ts_buf *out, const char *text, uint32_t width, bool keeps_end)
{
	if (ts_fit_width_of(text) <= width) {
		ts_buf_puts(out, text);
		return;
	}
	if (!width)
		return;
	if (!keeps_end)
		ts_buf_put(out, text, beginning(text, width - 1));
	ts_buf_puts(out, cut_mark);
	if (keeps_end)
		ts_buf_puts(out, end_of(text, width - 1));
}
