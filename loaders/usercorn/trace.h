/* SPDX-License-Identifier: MIT */
/*
 * An open trace of Usercorn: what the files of this folder share.
 */
#ifndef LOADERS_USERCORN_TRACE_H
#define LOADERS_USERCORN_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"
#include "loaders/kit/warn.h"
#include "src/arch/x86_insn.h"
#include "src/trace/reader.h"
#include "stream.h"

/* Contents that a leading keyframe gives to a region: a TS_FX_WRITE of the initial effects. */
struct ucir_content {
	uint64_t addr; /* as in the effect */
	uint32_t thread;
	uint32_t effect;
};

struct usercorn {
	struct ts_recording base;
	struct ucir_bytes bytes;
	const struct ucir_arch *arch;
	const struct ts_arch *model; /* the same in the order of this trace */
	uint8_t version; /* 0, 1 or 2 */
	bool is_code_big_endian;
	uint64_t addr_mask;
	struct ucir_slot slots[UCIR_N_REGS];
	/* x86 of 32 and 64 bits before version 2: general registers, which come first; 0 for others */
	uint32_t n_gprs;
	struct ts_x86 x86; /* if there are any */
	struct ts_warner warner; /* by stream offsets */
	bool is_cut;        /* the recorder said that it ended before the program */
	uint64_t last_name; /* the stream offset of the last NOTE of a thread's name that was taken, 0: none was */
	/* Made when the initial state is complete. */
	struct ucir_content *contents; /* owned; by thread and address */
	uint32_t n_contents;
};

/* Of whom a frame with @pid is: in version 2 a process and a thread of it, before that a process. */
static inline uint64_t ucir_process_id(const struct usercorn *rec, uint64_t pid)
{
	return rec->version < 2 ? pid : pid >> 32;
}

#endif
