/* SPDX-License-Identifier: MIT */
/*
 * strings against its definition: after each step of a made-up program that writes and reads texts, all texts
 * that have a byte of an access are taken from plain arrays.  Then against the same definition on recordings
 * of each format.
 */
#include "unit.h"

#include "ask_text.h"
#include "sample.h"
#include "twins.h"

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
			struct access of = { (unsigned)(e->addr - BASE), (unsigned)e->len,
					     e->kind == TS_FX_READ };

			note_texts(pos, &of);
		}
		ts_steps_close(&s->steps, 0x1000 + pos % 7, 1, 0);
	}
	s->end = (struct ts_end){ .pc = 0x1000, .has_pc = true };
}

/*
 * May it be left out: nobody read it, a longer text with this beginning came after it, and it does not stand
 * at the end?
 */
static bool may_be_left_out(const struct text *t)
{
	unsigned off = (unsigned)(t->addr - BASE), end = off + t->n * t->width;
	bool stands = end < LEN && is_known[end] && !memory[end], is_beginning = false;

	for (unsigned i = 0; stands && i < t->n; i++)
		stands = is_char(off + i * t->width, t->width) &&
			 (char)memory[off + i * t->width] == t->chars[i];
	for (unsigned i = 0; i < n_texts; i++)
		is_beginning |= texts[i].addr == t->addr && texts[i].width == t->width && texts[i].n > t->n &&
				texts[i].pos > t->pos && !strncmp(texts[i].chars, t->chars, t->n);
	return !t->was_read && !stands && is_beginning;
}

/* The rows of the answer, after the names of its columns. */
static char *rows(void)
{
	size_t len = strcspn(ts_buf_text(&a.out), "\n");

	return (char *)a.out.data + len + 1;
}

