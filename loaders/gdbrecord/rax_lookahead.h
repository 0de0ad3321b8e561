/* SPDX-License-Identifier: MIT */
/*
 * A look ahead in the log of x86-64: what rax becomes next.
 *
 * gdb does not log that `syscall` writes rax.  The value that a record of rax shows is the one at the end of
 * the time until the next record, so it is the result of a system call in between, if there is one.
 */
#ifndef GDBRECORD_RAX_LOOKAHEAD_H
#define GDBRECORD_RAX_LOOKAHEAD_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "loaders/kit/window.h"
#include "regs.h"

enum ahead_rax {
	AHEAD_KEPT,    /* no system call changes it before the next record, or before the end of the log */
	AHEAD_SYSCALL, /* a system call without a record of rax comes first */
	AHEAD_FAR,     /* neither comes soon: not looked for */
};

struct ahead {
	const struct regs *regs; /* borrowed */
	bool is_18;              /* the log is that of gdb 18 */
	struct ts_window window;
	uint64_t from, until; /* the last look: groups [from, until) decide nothing, the one at until does */
	enum ahead_rax found;
};

void ahead_init(struct ahead *a, const struct regs *regs, const struct ts_source *src, uint64_t log_end,
		bool is_18);
void ahead_fini(struct ahead *a);

/*
 * Find what comes first from the group at file offset @off on: *found.  Damage ends the log.
 *
 * Looks that go forwards cost one pass over the log together.
 *
 * Returns false if the file cannot be read (TS_EIO) or memory is exhausted (TS_ENOMEM).
 */
bool ahead_look(struct ahead *a, uint64_t off, enum ahead_rax *found, struct ts_error *err);

/* What the records of a group say of the registers that matter. */
struct ahead_group {
	bool has_rax, has_rcx, has_r11;
	uint64_t rcx, pc;
};

/* gdb's numbers of the registers that matter. */
enum ahead_reg {
	AHEAD_RAX = 0,
	AHEAD_RCX = 2,
	AHEAD_R11 = 11,
	AHEAD_RIP = 16,
};

/* Process the record of register @number; 8 bytes are readable at @value. */
static inline void ahead_note(struct ahead_group *g, uint32_t number, const uint8_t *value)
{
	uint64_t v;

	memcpy(&v, value, sizeof(v));
	switch (number) {
	case AHEAD_RAX: g->has_rax = true; break;
	case AHEAD_R11: g->has_r11 = true; break;
	case AHEAD_RIP: g->pc = le64toh(v); break;
	case AHEAD_RCX:
		g->has_rcx = true;
		g->rcx = le64toh(v);
		break;
	default: break;
	}
}

/* Is it a system call whose result is not logged?  rcx then is where it returns to, and r11 was written. */
static inline bool ahead_is_syscall(const struct ahead_group *g)
{
	return g->has_rcx && g->has_r11 && !g->has_rax && g->rcx == g->pc;
}

#endif
