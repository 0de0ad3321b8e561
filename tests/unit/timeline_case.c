/* SPDX-License-Identifier: MIT */
#include "timeline_case.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "unit.h"

void wrong(const struct exam *x, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ck_abort_msg("TWIN_SEED=%" PRIu64 " (%" PRIu64 " steps): %s", x->seed, x->n_steps, text);
}

void must(const struct exam *x, bool is_done, const struct ts_error *err)
{
	if (!is_done)
		wrong(x, "failed: %s", err->text);
}

/* ------------------------------------------------------------------------------------------ one recording */

static void lay_image(struct exam *x)
{
	static uint8_t bytes[NAIVE_IMAGE_LEN];
	struct ts_error err = { 0 };
	uint32_t source;

	for (unsigned i = 0; i < NAIVE_IMAGE_LEN; i++)
		bytes[i] = naive_image_byte(i);
	source = ts_image_add_source(&x->image, ts_source_from_memory(bytes, sizeof(bytes), "image", &err));
	must(x, ts_image_add(&x->image, 0, NAIVE_IMAGE_ADDR, NAIVE_IMAGE_LEN, source, 0, &err), &err);
}

static void make_image(struct exam *x)
{
	ts_image_init(&x->image);
	if (x->has_image)
		lay_image(x);
	x->image.sysroot = x->has_file ? "." : NULL;
}

void write_mapped_file(void)
{
	FILE *f;

	mkdir("lib", 0777);
	f = fopen(SCRIPT_FILE, "wb");
	ck_assert_ptr_nonnull(f);
	for (unsigned i = 0; i < SCRIPT_FILE_LEN; i++)
		fputc(script_file_byte(i), f);
	ck_assert_int_eq(fclose(f), 0);
}

#define INDEX_PATH "twin.tsindex"

static const struct ts_index_key index_key = { 1, 2, 3, 4, 5, { .id = 6 }, 0, 0 };

/* The same recording, opened again. */
static struct script *open_again(const struct exam *x)
{
	struct script *s = script_random_new(x->seed, x->n_steps);

	s->ending = x->s->ending;
	s->damage = x->s->damage;
	return s;
}

/* A timeline over the recording, with what there is of the file. */
static void open_timeline(struct exam *x, struct script *s, enum place place)
{
	struct ts_index_file *f = NULL;
	struct ts_error err = { 0 };

	x->tl = ts_timeline_new(&s->rec, &x->image, &err);
	must(x, x->tl != NULL, &err);
	if (place == REOPENED)
		f = ts_index_open(INDEX_PATH, &index_key, &err);
	else if (place != IN_MEMORY)
		f = ts_index_create(INDEX_PATH, &index_key, &err);
	must(x, err.code == TS_OK && (f || place == IN_MEMORY), &err);
	must(x, place == IN_MEMORY || ts_timeline_use_file(x->tl, f, &err), &err);
}

/* A random recording perhaps on a thread of its own. */
static void begin_reading(struct exam *x)
{
	struct ts_error err = { 0 };

	if (x->nv && x->tl->builder && script_chance(&x->rnd, 10))
		must(x, ts_timeline_read_ahead(x->tl, &open_again(x)->rec, &err), &err);
}

/* Read on, about up to step @until. */
static void grow(struct exam *x, uint64_t until)
{
	struct ts_error err = { 0 };
	enum ts_next grown = TS_MORE;

	while (grown == TS_MORE && ts_timeline_n_read(x->tl) < until)
		grown = ts_timeline_grow(x->tl, 1 + script_below(&x->rnd, 3000), &err);
	must(x, grown != TS_FAIL, &err);
	must(x, x->tl->file_error.code == TS_OK, &x->tl->file_error);
}

static void check_prefix(struct exam *x);

/* Read on to the end; what has been read so far may be asked about. */
static void grow_asking(struct exam *x)
{
	struct ts_error err = { 0 };

	for (unsigned i = 0; x->tl->builder; i++) {
		must(x, ts_timeline_grow(x->tl, TS_CHUNK_STEPS, &err) != TS_FAIL, &err);
		if (x->tl->builder && x->tl->n_steps && i % 3 == 0)
			check_prefix(x);
	}
}

