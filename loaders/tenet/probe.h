/* SPDX-License-Identifier: MIT */
/*
 * The first lines of a file: is it a Tenet log?  There is no magic number, but every line is a list of names
 * and hex values, and one of the names is a program counter.
 */
#ifndef LOADERS_TENET_PROBE_H
#define LOADERS_TENET_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tenet_head {
	const char *arch;  /* by the names; NULL: they do not tell */
	bool has_pc;       /* a program counter is listed */
	bool has_r15;      /* the program counter of ARM, or a register of x86-64 */
	bool has_high;     /* one of r0 to r12, of which x86-64 has some */
	bool is_pc_wide;   /* with more than 32 bits */
	bool is_utf16;
	unsigned n_lists;  /* lines that are lists, of those that are whole */
	unsigned n_others; /* that are not; comments and empty lines do not count */
	bool is_first_list; /* the first that counts is a list */
};

/* Look at the first @len bytes of a file. */
void tenet_head_scan(struct tenet_head *h, const uint8_t *bytes, size_t len);

/* The bytes of the mark of UTF-8 at the beginning of a file. */
size_t tenet_mark_len(const uint8_t *bytes, size_t len);

/* Is it a log, by what was seen? */
bool tenet_head_is_log(const struct tenet_head *h);

#endif
