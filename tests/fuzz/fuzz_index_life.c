/* SPDX-License-Identifier: MIT */
/*
 * The life of an index: built, left in the middle, continued, moved to its refuge when the disk is full, merged of parts, damaged,
 * forged, and compared with its trace; memory and calls of the operating system fail meanwhile.
 *
 * What is told about the recording is compared with what an index in memory tells, unless a file was forged: it is the same, or
 * there is an error.
 *
 * A line is a word and its operands. Numbers are decimal; @ is the number of the "for" loop. Bytes are hexadecimal.
 *
 *      for FIRST LAST STEP     the first line: the others are carried out for each number, each time from the beginning
 *      trace SEED STEPS LEN    another recording, of a trace of LEN bytes
 *      copy                    the trace is another file of the same bytes
 *      change OFF              a byte of it changes, and the recording
 *      pack                    it is packed with its index, and read from there
 *      read [STEPS]            read so many steps, or all, and ask
 *      part I N; merge         decode a part; read all parts
 *      memory N M              M allocations fail during the next line that reads, from the N-th on
 *      call N ERROR M ERROR    the N-th call of the operating system fails, and the M-th
 *      write NAME OFF BYTES; cut NAME LEN; remove NAME; folder NAME; rename NAME NAME; link NAME NAME; mode NAME OCTAL
 *      secret NAME             a shared key is read
 *      hide NAME RECORD KIND   a section is gone
 *      store NAME              what is packed in an index file is stored as it is
 *      lie NAME ARRAY PLACE LEN OPERATION OPERAND    an edit of forge.h: of an array, or a head, or tables; then the file is
 *                              signed again
 *      option WORD...          what is used from now on: noreads, served, compared, whole, values, calls, jobs, index NAME, odd,
 *                              damaged, sysroot
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "index_life.h"
#include "src/base/log.h"
#include "tests/unit/forge.h"

#define MAX_LINES 40u
#define MAX_TURNS 400u
#define MAX_WORDS 12

struct words {
	char text[256];
	char *items[MAX_WORDS];
	int n;
	uint64_t turn; /* what "@" is */
};

static uint64_t number(const struct words *w, int i, uint64_t otherwise)
{
	char *end;
	uint64_t value;

	if (i >= w->n)
		return otherwise;
	if (w->items[i][0] == '@')
		return w->turn + strtoull(w->items[i] + 1, NULL, 10);
	value = strtoull(w->items[i], &end, 10);
	return end == w->items[i] ? otherwise : value;
}

static const char *name(const struct words *w, int i)
{
	return i < w->n ? w->items[i] : "";
}

