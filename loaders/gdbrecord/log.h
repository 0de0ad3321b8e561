/* SPDX-License-Identifier: MIT */
/*
 * Records of gdb's log (gdb 13.1, record-full.c: record_full_base_target::save_record).
 *
 *      u32 0x20091016, then records:
 *        0  u32 signal, u32 count           the end of a group
 *        1  u32 number, value               a register; its size is not in the file
 *        2  u32 length, u64 address, bytes  memory
 *
 * The log of gdb 18 has a head before each group instead of an end after it (found in its files; gdb 18 does
 * not read older logs):
 *
 *      u32 0x20260415, then groups:
 *        u8 signal, u32 n, u32 count, u32 number and value of the pc, then n records:
 *        0  u32 number, value               a register
 *        1  u32 length, u64 address, bytes  memory
 *
 * Numbers are big-endian, values are in the target's byte order.  Both logs are read as records of the older
 * form: a head becomes the record of the pc, and its other members become the end of the group.
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
	uint32_t len;         /* LOG_MEM: the number of bytes that follow; all of them are in the log */
	uint64_t addr;        /* LOG_MEM */
	const uint8_t *bytes; /* LOG_REG: the value, with 8 readable bytes; valid until the window moves */
};

/* The place of a reader within a group.  At the beginning of a group all members except is_18 are zero. */
struct log_place {
	bool is_18;             /* the log is that of gdb 18 */
	bool is_in;             /* gdb 18: the head of the group has been taken */
	uint32_t n_left;        /* gdb 18: records of the group that follow */
	uint32_t signal, count; /* gdb 18: of its head */
};

/* If at least this many bytes are left, most records need no further check of their length. */
#define LOG_NEAR 64u

/*
 * Returns a cursor over the log from file offset @off on.  Its bytes are borrowed from the window.  If they
 * cannot be read, the cursor is empty and *err is set (TS_EIO, TS_ENOMEM).
 */
static inline struct ts_cursor log_cursor(struct ts_window *w, uint64_t off, struct ts_error *err)
{
	size_t got = 0;
	const uint8_t *p = ts_window_at(w, off, LOG_NEAR, &got, err);

	return ts_cursor(p, p ? got : 0, off, "log", err);
}

/* The slow path of log_take(), for all records.  Returns as log_take() does. */
bool log_take_any(struct ts_window *w, struct ts_cursor *c, const struct regs *regs, struct log_place *at,
		  struct log_record *rec);

/* The big-endian number at @p. */
static inline uint32_t log_be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

/*
 * Read a record.  The bytes of a memory record follow it at the cursor @c, whose bytes are borrowed from the
 * window.  *at is updated.  A group ends with a LOG_END, after which *at is the beginning of the next group.
 *
 * Returns true with *rec set.
 * Returns false, with the cursor's error set, if the log ends here (TS_ETRUNC).
 * Returns false, with the cursor's error set, if the log is damaged (TS_ECORRUPT).
 * Returns false, with the cursor's error set, if the log cannot be read (TS_EIO).
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

/* Skip the @len bytes of a memory record. */
void log_skip(struct ts_window *w, struct ts_cursor *c, uint64_t len);

#endif
