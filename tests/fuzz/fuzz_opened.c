/* SPDX-License-Identifier: MIT */
#include "fuzz_opened.h"

#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"

/* So that one input does not take the whole time. */
#define MAX_STEPS 2000u

void fuzz_require(bool holds)
{
	if (!holds)
		abort();
}

size_t fuzz_first_part(const uint8_t *bytes, size_t len)
{
	const uint8_t *end = len ? memchr(bytes, 0xff, len) : NULL;

	return end ? (size_t)(end - bytes) : len;
}

static bool is_read(struct ts_timeline *tl)
{
	struct ts_error err = { 0 };
	enum ts_next grow = TS_MORE;

	while (grow == TS_MORE && ts_timeline_n_read(tl) < MAX_STEPS)
		grow = ts_timeline_grow(tl, MAX_STEPS, &err);
	fuzz_require(grow != TS_FAIL || err.text[0]);
	return grow == TS_END;
}

bool fuzz_opened_init(struct fuzz_opened *o, const uint8_t *bytes, size_t len)
{
	const struct ts_loader_options opt = { 0 };
	struct ts_error err = { 0 };
	struct ts_recording *rec;

	*o = (struct fuzz_opened){ .src = ts_source_from_memory(bytes, len, "fuzz", &err) };
	fuzz_require(o->src != NULL);
	rec = ts_loader_open(ts_loader_find("text"), o->src, &opt, &err);
	if (!rec)
		return false;
	o->tl = ts_timeline_new(rec, NULL, &err);
	if (!o->tl) {
		ts_recording_close(rec);
		return false;
	}
	if (!is_read(o->tl))
		return false;
	o->q = ts_query_new(o->tl, &err);
	o->symbols = ts_symbols_new();
	fuzz_require(o->q && o->symbols && ts_names_init(&o->names, o->q, &err));
	o->ask = (struct ts_ask){ .q = o->q, .names = &o->names, .symbols = o->symbols, .n_steps = ts_query_end(o->q) };
	return true;
}

void fuzz_opened_fini(struct fuzz_opened *o)
{
	struct ts_recording *rec = o->tl ? o->tl->rec : NULL;

	if (o->q)
		ts_names_fini(&o->names);
	ts_symbols_free(o->symbols);
	ts_query_free(o->q);
	ts_timeline_free(o->tl);
	ts_recording_close(rec);
	ts_source_close(o->src);
}