static size_t bytes_of(const struct words *w, int i, uint8_t *bytes, size_t max)
{
	const char *text = name(w, i);
	size_t n = 0;

	for (; text[0] && text[1] && n < max; text += 2) {
		const char byte[3] = { text[0], text[1], 0 };

		bytes[n++] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return n;
}

static void take_options(struct life *l, const struct words *w)
{
	struct life_options *o = &l->opt;

	*o = (struct life_options){ .n_jobs = 1 };
	for (int i = 1; i < w->n; i++) {
		o->has_no_reads |= !strcmp(w->items[i], "noreads");
		o->is_served |= !strcmp(w->items[i], "served");
		o->is_compared |= !strcmp(w->items[i], "compared");
		o->is_whole |= !strcmp(w->items[i], "whole");
		o->wants_values |= !strcmp(w->items[i], "values");
		o->wants_calls |= !strcmp(w->items[i], "calls");
		o->has_odd_steps |= !strcmp(w->items[i], "odd");
		o->is_damaged |= !strcmp(w->items[i], "damaged");
		o->has_sysroot |= !strcmp(w->items[i], "sysroot");
		if (!strcmp(w->items[i], "jobs"))
			o->n_jobs = 2;
		if (!strcmp(w->items[i], "index") && i + 1 < w->n && strlen(w->items[i + 1]) < LIFE_MAX_NAME)
			strcpy(o->index, w->items[++i]);
	}
}

/* Faults are of the next line that reads. */
static void read_line(struct life *l, const struct words *w)
{
	const char *word = w->items[0];

	if (!strcmp(word, "read"))
		life_read(l, number(w, 1, UINT64_MAX), false);
	else if (!strcmp(word, "merge"))
		life_read(l, UINT64_MAX, true);
	else if (!strcmp(word, "part"))
		life_decode_part(l, (uint32_t)number(w, 1, 1), (uint32_t)number(w, 2, 1));
	else
		return;
	l->faults = (struct life_faults){ .allocation = UINT64_MAX, .call = UINT64_MAX, .then = UINT64_MAX };
}

static void lie(struct life *l, const struct words *w)
{
	uint64_t array = number(w, 2, 0), place = number(w, 3, 0), operand = number(w, 6, 0);
	const uint8_t edit[FORGE_EDIT_LEN] = {
		(uint8_t)array,           (uint8_t)(array >> 8),    (uint8_t)place,   (uint8_t)(place >> 8),
		(uint8_t)number(w, 4, 0), (uint8_t)number(w, 5, 0), (uint8_t)operand, (uint8_t)(operand >> 8),
	};

	life_forge(l, name(w, 1), edit, 1);
}

static void change_files(struct life *l, const struct words *w)
{
	uint8_t bytes[64];
	const char *word = w->items[0];
	size_t n;

	if (!strcmp(word, "write")) {
		n = bytes_of(w, 3, bytes, sizeof(bytes));
		life_write(l, name(w, 1), number(w, 2, 0), bytes, n);
	} else if (!strcmp(word, "cut")) {
		life_cut(l, name(w, 1), number(w, 2, 0));
	} else if (!strcmp(word, "remove")) {
		life_remove(name(w, 1));
	} else if (!strcmp(word, "folder")) {
		life_make_folder(name(w, 1));
	} else if (!strcmp(word, "rename")) {
		life_rename(name(w, 1), name(w, 2));
	} else if (!strcmp(word, "link")) {
		life_link(name(w, 1), name(w, 2));
	} else if (!strcmp(word, "mode")) {
		life_set_mode(name(w, 1), (unsigned)strtoul(name(w, 2), NULL, 8));
	} else if (!strcmp(word, "secret")) {
		life_read_secret(name(w, 1));
	} else if (!strcmp(word, "hide") && strlen(name(w, 3)) == 4) {
		life_hide(l, name(w, 1), atoi(name(w, 2)), name(w, 3));
	} else if (!strcmp(word, "store")) {
		life_store(l, name(w, 1));
	} else if (!strcmp(word, "lie")) {
		lie(l, w);
	}
}

static void do_line(struct life *l, const struct words *w)
{
	const char *word = w->items[0];

	if (!strcmp(word, "trace")) {
		life_set_trace(l, number(w, 1, 1), number(w, 2, 1), number(w, 3, 1));
	} else if (!strcmp(word, "copy")) {
		life_copy_trace();
	} else if (!strcmp(word, "change")) {
		life_change_trace(l, number(w, 1, 0));
	} else if (!strcmp(word, "pack")) {
		life_pack();
	} else if (!strcmp(word, "option")) {
		take_options(l, w);
	} else if (!strcmp(word, "memory")) {
		l->faults.allocation = number(w, 1, 0);
		l->faults.n_allocations = number(w, 2, 1);
	} else if (!strcmp(word, "call")) {
		l->faults.call = number(w, 1, 0);
		l->faults.error = 1 + (int)(number(w, 2, 5) - 1) % 130;
		l->faults.then = number(w, 3, UINT64_MAX);
		l->faults.then_error = 1 + (int)(number(w, 4, 5) - 1) % 130;
	} else {
		change_files(l, w);
		read_line(l, w);
	}
}

/* The words of the line at @bytes.  Returns where the next line is. */
static const uint8_t *take_words(struct words *w, const uint8_t *bytes, const uint8_t *end)
{
	const uint8_t *next = memchr(bytes, '\n', (size_t)(end - bytes));
	size_t len = (size_t)((next ? next : end) - bytes);
	char *at = w->text, *word;

	w->n = 0;
	len = len < sizeof(w->text) ? len : sizeof(w->text) - 1;
	memcpy(w->text, bytes, len);
	w->text[len] = '\0';
	while (w->n < MAX_WORDS && (word = strsep(&at, " "))) {
		if (*word)
			w->items[w->n++] = word;
	}
	return next ? next + 1 : end;
}

static void live(const uint8_t *bytes, const uint8_t *end, uint64_t turn)
{
	struct words w = { .turn = turn };
	struct life l;

	life_begin(&l);
	for (unsigned n = 0; bytes < end && n < MAX_LINES; n++) {
		bytes = take_words(&w, bytes, end);
		if (w.n)
			do_line(&l, &w);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const uint8_t *end = bytes + len, *next;
	uint64_t first = 0, last = 0, step = 1;
	struct words w = { 0 };

	if (!len)
		return 0;
	ts_log_set_level(TS_LOG_ERROR);
	next = take_words(&w, bytes, end);
	if (w.n && !strcmp(w.items[0], "for")) {
		bytes = next;
		first = number(&w, 1, 0);
		last = number(&w, 2, 0);
		step = number(&w, 3, 1);
	}
	first += FUZZ_SHARE > 1 ? fuzz_turn(bytes, (size_t)(end - bytes)) % 8 : 0;
	for (unsigned n = 0; first <= last && step && n < MAX_TURNS / (FUZZ_SHARE * FUZZ_SHARE);
	     first += step, n++)
		live(bytes, end, first);
	life_end();
	return 0;
}
