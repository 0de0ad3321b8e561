/* SPDX-License-Identifier: MIT */
/*
 * Finds whether a system call changes rax before the next record of rax, in a log of x86-64.
 *
 * gdb does not log that `syscall` writes rax.  A record of rax has the value that rax had at the end of the
 * time since the record before.  If a system call was executed in between, the value is its result.
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
	AHEAD_FAR,     /* neither was found within the limit of the search */
};

struct ahead {
	const struct regs *regs; /* borrowed */
	bool is_18;              /* the log is that of gdb 18 */
	struct ts_window window;
	uint64_t from, until; /* of the last search: groups in [from, until) do not decide, that at until does */
	enum ahead_rax found;
};

void ahead_init(struct ahead *a, const struct regs *regs, const struct ts_source *src, uint64_t log_end,
		bool is_18);
void ahead_fini(struct ahead *a);

/*
 * Set *found to the first of the cases above from the group at file offset @off on.  Damage counts as the end
 * of the log.  Searches with ascending @off need one pass over the log together.
 *
 * Returns false if the file cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ahead_look(struct ahead *a, uint64_t off, enum ahead_rax *found, struct ts_error *err);

/* The records of a group that decide whether it is a system call. */
struct ahead_group {
	bool has_rax, has_rcx, has_r11;
	uint64_t rcx, pc;
};

/* gdb's numbers of the registers that decide. */
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

/*
 * Is the group a system call whose result is not logged?  It writes its return address to rcx, and writes
 * r11.
 */
static inline bool ahead_is_syscall(const struct ahead_group *g)
{
	return g->has_rcx && g->has_r11 && !g->has_rax && g->rcx == g->pc;
}

#endif
