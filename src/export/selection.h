/* SPDX-License-Identifier: MIT */
/*
 * Trace frames that the user selects from a recording: a range of positions or the executions of some
 * addresses, and the data that each frame collects.  The result looks like a run of tracepoints that gdb has
 * set: one tracepoint that steps from the first position on, or one for each address.  If tracepoints made
 * the recording, its own frames are used unless the user selects others.
 */
#ifndef TS_SELECTION_H
#define TS_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/frames/frames.h"
#include "src/frames/tracepoint.h"
#include "src/query/query.h"

#define TS_MAX_SELECTED 64

/* The data that a frame collects. */
struct ts_collect {
	bool has_regs;     /* regs */
	bool has_code;     /* code: the instruction's bytes */
	bool has_accessed; /* accessed: memory that the instruction reads and writes, as it was before */
	uint64_t stack;    /* stack:LEN: bytes from the stack pointer upwards */
	struct ts_range memory[TS_MAX_SELECTED]; /* mem:ADDR+LEN */
	unsigned n_memory;
};

/* The user's selection. */
struct ts_selection_options {
	uint64_t first, last; /* positions, both inclusive; last is clipped to the end of the recording */
	uint64_t at[TS_MAX_SELECTED];
	unsigned n_at;
	struct ts_collect collect;
	bool has_positions, has_collect; /* the user gave the option */
};

/* Select every position, and collect registers and the data that suits the recording. */
void ts_selection_options_init(struct ts_selection_options *o);

/*
 * Parse an option of the command line: positions A:B, of which either may be missing; an address; a list as
 * in regs,stack:256,mem:ADDR+LEN,accessed,code.  Numbers are written as in C.
 *
 * Return false (TS_EUSAGE) if the text is malformed, or if there are more than TS_MAX_SELECTED items.
 */
bool ts_selection_positions(struct ts_selection_options *o, const char *text, struct ts_error *err);
bool ts_selection_at(struct ts_selection_options *o, const char *text, struct ts_error *err);
bool ts_selection_collect(struct ts_selection_options *o, const char *text, struct ts_error *err);

struct ts_hit;

struct ts_selection {
	struct ts_frames frames;
	struct ts_tracing tracing;
	struct ts_query *q;       /* borrowed */
	struct ts_selection_options opt;
	struct ts_hit *hits;      /* owned; NULL: every position from opt.first on */
	struct ts_frames *base;   /* borrowed; the recording's own frames; NULL: frames are made here */
	uint8_t *regs, *known;    /* owned; of one position; one allocation, at regs */
	bool is_cut;              /* some accessed bytes are in no frame, because of TS_MAX_ACCESSED */
};

/* Limit, in bytes, on a frame's accesses that are longer than a page.  A step can list gigabytes. */
#define TS_MAX_ACCESSED (UINT64_C(1) << 20)

/*
 * Select frames from a recording.  @s must not be moved afterwards.
 *
 * Returns true on success.
 * Returns false if no position is in the range (TS_EUSAGE).
 * Returns false if no instruction was executed at the addresses (TS_EUNSUPPORTED).
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * The caller calls ts_selection_fini() in all cases.
 */
bool ts_selection_init(struct ts_selection *s, struct ts_query *q, const struct ts_selection_options *o,
		       struct ts_error *err);
void ts_selection_fini(struct ts_selection *s);

#endif
