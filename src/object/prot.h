/* SPDX-License-Identifier: MIT */
/* The protection of a range of memory. */
#ifndef TS_PROT_H
#define TS_PROT_H

/* Bits. */
enum ts_prot {
	TS_PROT_READ = 1,
	TS_PROT_WRITE = 2,
	TS_PROT_EXEC = 4,
};

#endif
