/* SPDX-License-Identifier: MIT */
/*
 * A recording of tests/data is read while memory, or a call of the operating system, fails: what its loader gives is what it
 * gives without a failure, or there is an error with a sentence.
 *
 *      for FIRST LAST STEP      as in fuzz_words.h
 *      trace PATH; thread PATH; exec PATH; grammar PATH    files in tests/data
 *      ahead                    a thread reads what comes next
 *      memory N M               M allocations fail from the N-th on
 *      call N ERROR             the N-th call fails
 */
#include "fuzz.h"
#include "fuzz_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "loaders/loader.h"
#include "src/base/log.h"
#include "src/source/unpack.h"
#include "tests/unit/bad_calls.h"
#include "tests/unit/no_memory.h"

#define MAX_FILE    ((uint64_t)2 << 20)
#define MAX_STEPS   300000u
#define MAX_THREADS 4u

struct setting {
	char trace[200], exec[200], grammar[200], threads[MAX_THREADS][200];
	unsigned n_threads;
	bool is_ahead;
	uint64_t allocation, n_allocations, call;
	int error;
};

struct opened {
	struct ts_source *src, *grammar, *threads[MAX_THREADS];
};

struct result {
	uint64_t sum, n_steps;
	struct ts_error err;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool take_path(char path[200], const char *name)
{
	struct stat st;

	if (strstr(name, "..") || snprintf(path, 200, "%s/%s", TEST_DATA, name) >= 200 || stat(path, &st) ||
	    !S_ISREG(st.st_mode))
		path[0] = '\0';
	return path[0] != '\0';
}

static void do_line(void *user, const struct fuzz_words *w)
{
	struct setting *s = user;
	const char *word = w->items[0], *name = fuzz_word(w, 1);

	if (!strcmp(word, "trace")) {
		take_path(s->trace, name);
	} else if (!strcmp(word, "exec")) {
		take_path(s->exec, name);
	} else if (!strcmp(word, "grammar")) {
		take_path(s->grammar, name);
	} else if (!strcmp(word, "thread") && s->n_threads < MAX_THREADS) {
		s->n_threads += take_path(s->threads[s->n_threads], name);
	} else if (!strcmp(word, "ahead")) {
		s->is_ahead = true;
	} else if (!strcmp(word, "memory")) {
		s->allocation = fuzz_number(w, 1, 0);
		s->n_allocations = fuzz_number(w, 2, 1);
	} else if (!strcmp(word, "call")) {
		s->call = fuzz_number(w, 1, 0);
		s->error = 1 + (int)(fuzz_number(w, 2, 5) - 1) % 130;
	}
}

static void add(struct result *r, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		r->sum = (r->sum ^ p[i]) * UINT64_C(0x100000001b3);
}

static void add_steps(struct result *r, const struct ts_steps *s)
{
	for (uint32_t i = 0; i < s->n_steps; i++)
		add(r, &s->steps[i].pc, sizeof(s->steps[i].pc));
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &s->effects[i];
		const uint8_t *data = ts_effect_data(s, e);

		add(r, &e->addr, sizeof(e->addr));
		if (data)
			add(r, data, (size_t)e->len);
	}
	r->n_steps += s->n_steps;
}

static void read_steps(struct ts_reader *reader, struct result *r)
{
	enum ts_next next = TS_ITEM;
	struct ts_steps steps;

	ts_steps_init(&steps);
	while (next == TS_ITEM && r->n_steps < MAX_STEPS && !steps.is_failed) {
		ts_steps_reset(&steps);
		next = ts_reader_next(reader, &steps, &r->err);
		add_steps(r, &steps);
	}
	if (steps.is_failed)
		ts_fail(&r->err, TS_ENOMEM, TS_NO_OFF, "no memory for steps");
	require((next != TS_FAIL && !steps.is_failed) || strchr(r->err.text, ' '));
	ts_steps_fini(&steps);
}

static void read_recording(const struct setting *s, const struct opened *o, struct result *r)
{
	const struct ts_loader_options opt = {
		.exec = s->exec[0] ? s->exec : NULL,
		.grammar = o->grammar,
		.threads = (const struct ts_source *const *)o->threads,
		.n_threads = s->n_threads,
	};
	const struct ts_loader *loader =
		o->grammar ? ts_loader_find("grammar") : ts_loader_probe(o->src, &r->err);
	struct ts_recording *rec = loader ? ts_loader_open(loader, o->src, &opt, &r->err) : NULL;
	struct ts_reader *reader = rec ? rec->ops->reader(rec, &r->err) : NULL;

	require(reader || strchr(r->err.text, ' '));
	if (reader) {
		add_steps(r, &rec->initial);
		read_steps(reader, r);
	}
	ts_reader_close(reader);
	ts_recording_close(rec);
}

static bool open_sources(const struct setting *s, struct opened *o)
{
	const struct ts_unpack_options opt = { .max_len = MAX_FILE };
	struct ts_error err = { 0 };
	bool done;

	*o = (struct opened){ .src = s->trace[0] ? ts_trace_open(s->trace, &opt, &err) : NULL };
	o->grammar = s->grammar[0] ? ts_source_open(s->grammar, &err) : NULL;
	done = o->src && !o->grammar == !s->grammar[0];
	for (unsigned i = 0; i < s->n_threads; i++) {
		o->threads[i] = ts_trace_open(s->threads[i], &opt, &err);
		done = done && o->threads[i];
	}
	if (done && s->is_ahead)
		ts_source_allow_ahead(o->src);
	return done;
}

static void close_sources(struct opened *o)
{
	for (unsigned i = 0; i < MAX_THREADS; i++)
		ts_source_close(o->threads[i]);
	ts_source_close(o->grammar);
	ts_source_close(o->src);
}

/* Without failures; the next turn wants to know it again. */
static struct result expected(const struct setting *s, const struct opened *o)
{
	static struct setting of;
	static struct result good;
	struct setting is = *s;

	is.allocation = is.n_allocations = is.call = 0;
	is.error = 0;
	if (memcmp(&is, &of, sizeof(is)) != 0) {
		good = (struct result){ 0 };
		read_recording(&is, o, &good);
		of = is;
	}
	return good;
}

static void live(const uint8_t *bytes, size_t len, uint64_t turn)
{
	struct setting s;
	struct result got = { 0 }, want;
	struct opened o;
	int64_t n_lost;

	memset(&s, 0, sizeof(s)); /* its padding, too: it is compared */
	s.allocation = s.call = UINT64_MAX;
	fuzz_each_line(bytes, len, turn, do_line, &s);
	if (open_sources(&s, &o)) {
		want = expected(&s, &o);
		bad_calls_start(s.call, s.error);
		no_memory_start(s.allocation, s.allocation + s.n_allocations);
		read_recording(&s, &o, &got);
		no_memory_end(&n_lost);
		bad_calls_end();
		require((got.err.code != TS_OK && want.err.code != got.err.code) ||
			(got.sum == want.sum && got.err.code == want.err.code));
	}
	close_sources(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	ts_log_set_level(TS_LOG_ERROR);
	fuzz_each_turn(bytes, len, live);
	return 0;
}
