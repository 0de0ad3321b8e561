/* SPDX-License-Identifier: MIT */
/*
 * Files of one section beside the index, of find and of calls, that are damaged and longer than what is
 * verified when a file is opened: each question is answered as without damage, or refused with a sentence;
 * then the file is removed, and the next one has it made anew.
 *
 * Built with tiny chunks and segments, and index files of which nothing is verified before it is used.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask_text.h"
#include "src/base/log.h"
#include "src/timeline/file/section.h"

#define PATH    "trace.tsindex"
#define N_STEPS 320u
#define MAX_LEN (1u << 20)
#define N_FOUND 6u

/* Bytes from one that is damaged to the next. */
#define DISTANCE 97u

static const struct ts_index_key the_key = { .trace_len = 10, .content = 30 };

/* ------------------------------------------------------------------------------------------------- files */

struct bytes {
	uint8_t p[MAX_LEN];
	size_t len;
};

static bool read_file(const char *path, struct bytes *b)
{
	FILE *f = fopen(path, "rb");

	b->len = f ? fread(b->p, 1, sizeof(b->p), f) : 0;
	return f && fclose(f) == 0 && b->len < sizeof(b->p);
}

static void write_file(const char *path, const struct bytes *b)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(b->p, 1, b->len, f), b->len);
	ck_assert_int_eq(fclose(f), 0);
}

static bool is_file(const char *path, const struct bytes *want)
{
	static struct bytes got;

	return read_file(path, &got) && got.len == want->len && !memcmp(got.p, want->p, got.len);
}

/* ------------------------------------------------------------------------------------------- the recording
 */

static void set_sp(struct script *s, uint64_t sp)
{
	int i = ts_regset_find(&s->rec.regs, "rsp");

	ck_assert_int_ge(i, 0);
	ts_steps_value(&s->steps, TS_FX_REG_WRITE, s->rec.regs.regs[i].off, (const uint8_t *)&sp, sizeof(sp));
}

/* The instruction at *pc, of 4 bytes, calls @to. */
static void call(struct script *s, uint64_t *pc, uint64_t *sp, uint64_t to)
{
	uint64_t back = *pc + 4;

	*sp -= sizeof(back);
	ts_steps_value(&s->steps, TS_FX_WRITE, *sp, (const uint8_t *)&back, sizeof(back));
	set_sp(s, *sp);
	ts_steps_close(&s->steps, *pc, 4, 0);
	*pc = to;
}

static void ret(struct script *s, uint64_t *pc, uint64_t *sp, uint64_t to)
{
	ts_steps_value(&s->steps, TS_FX_READ, *sp, (const uint8_t *)&to, sizeof(to));
	*sp += sizeof(to);
	set_sp(s, *sp);
	ts_steps_close(&s->steps, *pc, 4, 0);
	*pc = to;
}

/* Functions call each other, up to 6 deep, and write what is no two times the same. */
static struct script *new_script(void)
{
	uint64_t pc = 0x400000, sp = 0x7fff0000, backs[6];
	struct script_random rnd = { 1 };
	struct script *s = script_new("x86_64", 1, NULL);
	unsigned depth = 0;

	set_sp(s, sp);
	while (s->steps.n_steps < N_STEPS) {
		uint64_t value = script_random(&rnd);

		if (depth < 6 && value % 3 == 0) {
			backs[depth++] = pc + 4;
			call(s, &pc, &sp, 0x401000 + value % 16 * 256);
		} else if (depth && value % 3 == 1) {
			ret(s, &pc, &sp, backs[--depth]);
		} else {
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x600000 + value % 4096,
				       (const uint8_t *)&value, sizeof(value));
			ts_steps_close(&s->steps, pc, 4, 0);
			pc += 4;
		}
	}
	s->end = (struct ts_end){ .pc = pc, .has_pc = true };
	return s;
}

/* ------------------------------------------------------------------------------------------------- asking */

/* The recording with its index file. */
struct opened {
	struct script *s;
	struct ts_timeline *tl;
	struct ts_query *q;
	struct ts_names names;
	struct ts_symbols *symbols;
	struct ts_ask ask;
};

static const struct ts_section *without_calls[TS_MAX_SECTIONS];

/* An index without calls is built if there is none. */
static void open_all(struct opened *o)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;
	unsigned n = 0;

	o->s = new_script();
	o->tl = ts_timeline_new(&o->s->rec, NULL, &err);
	f = ts_index_open(PATH, &the_key, &err);
	if (!f) {
		for (unsigned i = 0; ts_sections[i]; i++) {
			if (ts_sections[i] != &ts_calls_section)
				without_calls[n++] = ts_sections[i];
		}
		o->tl->sections = without_calls;
		f = ts_index_create(PATH, &the_key, &err);
	}
	ck_assert_msg(f && ts_timeline_use_file(o->tl, f, &err), "%s", err.text);
	while (o->tl->builder)
		ck_assert_int_ne(ts_timeline_grow(o->tl, UINT64_MAX, &err), TS_FAIL);
	o->q = ts_query_new(o->tl, &err);
	ck_assert_ptr_nonnull(o->q);
	ck_assert(ts_names_init(&o->names, o->q, &err));
	o->symbols = ts_symbols_new();
	ck_assert_ptr_nonnull(o->symbols);
	o->ask = (struct ts_ask){
		.q = o->q, .names = &o->names, .symbols = o->symbols, .n_steps = ts_query_end(o->q)
	};
}

