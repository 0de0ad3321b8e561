/* SPDX-License-Identifier: MIT */
/*
 * The images that pintenet lists in NAME.log, beside the logs NAME.NUMBER.log of the threads:
 *
 *      Loaded image: 0xLOW:0xHIGH -> FILE
 *
 * When they were loaded is not said: they are modules from position 0 on.
 */
#include "log.h"

#include <stdio.h>
#include <string.h>

#include "loaders/kit/line_reader.h"
#include "src/base/text/hex.h"
#include "src/source/sibling_file.h"

#define MAX_LINE   4096u
#define MAX_IMAGES 4096u
#define MAX_LIST   (UINT64_C(1) << 20) /* bytes that are read of the list */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "NAME.log" of the thread's log "NAME.NUMBER.log".  Returns false if it has no such name. */
static bool name_list(const char *log, char name[256])
{
	const char *base = base_name(log), *end = strstr(base, ".log"), *number;

	for (const char *p = end; p; p = strstr(p + 1, ".log")) /* the last one */
		end = p;
	number = end;
	while (number && number > base && number[-1] >= '0' && number[-1] <= '9')
		number--;
	if (!number || number == end || number <= base + 1 || number[-1] != '.' || number - base > 200)
		return false;
	snprintf(name, 256, "%.*slog", (int)(number - base), base);
	return true;
}

/* "0x" and digits. */
static bool take_address(struct ts_text_line *l, uint64_t *addr)
{
	size_t n = 0;

	if (!ts_text_line_skip(l, "0x"))
		return false;
	for (*addr = 0; n < l->len && ts_hex_digit((uint8_t)l->text[n]) >= 0; n++)
		*addr = *addr << 4 | (unsigned)ts_hex_digit((uint8_t)l->text[n]);
	l->text += n;
	l->len -= n;
	return n > 0 && n <= 16;
}

static void take_line(struct ts_text_line *l, struct ts_steps *initial)
{
	uint64_t low, high;

	if (!ts_text_line_skip(l, "Loaded image: ") || !take_address(l, &low) || !ts_text_line_skip(l, ":") ||
	    !take_address(l, &high) || !ts_text_line_skip(l, " -> ") || high <= low ||
	    high - low == UINT64_MAX)
		return;
	if (l->len && l->text[l->len - 1] == '\r')
		l->len--;
	if (l->len && initial->n_modules < MAX_IMAGES)
		ts_steps_load(initial, low, high - low + 1, l->text, l->len);
}

bool tenet_read_images(const struct ts_source *log, struct ts_steps *initial, struct ts_error *err)
{
	struct ts_line_reader lines;
	struct ts_text_line line;
	struct ts_source *src;
	struct ts_error odd = { 0 };
	char name[256];

	src = name_list(ts_source_name(log), name) ? ts_source_open_beside(log, name, &odd) : NULL;
	if (!src && odd.code == TS_ENOMEM)
		*err = odd;
	if (!src)
		return err->code == TS_OK;
	ts_line_reader_init(&lines, src, 0, MAX_LINE);
	while (lines.off < MAX_LIST && ts_line_reader_next(&lines, &line, err) == TS_ITEM)
		take_line(&line, initial);
	if (err->code == TS_ELIMIT)
		ts_error_reset(err);
	ts_line_reader_fini(&lines);
	ts_source_close(src);
	return err->code == TS_OK;
}

bool tenet_find_image(const struct ts_steps *initial, const char *path, uint64_t *base)
{
	for (uint32_t i = 0; i < initial->n_modules; i++) {
		const char *file = ts_steps_text(initial, initial->modules[i].file);

		if (!file || strcmp(file, base_name(path)))
			continue;
		*base = initial->modules[i].addr;
		return true;
	}
	return false;
}
