/* SPDX-License-Identifier: MIT */
/* The place of a variable at one position, and the state that its computation needs. */
#ifndef TS_VARIABLE_PLACE_H
#define TS_VARIABLE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* The state at the position. */
struct ts_variable_frame {
	uint64_t pc;   /* as linked */
	uint64_t bias; /* from addresses as linked to those in memory */
	/* The register with DWARF's number @number.  Returns false if its value is not known. */
	bool (*reg)(void *user, unsigned number, uint64_t *value);
	/* The number in the @len (1 to 8) bytes at @addr.  Returns false if it is not known. */
	bool (*mem)(void *user, uint64_t addr, unsigned len, uint64_t *value);
	void *user;
};

enum ts_variable_kind {
	TS_VARIABLE_NONE,     /* no variable of that name is in scope */
	TS_VARIABLE_MEMORY,
	TS_VARIABLE_REGISTER,
	TS_VARIABLE_NOWHERE,  /* the variable has no place; why has the reason */
};

/* A function is one range of code, or two, and seldom more. */
#define TS_VARIABLE_RANGES 8u

struct ts_variable {
	enum ts_variable_kind kind;
	uint64_t addr, len;  /* MEMORY: bytes [addr, addr + len) */
	unsigned reg;        /* REGISTER: DWARF's number; its bytes [off, off + len), the lowest first */
	uint32_t off;
	bool is_in_frame;    /* MEMORY: a part of the function's frame, which differs in each call */
	struct {
		uint64_t first, last;
	} code[TS_VARIABLE_RANGES]; /* MEMORY: that function's code; both inclusive */
	unsigned n_code;     /* 0: unknown, or more than TS_VARIABLE_RANGES */
	uint64_t entry;      /* MEMORY: the first instruction of the function that has the variable; 0: unknown */
	const char *why;     /* NOWHERE, of NONE or NULL: the end of a sentence that begins with the name; a constant */
};

#endif