void read_all(struct exam *x, enum place place)
{
	struct script *s = x->s;
	struct ts_error err = { 0 };

	remove(INDEX_PATH);
	remove(INDEX_PATH ".part");
	if (place >= REOPENED) {
		open_timeline(x, s, INTERRUPTED);
		begin_reading(x);
		grow(x, place == REOPENED ? UINT64_MAX : script_below(&x->rnd, x->n_steps + 1));
		ts_timeline_free(x->tl);
		s = x->again = open_again(x); /* by another process */
		ts_image_fini(&x->image);
		make_image(x);
	}
	open_timeline(x, s, place);
	if (place == REOPENED && x->tl->builder)
		wrong(x, "it is read a second time");
	begin_reading(x);
	if (x->nv && place <= IN_FILE)
		grow_asking(x);
	grow(x, UINT64_MAX);
	if (x->tl->n_steps != x->n_steps)
		wrong(x, "read %" PRIu64 " steps", x->tl->n_steps);
	x->q = ts_query_new(x->tl, &err);
	must(x, x->q != NULL, &err);
}

/*
 * What is known while the recording is being read is right; more may become known.  What ran and what
 * happened does not change.
 */
static void check_prefix(struct exam *x)
{
	/* what they say holds until the trace says something else */
	bool has_files = x->image.n_sources || x->image.sysroot;
	struct ts_error err = { 0 };
	uint64_t n = x->tl->n_steps;

	x->q = ts_query_new(x->tl, &err);
	must(x, x->q != NULL, &err);
	for (unsigned i = 0; i < 12; i++) {
		uint64_t pos = script_below(&x->rnd, n), addr, len, at;
		uint32_t process = (uint32_t)script_below(&x->rnd, SCRIPT_MAX_PROCESSES);
		uint32_t thread = ts_query_thread(x->q, pos);
		uint8_t data[64], known[64], value;

		script_range(&x->rnd, 64, &addr, &len);
		must(x, ts_query_mem(x->q, pos, process, addr, (size_t)len, data, known, &err), &err);
		for (uint64_t j = 0; j < len; j++) {
			if (!has_files && known[j] && naive_is_tracked(x->nv, addr + j) &&
			    (!naive_mem(x->nv, pos, process, addr + j, &value) || value != data[j]))
				wrong(x, "of %" PRIu64 " steps: byte 0x%" PRIx64 " at position %" PRIu64, n,
				      addr + j, pos);
		}
		addr = x->s->steps.steps[pos].pc;
		at = naive_next_exec(x->nv, process, addr, addr, pos);
		if (ts_runs_find(&x->tl->runs, process, addr, addr, pos, TS_FORWARDS) != (at < n ? at : TS_NO_POS))
			wrong(x, "of %" PRIu64 " steps: 0x%" PRIx64 " runs next after %" PRIu64, n, addr,
			      pos);
		if (thread != naive_thread(x->nv, pos))
			wrong(x, "of %" PRIu64 " steps: thread at position %" PRIu64, n, pos);
		at = naive_next_step(x->nv, 0, pos);
		if (ts_world_next_step(&x->tl->world, 0, pos, n) != (at < n ? at : UINT64_MAX))
			wrong(x, "of %" PRIu64 " steps: thread 0 next after %" PRIu64, n, pos);
	}
	ts_query_free(x->q);
	x->q = NULL;
}

static void check_damage(const struct exam *x)
{
	if (x->s->ending == TS_END ? x->tl->damage.code != TS_OK
				   : x->tl->damage.code != x->s->damage || x->tl->damage.off != x->n_steps)
		wrong(x, "damage %d: %s", x->tl->damage.code, x->tl->damage.text);
}

void exam_init(struct exam *x, uint64_t seed, uint64_t n_steps, enum ts_next ending)
{
	*x = (struct exam){ .seed = seed, .rnd = { ~seed }, .n_steps = n_steps };
	x->s = script_random_new(seed, n_steps);
	x->s->ending = ending;
	x->s->damage = TS_ETRUNC;
	x->has_image = script_chance(&x->rnd, 40);
	x->has_file = script_chance(&x->rnd, 40);
	make_image(x);
	x->nv = naive_new(x->s, x->has_image, x->has_file);
	read_all(x, (enum place)script_below(&x->rnd, N_PLACES));
	check_damage(x);
}

void exam_fini(struct exam *x)
{
	ts_query_free(x->q);
	ts_timeline_free(x->tl);
	ts_image_fini(&x->image);
	naive_free(x->nv);
	script_free(x->again);
	script_free(x->s);
}
