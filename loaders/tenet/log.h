/* SPDX-License-Identifier: MIT */
/*
 * A Tenet log that is open: what its files know together.  README says what the format is.
 */
#ifndef LOADERS_TENET_LOG_H
#define LOADERS_TENET_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "line.h"
#include "loaders/kit/line_reader.h"
#include "src/source/source.h"
#include "src/trace/reader.h"

/* A line is at most this long. */
#define TENET_MAX_LINE (UINT32_C(1) << 20)

/* Position of a reader in a file. */
struct tenet_place {
	uint64_t off;    /* file offset of the line that is read next */
	uint64_t number; /* of that line, from 1 */
	uint64_t pc;     /* of the position */
	uint64_t sp;     /* there */
	uint64_t call;   /* of the register that tells a system call, there */
	bool has_pc, has_sp, has_call;
};

/* A file: the log of a thread. */
struct tenet_part {
	const struct ts_source *src; /* borrowed */
	struct tenet_place start;    /* its position 0 */
};

/* What the first lines show of the writer. */
struct tenet_writer {
	uint32_t n_own, n_previous; /* votes: accesses are those of the line's own instruction, of the previous one */
	bool is_own;
	bool is_true;    /* an mr beside an mw shows what was read, not what is there afterwards */
	bool has_reads;
	bool is_pc_last; /* registers come before the program counter */
	/* absent registers of the first line are zero: it lists those that are not */
	bool is_zero_absent;
};

struct tenet {
	struct ts_recording base;
	struct tenet_names names;
	struct tenet_writer writer;
	struct tenet_part *parts; /* owned; one a thread, whose ordinal is that of the part */
	uint32_t n_parts;
	struct tenet_damages damages;
};

#endif
