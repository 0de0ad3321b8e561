/* SPDX-License-Identifier: MIT */
/*
 * strings against its definition: after each step of a made-up program that writes and reads texts, all texts that have a
 * byte of an access are taken from plain arrays.
 */
#include "unit.h"

#include "ask_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_STEPS   400u
#define BASE      UINT64_C(0x3fc0)
#define LEN       96u
#define MAX_TEXTS 60000u

/* A text that the definition has. */
struct text {
	uint64_t pos, addr;
	unsigned n, width;
	bool is_read, was_read; /* at pos; at some time */
	bool is_shown;
	char chars[LEN + 1];
};

static struct script *s;
static struct ask_text a;
static struct script_random rnd;
static uint8_t memory[LEN];
static bool is_known[LEN];
static struct text *texts;
static unsigned n_texts, min_chars;

/* An access of a step, by offset. */
struct access {
	unsigned off, len;
	bool is_read;
};

static bool is_char(unsigned i, unsigned width)
{
	if (i + width > LEN || !is_known[i] || (memory[i] != '\t' && (memory[i] < 0x20 || memory[i] > 0x7e)))
		return false;
	return width == 1 || (is_known[i + 1] && !memory[i + 1]);
}

static struct text *find(uint64_t addr, unsigned width, const char *chars)
{
	for (unsigned i = 0; i < n_texts; i++) {
		if (texts[i].addr == addr && texts[i].width == width && !strcmp(texts[i].chars, chars))
			return &texts[i];
	}
	return NULL;
}

static void note(uint64_t pos, unsigned off, unsigned end, unsigned width, bool is_read)
{
	struct text new = { .pos = pos, .addr = BASE + off, .n = (end - off) / width, .width = width, .is_read = is_read };
	struct text *t;

	for (unsigned i = off; i < end; i += width)
		new.chars[(i - off) / width] = (char)memory[i];
	t = find(new.addr, width, new.chars);
	if (!t) {
		ck_assert_uint_lt(n_texts, MAX_TEXTS);
		t = &texts[n_texts++];
		*t = new;
	}
	t->was_read |= is_read;
}

/* All texts with a byte of the access, each of two widths. */
static void note_texts(uint64_t pos, const struct access *x)
{
	for (unsigned width = 1; width <= 2; width++) {
		for (unsigned off = 0; off < LEN; off++) {
			unsigned end = off;

			if (!is_char(off, width) || (off >= width && is_char(off - width, width)))
				continue;
			while (is_char(end, width))
				end += width;
			if ((end - off) / width >= min_chars && off < x->off + x->len && end > x->off)
				note(pos, off, end, width, x->is_read);
		}
	}
}

static void put_write(unsigned off, const void *bytes, unsigned len)
{
	ts_steps_value(&s->steps, TS_FX_WRITE, BASE + off, bytes, len);
	memcpy(memory + off, bytes, len);
	memset(is_known + off, 1, len);
}

/* How the made-up program goes on with its text. */
static unsigned cursor, width;

static void any_access(struct access *x)
{
	static const char alphabet[] = "ab\tc d~\0\x7f\x1f";
	uint8_t bytes[LEN];
	unsigned what = (unsigned)script_below(&rnd, 10);

	x->is_read = what == 0;
	x->len = 1 + (unsigned)script_below(&rnd, what < 3 ? 9 : 3);
	x->off = (unsigned)script_below(&rnd, LEN - x->len);
	if (what >= 5) { /* text goes on at the cursor, perhaps over its end */
		unsigned back = script_chance(&rnd, 20) ? (unsigned)script_below(&rnd, 4) : 0;

		if (cursor + 8 > LEN || script_chance(&rnd, 8)) {
			cursor = (unsigned)script_below(&rnd, LEN - 40);
			width = 1 + (unsigned)script_below(&rnd, 2);
		}
		x->off = cursor > back ? cursor - back : cursor;
		x->len = width * (1 + (unsigned)script_below(&rnd, 3)) + (cursor - x->off);
	}
	for (unsigned i = 0; i < x->len; i++)
		bytes[i] = what < 5 ? (uint8_t)alphabet[script_below(&rnd, sizeof(alphabet))] : (uint8_t)('a' + script_below(&rnd, 3));
	for (unsigned i = 0; what >= 5 && i < cursor - x->off; i++)
		bytes[i] = is_known[x->off + i] && script_chance(&rnd, 90) ? memory[x->off + i] : bytes[i];
	for (unsigned i = cursor - x->off + 1; what >= 5 && width == 2 && i < x->len; i += 2)
		bytes[i] = 0;
	if (what >= 5)
		cursor = x->off + x->len;
	if (x->is_read && is_known[x->off] && script_chance(&rnd, 80)) {
		while (x->len > 1 && !is_known[x->off + x->len - 1])
			x->len--;
		for (unsigned i = 0; i < x->len && x->is_read; i++)
			x->is_read = is_known[x->off + i];
	} else {
		x->is_read = false;
	}
	if (x->is_read)
		ts_steps_value(&s->steps, TS_FX_READ, BASE + x->off, memory + x->off, x->len);
	else
		put_write(x->off, bytes, x->len);
	if (!x->is_read && what >= 5 && cursor < LEN && script_chance(&rnd, 30)) { /* as programs end a text */
		static const uint8_t zeros[2];

		ts_steps_value(&s->steps, TS_FX_WRITE, BASE + cursor, zeros, 1);
		memory[cursor] = 0;
		is_known[cursor] = true;
	}
}

/* What was only the beginning of a text stands there at the end. */
static void shorten_text(void)
{
	static const uint8_t zeros[2];
	unsigned back = width * (unsigned)script_below(&rnd, 9);

	put_write(cursor > back && cursor - back + width <= LEN ? cursor - back : 0, zeros, width);
}

