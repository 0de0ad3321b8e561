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
#include "fuzz_words.h"

#include <stdlib.h>
#include <string.h>

#include "index_life.h"
#include "src/base/log.h"
#include "tests/unit/forge.h"

static size_t bytes_of(const struct fuzz_words *w, int i, uint8_t *bytes, size_t max)
{
	const char *text = fuzz_word(w, i);
	size_t n = 0;

	for (; text[0] && text[1] && n < max; text += 2) {
		const char byte[3] = { text[0], text[1], 0 };

		bytes[n++] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return n;
}

static void take_options(struct life *l, const struct fuzz_words *w)
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
static void read_line(struct life *l, const struct fuzz_words *w)
{
	const char *word = w->items[0];

	if (!strcmp(word, "read"))
		life_read(l, fuzz_number(w, 1, UINT64_MAX), false);
	else if (!strcmp(word, "merge"))
		life_read(l, UINT64_MAX, true);
	else if (!strcmp(word, "part"))
		life_decode_part(l, (uint32_t)fuzz_number(w, 1, 1), (uint32_t)fuzz_number(w, 2, 1));
	else
		return;
	l->faults = (struct life_faults){ .allocation = UINT64_MAX, .call = UINT64_MAX, .then = UINT64_MAX };
}

static void lie(struct life *l, const struct fuzz_words *w)
{
	uint64_t array = fuzz_number(w, 2, 0), place = fuzz_number(w, 3, 0), operand = fuzz_number(w, 6, 0);
	const uint8_t edit[FORGE_EDIT_LEN] = {
		(uint8_t)array,        (uint8_t)(array >> 8),         (uint8_t)place,
		(uint8_t)(place >> 8), (uint8_t)fuzz_number(w, 4, 0), (uint8_t)fuzz_number(w, 5, 0),
		(uint8_t)operand,      (uint8_t)(operand >> 8),
	};

	life_forge(l, fuzz_word(w, 1), edit, 1);
}

static void change_files(struct life *l, const struct fuzz_words *w)
{
	uint8_t bytes[64];
	const char *word = w->items[0];
	size_t n;

	if (!strcmp(word, "write")) {
		n = bytes_of(w, 3, bytes, sizeof(bytes));
		life_write(l, fuzz_word(w, 1), fuzz_number(w, 2, 0), bytes, n);
	} else if (!strcmp(word, "cut")) {
		life_cut(l, fuzz_word(w, 1), fuzz_number(w, 2, 0));
	} else if (!strcmp(word, "remove")) {
		life_remove(fuzz_word(w, 1));
	} else if (!strcmp(word, "folder")) {
		life_make_folder(fuzz_word(w, 1));
	} else if (!strcmp(word, "rename")) {
		life_rename(fuzz_word(w, 1), fuzz_word(w, 2));
	} else if (!strcmp(word, "link")) {
		life_link(fuzz_word(w, 1), fuzz_word(w, 2));
	} else if (!strcmp(word, "mode")) {
		life_set_mode(fuzz_word(w, 1), (unsigned)strtoul(fuzz_word(w, 2), NULL, 8));
	} else if (!strcmp(word, "secret")) {
		life_read_secret(fuzz_word(w, 1));
	} else if (!strcmp(word, "hide") && strlen(fuzz_word(w, 3)) == 4) {
		life_hide(l, fuzz_word(w, 1), atoi(fuzz_word(w, 2)), fuzz_word(w, 3));
	} else if (!strcmp(word, "store")) {
		life_store(l, fuzz_word(w, 1));
	} else if (!strcmp(word, "lie")) {
		lie(l, w);
	}
}

static void do_line(void *user, const struct fuzz_words *w)
{
	struct life *l = user;
	const char *word = w->items[0];

	if (!strcmp(word, "trace")) {
		life_set_trace(l, fuzz_number(w, 1, 1), fuzz_number(w, 2, 1), fuzz_number(w, 3, 1));
	} else if (!strcmp(word, "copy")) {
		life_copy_trace();
	} else if (!strcmp(word, "change")) {
		life_change_trace(l, fuzz_number(w, 1, 0));
	} else if (!strcmp(word, "pack")) {
		life_pack();
	} else if (!strcmp(word, "option")) {
		take_options(l, w);
	} else if (!strcmp(word, "memory")) {
		l->faults.allocation = fuzz_number(w, 1, 0);
		l->faults.n_allocations = fuzz_number(w, 2, 1);
	} else if (!strcmp(word, "call")) {
		l->faults.call = fuzz_number(w, 1, 0);
		l->faults.error = 1 + (int)(fuzz_number(w, 2, 5) - 1) % 130;
		l->faults.then = fuzz_number(w, 3, UINT64_MAX);
		l->faults.then_error = 1 + (int)(fuzz_number(w, 4, 5) - 1) % 130;
	} else {
		change_files(l, w);
		read_line(l, w);
	}
}

static void live(const uint8_t *bytes, size_t len, uint64_t turn)
{
	struct life l;

	life_begin(&l);
	fuzz_each_line(bytes, len, turn, do_line, &l);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	ts_log_set_level(TS_LOG_ERROR);
	fuzz_each_turn(bytes, len, live);
	if (len)
		life_end();
	return 0;
}
