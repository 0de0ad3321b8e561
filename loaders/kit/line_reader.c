/* SPDX-License-Identifier: MIT */
#include "line_reader.h"

#include <string.h>

/* A line up to this length is found with one look. */
#define USUAL_LEN 256u

void ts_line_reader_init(struct ts_line_reader *l, const struct ts_source *src, uint64_t off, size_t max_len)
{
	ts_window_init(&l->window, src, ts_source_len(src));
	l->off = off;
	l->max_len = max_len;
}

void ts_line_reader_fini(struct ts_line_reader *l)
{
	ts_window_fini(&l->window);
}

enum ts_next ts_line_reader_fill(struct ts_line_reader *l, struct ts_text_line *line, struct ts_error *err)
{
	size_t want = USUAL_LEN, seen = 0, got, len;
	const uint8_t *p, *end;

	if (l->off >= l->window.end)
		return TS_END;
	for (;; want = 2 * got, seen = got) { /* a long line takes few reads */
		p = ts_window_at(&l->window, l->off, want, &got, err);
		if (!p)
			return TS_FAIL;
		end = memchr(p + seen, '\n', got - seen);
		len = end ? (size_t)(end - p) : got;
		if (end || got < want || len > l->max_len)
			break;
	}
	if (len > l->max_len) {
		ts_fail(err, TS_ELIMIT, l->off, "a line of more than %zu bytes", l->max_len);
		return TS_FAIL;
	}
	*line = (struct ts_text_line){ (const char *)p, len, l->off, end != NULL };
	l->off += len + (end != NULL);
	return TS_ITEM;
}

enum ts_next ts_line_reader_pass(struct ts_line_reader *l, struct ts_error *err)
{
	uint64_t off = l->off;

	while (off < l->window.end) {
		size_t got;
		const uint8_t *p = ts_window_at(&l->window, off, 1, &got, err), *end;

		if (!p)
			return TS_FAIL;
		end = memchr(p, '\n', got);
		if (end) {
			l->off = off + (uint64_t)(end - p) + 1;
			return TS_ITEM;
		}
		off += got;
	}
	l->off = off;
	return TS_END;
}

bool ts_text_line_skip(struct ts_text_line *line, const char *word)
{
	size_t n = strlen(word);

	if (line->len < n || memcmp(line->text, word, n))
		return false;
	line->text += n;
	line->len -= n;
	line->off += n;
	return true;
}
