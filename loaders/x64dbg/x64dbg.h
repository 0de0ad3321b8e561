/* SPDX-License-Identifier: MIT */
/*
 * An open trace of x64dbg, shared by the files of this folder.
 */
#ifndef LOADERS_X64DBG_H
#define LOADERS_X64DBG_H

#include <stdbool.h>
#include <stdint.h>

#include "loaders/kit/warn.h"
#include "regs.h"
#include "src/source/source.h"
#include "src/trace/reader.h"

/* The interval, in blocks of a session, between blocks with all registers. */
#define X64DBG_PAGE_BLOCKS 512u

/* The name of a thread, from a plugin. */
struct x64dbg_name {
	uint32_t tid;
	char text[32];
};

#define X64DBG_MAX_NAMES 64u

struct x64dbg {
	struct ts_recording base;
	const struct ts_source *src; /* borrowed */
	bool is_64;
	uint64_t first; /* file offset after the head */
	uint64_t pid;   /* from a user block; 1 without such a block */
	struct ts_warner warner;
	struct x64dbg_layout layout;
	struct x64dbg_name names[X64DBG_MAX_NAMES];
	unsigned n_names;
	bool has_no_forms; /* for tests: forms (form.h) are not used */
};

/*
 * A reader at position 0.  The state of position 0 is appended to @initial, which may be NULL.
 *
 * Returns the reader, which the caller closes with its close().
 * Returns NULL if the trace has no instruction (TS_EUNSUPPORTED).
 * Returns NULL if the trace is damaged before the first one (TS_ETRUNC, TS_ECORRUPT) or cannot be read
 * (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_reader *x64dbg_reader_new(struct x64dbg *rec, struct ts_steps *initial, struct ts_error *err);

/*
 * Add the processes, threads, modules and memory to the recording that the last block of the file lists, if
 * it is the block of a plugin that tracestub supports.  A block that is damaged or of another plugin is
 * ignored with a warning.
 *
 * Returns false if the file cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool x64dbg_read_facts(struct x64dbg *rec, struct ts_error *err);

#endif
