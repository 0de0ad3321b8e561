/* SPDX-License-Identifier: MIT */
/*
 * Records of gdb's log (gdb 13.1, record-full.c: record_full_base_target::save_record).
 *
 *      u32 0x20091016, then records:
 *        0  u32 signal, u32 count           the end of a group
 *        1  u32 number, value               a register; its size is not in the file
 *        2  u32 length, u64 address, bytes  memory
 *
 * That of gdb 18 has a head before each group instead of an end after it (seen in its files; it reads no older
 * ones):
 *
 *      u32 0x20260415, then groups:
 *        u8 signal, u32 n, u32 count, u32 number and value of the pc, then n records:
 *        0  u32 number, value               a register
 *        1  u32 length, u64 address, bytes  memory
 *
 * Numbers are big-endian, values in the target's byte order.  Both are read as records of the older kind: a head
 * is the record of the pc, and what else it has comes as the end of the group.
 */
#ifndef GDBRECORD_LOG_H
#define GDBRECORD_LOG_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "loaders/kit/window.h"
#include "regs.h"

#define LOG_MAGIC     0x20091016u
#define LOG_18_MAGIC  0x20260415u
#define LOG_OLD_MAGIC 0x20090829u

enum log_kind {
	LOG_END,
	LOG_REG,
	LOG_MEM,
};

struct log_record {
	enum log_kind kind;
	uint32_t number;      /* LOG_REG; LOG_END: the signal, as gdb numbers them */
	uint32_t count;       /* LOG_END: gdb's count of instructions */
	uint32_t len;         /* LOG_MEM: how many bytes follow, all of which the log has */
	uint64_t addr;        /* LOG_MEM */
	const uint8_t *bytes; /* LOG_REG: the value, with 8 readable bytes; valid until the window moves */
};

/* Where the reader of a log is within a group; zeros and the version at the beginning of one. */
struct log_place {
	bool is_18;             /* the log is that of gdb 18 */
	bool is_in;             /* gdb 18: the head of the group has been taken */
	uint32_t n_left;        /* gdb 18: records of the group that follow */
	uint32_t signal, count; /* gdb 18: of its head */
};

/* If at least this many bytes are left, most records need no further check of the length. */
#define LOG_NEAR 64u

/*
 * A cursor over the log, whose bytes are the window's, from file offset @off on.
 *
 * It has an error if the bytes cannot be read.
 */
static inline struct ts_cursor log_cursor(struct ts_window *w, uint64_t off, struct ts_error *err)
{
	size_t got = 0;
	const uint8_t *p = ts_window_at(w, off, LOG_NEAR, &got, err);

	return ts_cursor(p, p ? got : 0, off, "log", err);
}

/* As log_take(), for any record. */
bool log_take_any(struct ts_window *w, struct ts_cursor *c, const struct regs *regs, struct log_place *at,
		  struct log_record *rec);

static inline uint32_t log_be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

/*
 * Take a record; the bytes of memory follow it at the cursor @c, whose bytes are the window's.  @at moves along; a
 * group ends with a LOG_END, where @at is at the beginning of the next one.
 *
 * Returns false with the cursor's error: the log ends here (TS_ETRUNC), is damaged (TS_ECORRUPT), or cannot
 * be read.
 */
static inline bool log_take(struct ts_window *w, struct ts_cursor *c, const struct regs *regs,
			    struct log_place *at, struct log_record *rec)
{
	const uint8_t *p = c->p;
	unsigned len;

	if (c->left < LOG_NEAR || at->is_18)
		return log_take_any(w, c, regs, at, rec);
	rec->number = log_be32(p + 1);
	if (*p == LOG_REG) {
		len = rec->number < REGS_N_NUMBERS ? regs->slots[rec->number].file_len : 0;
		if (!len || len > LOG_NEAR - 5)
			return log_take_any(w, c, regs, at, rec);
		rec->kind = LOG_REG;
		rec->bytes = p + 5;
		return ts_take(c, 5 + len) != NULL;
	}
	if (*p != LOG_END)
		return log_take_any(w, c, regs, at, rec);
	rec->kind = LOG_END;
	rec->count = log_be32(p + 5);
	return ts_take(c, 9) != NULL;
}

/* Skip @len bytes of memory, which the log has. */
void log_skip(struct ts_window *w, struct ts_cursor *c, uint64_t len);

#endif