static void check_rows(void)
{
	char *rest = rows(), *line;
	uint64_t before = 0;

	while ((line = strsep(&rest, "\n")) && *line) {
		uint64_t pos, addr;
		char kind[8], encoding[12], chars[2 * LEN], plain[LEN + 1];
		unsigned len, n = 0, w;
		struct text *t;

		ck_assert_int_eq(sscanf(line, "%" SCNu64 "\t%*d\t%*x\t\t%7s\t%" SCNx64 "\t%u\t%11s", &pos,
					kind, &addr, &len, encoding),
				 5);
		ck_assert_ptr_nonnull(strrchr(line, '\t'));
		ck_assert_str_eq(strrchr(line, '\t'), "\t"); /* no virtual address beside one */
		*strrchr(line, '\t') = 0;
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
		ck_assert_msg(texts[i].is_shown || may_be_left_out(&texts[i]),
			      "missing: %" PRIu64 " 0x%" PRIx64 " \"%s\"", texts[i].pos, texts[i].addr,
			      texts[i].chars);
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
	ask_text_init(&a, &s->rec);
	snprintf(question, sizeof(question), "strings min %u", min_chars);
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s", a.err.text);
	check_rows();
	ask_text_fini(&a);
	free(texts);
	script_free(s);
}
END_TEST

/* ------------------------------------------------------------------------------ recordings of each format */

#define MAX_CHARS 300u

/* A text at an address that some step shows, whatever the question. */
struct shown {
	uint64_t addr;
	unsigned n, width;
	bool is_beginning; /* of a longer text at its address */
	bool stands;       /* at the last position, with a NUL after it */
	char chars[MAX_CHARS];
	/* by the question at hand: the first step that shows it; TS_NO_POS: none */
	uint64_t pos;
	bool is_read, was_read, is_row;
};

/* One of its bytes was accessed. */
struct showing {
	uint64_t pos, first, last; /* the access's addresses */
	uint32_t text, thread;
	bool is_read;
};

static struct sample sample;
static struct shown *shown;
static struct showing *showings;
static size_t n_shown, cap_shown, n_showings, cap_showings;

static bool is_sample_char(uint64_t pos, uint64_t addr, unsigned wide, uint8_t *c)
{
	uint8_t zero;

	if (!sample_byte(&sample, pos, 0, addr, c) || (*c != '\t' && (*c < 0x20 || *c > 0x7e)))
		return false;
	return wide == 1 || (sample_byte(&sample, pos, 0, addr + 1, &zero) && !zero);
}

static void *grown(void *items, size_t n, size_t *cap, size_t len)
{
	if (n < *cap)
		return items;
	*cap = *cap ? 2 * *cap : 256;
	items = realloc(items, *cap * len);
	ck_assert_ptr_nonnull(items);
	return items;
}

static uint32_t shown_ordinal(const struct shown *t)
{
	for (size_t i = n_shown; i-- > 0;) {
		if (shown[i].addr == t->addr && shown[i].width == t->width &&
		    !strcmp(shown[i].chars, t->chars))
			return (uint32_t)i;
	}
	shown = grown(shown, n_shown, &cap_shown, sizeof(*shown));
	shown[n_shown] = *t;
	return (uint32_t)n_shown++;
}

/* The text around the character at @addr just after step @pos.  Returns the address after it. */
static uint64_t show_text(uint64_t pos, uint64_t addr, unsigned wide, struct showing *x)
{
	struct shown t = { .addr = addr, .width = wide };
	uint8_t c;

	while (is_sample_char(pos + 1, t.addr - wide, wide, &c))
		t.addr -= wide;
	for (; is_sample_char(pos + 1, t.addr + (uint64_t)t.n * wide, wide, &c); t.n++) {
		ck_assert_uint_lt(t.n, MAX_CHARS - 1);
		t.chars[t.n] = (char)c;
	}
	x->text = shown_ordinal(&t);
	showings = grown(showings, n_showings, &cap_showings, sizeof(*showings));
	showings[n_showings++] = *x;
	return t.addr + (uint64_t)t.n * wide;
}

static void show_access(struct showing *x)
{
	uint8_t c;

	for (unsigned wide = 1; wide <= 2; wide++) {
		for (unsigned start = 0; start < wide; start++) { /* wide texts begin at even addresses or at odd ones */
			uint64_t addr = x->first - (wide - 1) + start;

			while (addr <= x->last)
				addr = is_sample_char(x->pos + 1, addr, wide, &c) ? show_text(x->pos, addr, wide, x) : addr + wide;
		}
	}
}

static void find_shown(void)
{
	n_shown = n_showings = 0;
	for (uint64_t pos = 0; pos < s->steps.n_steps; pos++) {
		const struct ts_step *st = &s->steps.steps[pos];

		for (uint32_t i = st->first; i < st->first + st->n_effects; i++) {
			const struct ts_effect *e = &s->steps.effects[i];
			struct showing x = { pos, e->addr,    e->addr + (e->len - 1),
					     0,   st->thread, e->kind == TS_FX_READ };

			if ((e->kind == TS_FX_WRITE || (e->kind == TS_FX_READ && !e->is_hidden)) && e->len)
				show_access(&x);
		}
	}
	for (size_t i = 0; i < n_shown; i++) {
		struct shown *t = &shown[i];
		uint8_t c;

		for (size_t k = 0; k < n_shown; k++)
			t->is_beginning |= shown[k].addr == t->addr && shown[k].width == t->width &&
					   shown[k].n > t->n && !strncmp(shown[k].chars, t->chars, t->n);
		t->stands = true;
		for (unsigned k = 0; k < t->n; k++)
			t->stands &= is_sample_char(s->steps.n_steps, t->addr + k * t->width, t->width, &c) &&
				     c == (uint8_t)t->chars[k];
		for (unsigned k = 0; k < t->width; k++)
			t->stands &= sample_byte(&sample, s->steps.n_steps, 0, t->addr + t->n * t->width + k,
						 &c) &&
				     !c;
	}
}

/* When a byte of each text in [first, last] is accessed first by a thread, before position @to. */
static void choose_shown(uint64_t first, uint64_t last, uint32_t thread, uint64_t to)
{
	for (size_t i = 0; i < n_shown; i++) {
		shown[i].pos = TS_NO_POS;
		shown[i].was_read = shown[i].is_row = false;
	}
	for (size_t i = 0; i < n_showings; i++) {
		const struct showing *x = &showings[i];
		struct shown *t = &shown[x->text];

		uint64_t lo = x->first > first ? x->first : first, hi = x->last < last ? x->last : last;

		if (lo > hi || lo > t->addr + (t->n * t->width - 1) || hi < t->addr || x->pos >= to ||
		    (thread != TS_NO_THREAD && x->thread != thread))
			continue;
		t->was_read |= x->is_read;
		if (t->pos == TS_NO_POS) {
			t->pos = x->pos;
			t->is_read = x->is_read;
		}
	}
}

static struct shown *shown_at(uint64_t addr, unsigned wide, const char *chars)
{
	for (size_t i = 0; i < n_shown; i++) {
		if (shown[i].addr == addr && shown[i].width == wide && !strcmp(shown[i].chars, chars))
			return &shown[i];
	}
	return NULL;
}

static void check_sample_rows(const char *question, uint64_t from, uint64_t to)
{
	char *rest = rows(), *line;
	uint64_t before = 0;

	while ((line = strsep(&rest, "\n")) && *line) {
		char *cells[9], plain[MAX_CHARS];
		unsigned n = 0;
		struct shown *t;

		for (unsigned i = 0; i < 9; i++)
			cells[i] = strsep(&line, "\t");
		for (const char *p = cells[8]; *p; p++) {
			bool is_escaped = *p == '\\';

			p += is_escaped;
			plain[n++] = (char)(is_escaped && *p == 't' ? '\t' : *p);
		}
		plain[n] = 0;
		if (ts_query_facts(a.q)->is_physical) {
			ck_assert_msg(!strncmp(cells[5], "phys:", 5), "%s: %s", question, cells[5]);
			cells[5] += 5;
		}
		t = shown_at(strtoull(cells[5], NULL, 0), strcmp(cells[7], "ascii") ? 2 : 1, plain);
		ck_assert_msg(t && !t->is_row, "%s: %s: no such text, or twice", question, cells[8]);
		ck_assert_msg(t->pos == strtoull(cells[0], NULL, 0), "%s: \"%s\" at %s, not %" PRIu64,
			      question, plain, cells[0], t->pos);
		ck_assert_str_eq(cells[4], t->is_read ? "read" : "write");
		ck_assert_uint_eq(strtoull(cells[6], NULL, 0), t->n * t->width);
		ck_assert(t->n >= min_chars && t->pos >= from && t->pos < to && t->pos >= before);
		before = t->pos;
		t->is_row = true;
	}
	for (size_t i = 0; i < n_shown; i++) {
		const struct shown *t = &shown[i];
		bool may_miss = t->is_beginning && !t->was_read && !t->stands;

		ck_assert_msg(t->is_row || may_miss || t->n < min_chars || t->pos == TS_NO_POS ||
				      t->pos < from || t->pos >= to,
			      "%s: missing at %" PRIu64 ": 0x%" PRIx64 " \"%s\"", question, t->pos, t->addr,
			      t->chars);
	}
}

static void ask_sample(void)
{
	uint64_t n_steps = s->steps.n_steps, from, to, first = 0, last = UINT64_MAX, len;
	uint32_t thread = TS_NO_THREAD;
	char question[200] = "strings";

	min_chars = 1 + (unsigned)script_below(&rnd, 9);
	if (script_chance(&rnd, 90)) {
		script_bytes(s, &rnd, 80, &first, &len);
		last = first + len - 1;
		sprintf(question + strlen(question), " %s0x%" PRIx64 ",%" PRIu64, ts_query_facts(a.q)->is_physical ? "phys:" : "", first,
			len);
	}
	sample_range(&rnd, n_steps, &from, &to, question);
	if (script_chance(&rnd, 20)) {
		thread = (uint32_t)script_below(&rnd, s->n_threads);
		sprintf(question + strlen(question), " thread %" PRId64, a.names.tids[thread]);
	}
	sprintf(question + strlen(question), " min %u", min_chars);
	choose_shown(first, last, thread, to);
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	check_sample_rows(question, from, to);
}

START_TEST(texts_of_a_sample_are_those_of_the_definition)
{
	unsigned n = sample_n_questions(_i, 5);

	sample_open(&sample, sample_names[_i]);
	ask_text_init(&a, sample.rec);
	s = sample.s;
	rnd.state = twins_seed((uint64_t)_i);
	find_shown();
	for (unsigned i = 0; i < n; i++)
		ask_sample();
	ask_text_fini(&a);
	sample_close(&sample);
}
END_TEST

#define N_QUIET (100 * TS_CHUNK_STEPS)

/*
 * A text is read, another one is written piece by piece, and long after that (@is_shortened) shortened: a
 * beginning of it stands then.
 */
static struct script *early_texts(bool is_shortened)
{
	struct script *x = script_new("x86_64", 1, NULL);

	ck_assert_ptr_nonnull(x);
	ts_steps_value(&x->steps, TS_FX_READ, 0x2000, "early", 6);
	ts_steps_close(&x->steps, 0x1000, 1, 0);
	for (unsigned i = 0; i < 5; i++) {
		ts_steps_value(&x->steps, TS_FX_WRITE, 0x3000 + i, "later" + i, 1);
		ts_steps_close(&x->steps, 0x1000, 1, 0);
	}
	ts_steps_value(&x->steps, TS_FX_READ, 0x3000, "later", 5);
	for (unsigned i = 0; i < N_QUIET; i++)
		ts_steps_close(&x->steps, 0x1000, 1, 0);
	if (is_shortened)
		ts_steps_value(&x->steps, TS_FX_WRITE, 0x3004, "", 1);
	ts_steps_close(&x->steps, 0x1000, 1, 0);
	x->end = (struct ts_end){ .pc = 0x1000, .has_pc = true };
	return x;
}

/* Where the search is when there are @n rows. */
static uint64_t searched_for(struct ts_answer *answer, uint64_t n)
{
	while (ts_answer_n_rows(answer) < n &&
	       ts_answer_run(answer, 1, &a.out, &a.end, &a.err) == TS_MORE)
		continue;
	ck_assert_uint_ge(ts_answer_n_rows(answer), n);
	return ts_answer_at(answer);
}

START_TEST(a_text_is_told_when_no_other_can_come_before_it)
{
	bool is_shortened = _i;
	struct ts_answer *answer;

	s = early_texts(is_shortened);
	ask_text_init(&a, &s->rec);
	answer = ts_answer_new(&a.ask, "strings", TS_FORM_JSON, &a.err);
	ck_assert_msg(answer, "%s", a.err.text);
	ck_assert_uint_le(searched_for(answer, 1), 2 * TS_CHUNK_STEPS);
	if (is_shortened) { /* "late", which has only been a beginning, may become a row */
		ck_assert_int_eq(ts_answer_run(answer, 2, &a.out, &a.end, &a.err), TS_MORE);
		ck_assert_uint_eq(ts_answer_n_rows(answer), 1);
		ck_assert_uint_ge(searched_for(answer, 3), N_QUIET);
	} else {
		ck_assert_uint_le(searched_for(answer, 2), 3 * TS_CHUNK_STEPS);
	}
	ts_answer_free(answer);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

START_TEST(an_answer_that_is_stopped_has_all_texts_before_its_position)
{
	struct ts_answer *answer;

	s = early_texts(true);
	ask_text_init(&a, &s->rec);
	answer = ts_answer_new(&a.ask, _i ? "strings last 5" : "strings", TS_FORM_JSON, &a.err);
	ck_assert_msg(answer, "%s", a.err.text);
	while (ts_answer_at(answer) < N_QUIET / 2)
		ck_assert_int_eq(ts_answer_run(answer, 1, &a.out, &a.end, &a.err), TS_MORE);
	ts_answer_stop(answer);
	ck_assert_int_eq(ts_answer_run(answer, 1, &a.out, &a.end, &a.err), TS_END);
	ts_buf_put(&a.out, "", 1);
	ck_assert_uint_eq(ts_answer_n_rows(answer), 1);
	ck_assert_msg(strstr((const char *)a.out.data, "\"position\":4,"), "%s", (const char *)a.out.data); /* of "late" */
	ts_answer_free(answer);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/*
 * A text is written in two pieces, and another one is read; then the first piece is written again, and nothing
 * changes it any more.
 */
static struct script *repeated_beginning(void)
{
	struct script *x = script_new("x86_64", 1, NULL);

	ck_assert_ptr_nonnull(x);
	ts_steps_value(&x->steps, TS_FX_WRITE, 0x3000, "begi", 4);
	ts_steps_close(&x->steps, 0x1000, 1, 0);
	ts_steps_value(&x->steps, TS_FX_WRITE, 0x3004, "nning", 5);
	ts_steps_close(&x->steps, 0x1000, 1, 0);
	ts_steps_value(&x->steps, TS_FX_WRITE, 0x3000, "\1\1\1\1\1\1\1\1\1", 9);
	ts_steps_close(&x->steps, 0x1000, 1, 0);
	ts_steps_value(&x->steps, TS_FX_READ, 0x2000, "early", 6);
	ts_steps_close(&x->steps, 0x1000, 1, 0);
	ts_steps_value(&x->steps, TS_FX_WRITE, 0x3000, "begi", 4);
	for (unsigned i = 0; i < 10 * TS_CHUNK_STEPS; i++)
		ts_steps_close(&x->steps, 0x1000, 1, 0);
	x->end = (struct ts_end){ .pc = 0x1000, .has_pc = true };
	return x;
}

/* The beginning stood first, and is a row only because of what is written last: until then no other is told. */
START_TEST(a_beginning_that_is_written_again_is_told_before_later_texts)
{
	static const char *const texts_wanted[] = { "\tbegi\t\n", "\tbeginning\t\n", "\tearly\t\n" };
	const char *at;

	s = repeated_beginning();
	ask_text_init(&a, &s->rec);
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, "strings"), "%s", a.err.text);
	at = ts_buf_text(&a.out);
	for (unsigned i = 0; i < sizeof(texts_wanted) / sizeof(texts_wanted[0]); i++) {
		at = strstr(at, texts_wanted[i]);
		ck_assert_msg(at, "no%safter those before: %s", texts_wanted[i], ts_buf_text(&a.out));
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* What a step does to memory at 0x3000. */
struct deed {
	enum ts_effect_kind kind; /* TS_FX_EVENT: nothing */
	const char *data;         /* NULL: the value is not recorded */
	unsigned len, at;
};

/* Steps of the first chunk (the first of them before all), and what reads or writes the text behind it; how many rows there are. */
static const struct earlier {
	struct deed deeds[3], last;
	unsigned n_rows;
} earlier[] = {
	/* it was there from the start; or since a moment at which memory may have changed; or is what a step wrote that shows no value */
	{ { { TS_FX_WRITE, "text", 4, 0 }, { TS_FX_READ, NULL, 4, 0 }, { .kind = TS_FX_EVENT } }, { TS_FX_READ, "text", 4, 0 }, 0 },
	{ { { .kind = TS_FX_EVENT }, { .kind = TS_FX_UNSEEN }, { TS_FX_READ, NULL, 4, 0 } }, { TS_FX_READ, "text", 4, 0 }, 0 },
	{ { { TS_FX_WRITE, "zzzz", 4, 0 }, { TS_FX_WRITE, NULL, 4, 0 }, { .kind = TS_FX_EVENT } }, { TS_FX_READ, "text", 4, 0 }, 0 },
	/* it was written in pieces; another text was; one of the other width; the same of that width */
	{ { { TS_FX_WRITE, "zzzz", 4, 0 }, { TS_FX_WRITE, "te", 2, 0 }, { TS_FX_WRITE, "xt", 2, 2 } }, { TS_FX_WRITE, "text", 4, 0 }, 0 },
	{ { { TS_FX_WRITE, "zzzz", 4, 0 }, { TS_FX_WRITE, "test", 4, 0 }, { .kind = TS_FX_EVENT } }, { TS_FX_WRITE, "text", 4, 0 }, 1 },
	{ { { TS_FX_WRITE, "zzzzzzz", 8, 0 }, { TS_FX_WRITE, "text\0\0\0", 8, 0 }, { .kind = TS_FX_EVENT } }, { TS_FX_WRITE, "t\0e\0x\0t", 8, 0 }, 1 },
	{ { { TS_FX_WRITE, "zzzzzzz", 8, 0 }, { TS_FX_WRITE, "t\0e\0x\0t", 8, 0 }, { TS_FX_WRITE, "zzzzzzz", 8, 0 } }, { TS_FX_WRITE, "t\0e\0x\0t", 8, 0 }, 0 },
};

static void do_it(struct ts_steps *to, const struct deed *deed)
{
	if (deed->kind == TS_FX_EVENT)
		return;
	if (deed->data)
		ts_steps_value(to, deed->kind, 0x3000 + deed->at, deed->data, deed->len);
	else
		ts_steps_effect(to, deed->kind, deed->len ? 0x3000 + deed->at : 0, deed->len);
}

START_TEST(a_text_is_old_if_its_bytes_were_there_together)
{
	const struct earlier *x = &earlier[_i];
	char question[40];

	s = script_new("x86_64", 1, NULL);
	do_it(&s->rec.initial, &x->deeds[0]);
	for (unsigned i = 0; i < 5 * TS_CHUNK_STEPS; i++) {
		if (i == 3 || i == 4)
			do_it(&s->steps, &x->deeds[i - 2]);
		if (i == 4 * TS_CHUNK_STEPS)
			do_it(&s->steps, &x->last);
		ts_steps_close(&s->steps, 0x1000, 1, 0);
	}
	s->end = (struct ts_end){ .pc = 0x1000, .has_pc = true };
	ask_text_init(&a, &s->rec);
	snprintf(question, sizeof(question), "strings in %u:", 4 * TS_CHUNK_STEPS);
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s", a.err.text);
	ck_assert_msg(a.n_rows == x->n_rows, "%s", ts_buf_text(&a.out));
	ask_text_fini(&a);
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
	ask_text_init(&a, &s->rec);
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

/* Runs of the question about the last third of the steps, which write @n texts where others stood before. */
static unsigned runs_of_part(unsigned n)
{
	char question[40];
	unsigned n_runs;

	s = script_new("x86_64", 1, NULL);
	for (unsigned i = 0; i < 3 * n; i++) {
		uint8_t text[8] = "aaaaaaa";

		text[i >= 2 * n] = (uint8_t)('b' + i / n);
		ts_steps_value(&s->steps, TS_FX_WRITE, 0x10000 + UINT64_C(16) * (i % n), text, 8);
		ts_steps_close(&s->steps, 0x1000, 1, 0);
	}
	ask_text_init(&a, &s->rec);
	snprintf(question, sizeof(question), "strings in %u:", 2 * n);
	ck_assert(ask_text(&a, TS_FORM_TSV, question));
	ck_assert_uint_eq(a.n_rows, n);
	n_runs = a.n_runs;
	ask_text_fini(&a);
	script_free(s);
	return n_runs;
}

/* Each run looks at a few of the ranges that may have been seen before: rows alone are 750 runs. */
START_TEST(texts_of_a_part_are_looked_for_in_slices)
{
	unsigned few = runs_of_part(4000), many = runs_of_part(16000);

	ck_assert_msg(many > 16000 / 16 && many < 16000 / 8 && many < 5 * few, "%u, %u runs", few, many);
}
END_TEST
#endif

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_strings");
	TCase *c = tcase_create("ask_strings");

	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, texts_are_those_of_the_definition, 1, 60);
	tcase_add_loop_test(c, a_text_is_told_when_no_other_can_come_before_it, 0, 2);
	tcase_add_test(c, a_beginning_that_is_written_again_is_told_before_later_texts);
	tcase_add_loop_test(c, a_text_is_old_if_its_bytes_were_there_together, 0, sizeof(earlier) / sizeof(earlier[0]));
	tcase_add_loop_test(c, an_answer_that_is_stopped_has_all_texts_before_its_position, 0, 2);
#if TS_CHUNK_STEPS >= 1024
	tcase_add_test(c, a_text_costs_what_it_is_long);
	tcase_add_test(c, texts_of_a_part_are_looked_for_in_slices);
#endif
	suite_add_tcase(suite, c);
	suite_add_tcase(suite, sample_case(texts_of_a_sample_are_those_of_the_definition));
	return suite;
}
