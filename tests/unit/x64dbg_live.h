/* SPDX-License-Identifier: MIT */
/*
 * Programs run here, an instruction at a time, recorded as x64dbg's recorders do it; and what was true at
 * each stop.
 */
#ifndef TS_TESTS_X64DBG_LIVE_H
#define TS_TESTS_X64DBG_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "x64dbg_writer.h"

#define XL_STATE_LEN 832u
#define XL_SAMPLE_STEPS 61u

/* A stop as it was. */
struct xl_truth {
	uint32_t tid;
	struct user_regs_struct regs;
	uint8_t state[XL_STATE_LEN]; /* x87, xmm, ymm as xsave writes them */
	uint32_t fctrl, fstat, ftag, fiseg, foseg, fop; /* made of it as debuggers have them */
};

/* A page of the program from some sample on. */
struct xl_page {
	uint64_t addr;
	uint32_t sample; /* stop sample * XL_SAMPLE_STEPS */
	uint8_t data[4096];
};

struct xl_run {
	struct xw_writer w;
	struct xl_truth *stops; /* owned */
	size_t n_stops;
	struct xl_page *pages; /* owned; by address, then sample */
	size_t n_pages, cap_pages;
	unsigned n_syscalls;
};

/*
 * Run @program (a path), or, if it is NULL, @work, in a child with threads whose turns change at random; record it
 * up to @max_stops.
 *
 * Returns false, with the reason on stderr and nothing to free, if the program cannot be run or traced here.
 */
bool xl_run(struct xl_run *run, const char *program, void (*work)(void), bool is_64, struct xw_era era,
	    size_t max_stops);
void xl_fini(struct xl_run *run);

/*
 * Where in a struct xl_truth the value of gdb's register @name is; false if the recorders do not have it.
 */
bool xl_reg(const struct xl_run *run, const char *name, size_t *off);

/* The page @addr as of a sample, NULL if it was not writable then. */
const uint8_t *xl_page_at(const struct xl_run *run, uint64_t addr, uint32_t sample);

#endif
