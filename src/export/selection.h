/* SPDX-License-Identifier: MIT */
/*
 * Frames that the user selects from a recording: a range of positions, or the executions of some addresses,
 * and what each frame collects.  They are a run of tracepoints as gdb would set them: one that steps from the
 * first position on, or one for each address.  For a recording that tracepoints made they are its own frames,
 * unless the user asks for something else.
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

/* What a frame collects. */
struct ts_collect {
	bool has_regs;     /* regs */
	bool has_code;     /* code: the instruction's bytes */
	bool has_accessed; /* accessed: memory that the instruction reads and writes, as it was before */
	uint64_t stack;    /* stack:LEN: bytes from the stack pointer upwards */
	struct ts_range memory[TS_MAX_SELECTED]; /* mem:ADDR+LEN */
	unsigned n_memory;
};

/* What a user asked for. */
struct ts_selection_options {
	uint64_t first, last; /* positions, both inclusive; last is clipped to the end of the recording */
	uint64_t at[TS_MAX_SELECTED];
	unsigned n_at;
	struct ts_collect collect;
	bool has_positions, has_collect; /* the user said so */
};

/* Everything, with what is sensible to collect. */
void ts_selection_options_init(struct ts_selection_options *o);

/*
 * Read A:B (either may be missing), an address, and a list as in regs,stack:256,mem:ADDR+LEN,accessed,code.
 * Numbers are as in C.
 *
 * Returns false (TS_EUSAGE) if the text is malformed, or there are too many items.
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
	struct ts_frames *base;   /* borrowed; the recording's own frames; NULL: they are made here */
	uint8_t *regs, *known;    /* owned; of one position; one allocation, at regs */
	bool is_cut;              /* bytes that were accessed are in no frame: TS_MAX_ACCESSED */
};

/* Limit, in bytes, on one frame's accesses that are longer than a page: a step can list gigabytes. */
#define TS_MAX_ACCESSED (UINT64_C(1) << 20)

/*
 * Select from a recording.
 *
 * Returns false if no position is in the range (TS_EUSAGE), nothing was executed at the addresses
 * (TS_EUNSUPPORTED), the trace cannot be read any more, or memory is exhausted.  Call ts_selection_fini() in
 * both cases.  @s must not be moved.
 */
bool ts_selection_init(struct ts_selection *s, struct ts_query *q, const struct ts_selection_options *o,
		       struct ts_error *err);
void ts_selection_fini(struct ts_selection *s);

#endif