static void close_all(struct opened *o)
{
	ts_names_fini(&o->names);
	ts_symbols_free(o->symbols);
	ts_query_free(o->q);
	ts_timeline_free(o->tl);
	script_free(o->s);
}

/* Put the answer behind @out; false if there is none, with the reason. */
static bool ask(struct opened *o, const char *question, struct ts_buf *out, struct ts_error *err)
{
	struct ts_answer *answer = ts_answer_new(&o->ask, question, TS_FORM_TEXT, err);
	enum ts_next got = answer ? TS_MORE : TS_FAIL;

	while (got == TS_MORE)
		got = ts_answer_run(answer, N_STEPS, out, out, err);
	ts_answer_free(answer);
	return got == TS_END;
}

/* ----------------------------------------------------------------------------------------------- questions
 */

struct beside {
	const char *path;
	unsigned n; /* questions */
	void (*question)(const struct script *s, unsigned i, char *to, size_t len);
};

/* Values that steps write and read, of several lengths, all over the recording. */
static void find_question(const struct script *s, unsigned i, char *to, size_t len)
{
	const struct ts_effect *e = &s->steps.effects[s->steps.n_effects / N_FOUND * i];
	const uint8_t *value;
	int at;

	while (e->kind < TS_FX_WRITE || e->kind > TS_FX_READ || !(value = ts_effect_data(&s->steps, e)))
		e++;
	at = snprintf(to, len, "find");
	for (unsigned k = 0; k < e->len && k < 2 + i; k++)
		at += snprintf(to + at, len - (size_t)at, " %02x", value[k]);
}

static void calls_question(const struct script *s, unsigned i, char *to, size_t len)
{
	(void)s;
	snprintf(to, len, i ? "stack at %u" : "calls", i * (N_STEPS / 5));
}

static const struct beside besides[] = {
	{ PATH ".find", N_FOUND, find_question },
	{ PATH ".calls", 5, calls_question },
};

/* All answers, one behind the other, as far as there are; false if one is refused. */
static bool ask_all(struct opened *o, const struct beside *x, struct ts_buf *out, struct ts_error *err)
{
	char text[100];
	bool done = true;

	ts_buf_reset(out);
	for (unsigned i = 0; i < x->n && done; i++) {
		x->question(o->s, i, text, sizeof(text));
		done = ask(o, text, out, err);
	}
	return done;
}

static struct bytes whole, good, damaged;
static struct ts_buf answers, got;

/* The answers, and the file that is made for them. */
static void prepare(const struct beside *x)
{
	struct ts_error err = { 0 };
	struct opened o;

	ts_log_set_level(TS_LOG_ERROR);
	remove(PATH);
	for (size_t i = 0; i < sizeof(besides) / sizeof(besides[0]); i++)
		remove(besides[i].path);
	open_all(&o);
	close_all(&o);
	ck_assert(read_file(PATH, &whole));
	open_all(&o);
	ck_assert_msg(ask_all(&o, x, &answers, &err), "%s", err.text);
	close_all(&o);
	ck_assert(read_file(x->path, &good));
	ck_assert_uint_gt(answers.len, 500);
	damaged = good;
}

/* It is as it was without damage now. */
static void expect_good(const struct beside *x, size_t off)
{
	struct ts_error err = { 0 };
	struct opened o;

	open_all(&o);
	ck_assert_msg(ask_all(&o, x, &got, &err), "%zu: %s", off, err.text);
	ck_assert_msg(got.len == answers.len && !memcmp(got.data, answers.data, got.len),
		      "%zu: other answers", off);
	close_all(&o);
	ck_assert_msg(is_file(x->path, &good), "%zu: another file", off);
	ck_assert_msg(is_file(PATH, &whole), "%zu: another index", off);
}

/* Ask with a byte of the file damaged.  Returns whether a question was refused. */
static bool ask_damaged(const struct beside *x, size_t off)
{
	struct ts_error err = { 0 };
	struct opened o;
	bool done;

	damaged.p[off] ^= 0x11;
	write_file(x->path, &damaged);
	open_all(&o);
	done = ask_all(&o, x, &got, &err);
	ck_assert_msg(got.len <= answers.len && !memcmp(got.data, answers.data, got.len),
		      "%zu: other answers", off);
	ck_assert_msg(!done || got.len == answers.len, "%zu: answers are missing", off);
	ck_assert_msg(done || strstr(err.text, "the index file is damaged: it was removed"), "%zu: %s", off,
		      err.text);
	close_all(&o);
	ck_assert_msg(done || access(x->path, F_OK) < 0, "%zu: it is still there", off);
	if (is_file(x->path, &damaged)) /* a byte that no question needed */
		write_file(x->path, &good);
	damaged.p[off] = good.p[off];
	expect_good(x, off);
	return !done;
}

START_TEST(a_damaged_file_beside_the_index_gives_no_other_answer)
{
	const struct beside *x = &besides[_i];
	unsigned n_refused[3] = { 0 };

	prepare(x);
	for (size_t off = 0; off < good.len; off += DISTANCE)
		n_refused[off * 3 / good.len] += ask_damaged(x, off);
	ask_damaged(x, good.len - 1);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_gt(n_refused[i], 0);
	ts_buf_fini(&answers);
	ts_buf_fini(&got);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("index_beside");
	TCase *tc = tcase_create("index_beside");

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, a_damaged_file_beside_the_index_gives_no_other_answer, 0,
			    sizeof(besides) / sizeof(besides[0]));
	suite_add_tcase(s, tc);
	return s;
}
