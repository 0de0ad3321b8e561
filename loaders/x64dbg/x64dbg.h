/* SPDX-License-Identifier: MIT */
/*
 * What the files of the x64dbg loader share: the recording.
 */
#ifndef LOADERS_X64DBG_H
#define LOADERS_X64DBG_H

#include <stdbool.h>
#include <stdint.h>

#include "loaders/kit/warn.h"
#include "regs.h"
#include "src/source/source.h"
#include "src/trace/reader.h"

/* Interval, in blocks of a session, of the blocks that hold all registers. */
#define X64DBG_PAGE_BLOCKS 512u

/* What a plugin calls a thread. */
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
	uint64_t pid;   /* as a user block says, else 1 */
	struct ts_warner warner;
	struct x64dbg_layout layout;
	struct x64dbg_name names[X64DBG_MAX_NAMES];
	unsigned n_names;
	bool has_no_forms; /* for tests: each block is read as if there had been none of its form before */
};

/* A reader at position 0; what position 0 holds goes to @initial (NULL: nowhere). */
struct ts_reader *x64dbg_reader_new(struct x64dbg *rec, struct ts_steps *initial, struct ts_error *err);

/*
 * The user block that ends the file, if it is one of a plugin that lists processes, threads, modules, and
 * memory: what it says becomes the recording's.
 *
 * Returns false if the file cannot be read (TS_EIO), or if memory is exhausted (TS_ENOMEM); a block that is
 * damaged or of another plugin is ignored, with a warning.
 */
bool x64dbg_read_facts(struct x64dbg *rec, struct ts_error *err);

#endif