static void make_program(void)
{
	memset(is_known, 0, sizeof(is_known));
	n_texts = cursor = 0;
	width = 1;
	for (uint64_t pos = 0; pos < N_STEPS; pos++) {
		uint32_t first = s->steps.n_effects;
		struct access x[2];
		unsigned n = pos < N_STEPS - 1 && script_chance(&rnd, 15) ? 2 : 1;

		if (pos == N_STEPS - 1)
			shorten_text();
		else
			any_access(&x[0]);
		if (n == 2)
			any_access(&x[1]);
		for (uint32_t i = first; i < s->steps.n_effects; i++) {
			const struct ts_effect *e = &s->steps.effects[i];
			struct access of = { (unsigned)(e->addr - BASE), (unsigned)e->len, e->kind == TS_FX_READ };

			note_texts(pos, &of);
		}
		ts_steps_close(&s->steps, 0x1000 + pos % 7, 1, 0);
	}
	s->end = (struct ts_end){ .pc = 0x1000, .has_pc = true };
}

/* May it be left out: nobody read it, a longer text with this beginning came after it, and it does not stand at the end? */
static bool may_be_left_out(const struct text *t)
{
	unsigned off = (unsigned)(t->addr - BASE), end = off + t->n * t->width;
	bool stands = end < LEN && is_known[end] && !memory[end], is_beginning = false;

	for (unsigned i = 0; stands && i < t->n; i++)
		stands = is_char(off + i * t->width, t->width) && (char)memory[off + i * t->width] == t->chars[i];
	for (unsigned i = 0; i < n_texts; i++)
		is_beginning |= texts[i].addr == t->addr && texts[i].width == t->width && texts[i].n > t->n &&
				texts[i].pos > t->pos && !strncmp(texts[i].chars, t->chars, t->n);
	return !t->was_read && !stands && is_beginning;
}

static void check_rows(void)
{
	char *rest = strchr(ts_buf_text(&a.out), '\n') + 1, *line;
	uint64_t before = 0;

	while ((line = strsep(&rest, "\n")) && *line) {
		uint64_t pos, addr;
		char kind[8], encoding[12], chars[2 * LEN], plain[LEN + 1];
		unsigned len, n = 0, w;
		struct text *t;

		ck_assert_int_eq(sscanf(line, "%" SCNu64 "\t%*d\t%*x\t\t%7s\t%" SCNx64 "\t%u\t%11s", &pos, kind, &addr, &len, encoding), 5);
		snprintf(chars, sizeof(chars), "%s", strrchr(line, '\t') + 1);
		for (const char *p = chars; *p; p++) {
			plain[n++] = p[0] == '\\' && p[1] == 't' ? '\t' : p[0];
			p += plain[n - 1] == '\t';
		}
		plain[n] = 0;
		w = strcmp(encoding, "ascii") ? 2 : 1;
		t = find(addr, w, plain);
		ck_assert_msg(t, "no such text: %s", line);
		ck_assert_msg(!t->is_shown, "twice: %s", line);
		ck_assert_msg(t->n * w == len && t->pos == pos, "since %" PRIu64 ": %s", t->pos, line);
		ck_assert_str_eq(kind, t->is_read ? "read" : "write");
		ck_assert_uint_ge(pos, before);
		before = pos;
		t->is_shown = true;
	}
	for (unsigned i = 0; i < n_texts; i++)
		ck_assert_msg(texts[i].is_shown || may_be_left_out(&texts[i]), "missing: %" PRIu64 " 0x%" PRIx64 " \"%s\"",
			      texts[i].pos, texts[i].addr, texts[i].chars);
}

START_TEST(texts_are_those_of_the_definition)
{
	char question[40];

	rnd.state = (uint64_t)_i;
	min_chars = 1 + (unsigned)script_below(&rnd, 5);
	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	texts = calloc(MAX_TEXTS, sizeof(*texts));
	make_program();
	ask_text_init(&a, s);
	snprintf(question, sizeof(question), "strings min %u", min_chars);
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s", a.err.text);
	check_rows();
	ask_text_fini(&a);
	free(texts);
	script_free(s);
}
END_TEST

#if TS_CHUNK_STEPS >= 1024 /* with small segments the index itself costs more, the longer the recording is */
/* Processor seconds of the question about a text of @n characters, written one a step. */
static double seconds_of(unsigned n)
{
	struct timespec from, to;

	s = script_new("x86_64", 1, NULL);
	for (unsigned i = 0; i < n; i++) {
		uint8_t byte = (uint8_t)('a' + i % 26);

		ts_steps_value(&s->steps, TS_FX_WRITE, 0x10000 + i, &byte, 1);
		ts_steps_close(&s->steps, 0x1000, 1, 0);
	}
	ask_text_init(&a, s);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	ck_assert(ask_text(&a, TS_FORM_TSV, "strings"));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	ck_assert_uint_eq(a.n_rows, 1);
	ask_text_fini(&a);
	script_free(s);
	return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

START_TEST(a_text_costs_what_it_is_long)
{
	double few = seconds_of(16000), many = seconds_of(256000);

	ck_assert_msg(many < 64 * few, "%.4f s, %.4f s", few, many); /* 16 times as long: quadratic is 256 */
}
END_TEST
#endif

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_strings");
	TCase *c = tcase_create("ask_strings");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, texts_are_those_of_the_definition, 1, 60);
#if TS_CHUNK_STEPS >= 1024
	tcase_add_test(c, a_text_costs_what_it_is_long);
#endif
	suite_add_tcase(suite, c);
	return suite;
}
