/* SPDX-License-Identifier: MIT */
#include "log.h"

/* The longest record but for its memory or value. */
#define MAX_HEAD 13u

static bool take_end(struct ts_cursor *c, struct log_record *rec)
{
	rec->number = ts_u32be(c);
	rec->count = ts_u32be(c);
	return ts_ok(c);
}

static bool take_register(struct ts_window *w, struct ts_cursor *c, const struct regs *regs,
			  struct log_record *rec)
{
	uint64_t off = c->off;
	unsigned len;

	rec->number = ts_u32be(c);
	len = rec->number < REGS_N_NUMBERS ? regs->slots[rec->number].file_len : 0;
	if (!ts_ok(c))
		return false;
	if (!len)
		return ts_fail(c->err, TS_ECORRUPT, off, "register %u has no known size", rec->number);
	if (!ts_window_ahead(w, c, len))
		return false;
	rec->bytes = ts_take(c, len);
	return rec->bytes != NULL;
}

static bool take_memory(struct ts_window *w, struct ts_cursor *c, struct log_record *rec)
{
	uint64_t off = c->off, high;

	rec->len = ts_u32be(c);
	high = ts_u32be(c);
	rec->addr = high << 32 | ts_u32be(c);
	if (!ts_ok(c))
		return false;
	return rec->len <= w->end - c->off ||
	       ts_fail(c->err, TS_ETRUNC, off, "memory of %u bytes, but %llu bytes of the log are left",
		       rec->len, (unsigned long long)(w->end - c->off));
}

bool log_take_any(struct ts_window *w, struct ts_cursor *c, const struct regs *regs, struct log_record *rec)
{
	uint64_t off = c->off;
	uint8_t kind;

	if (!ts_window_ahead(w, c, MAX_HEAD))
		return false;
	kind = ts_u8(c);
	rec->kind = (enum log_kind)kind;
	switch (kind) {
	case LOG_END: return take_end(c, rec);
	case LOG_REG: return take_register(w, c, regs, rec);
	case LOG_MEM: return take_memory(w, c, rec);
	default: return ts_ok(c) && ts_fail(c->err, TS_ECORRUPT, off, "a record of type %u", kind);
	}
}

void log_skip(struct ts_window *w, struct ts_cursor *c, uint64_t len)
{
	if (len <= c->left) {
		ts_take(c, len);
		return;
	}
	*c = ts_cursor(NULL, 0, c->off + len, c->what, c->err);
	ts_window_ahead(w, c, 1);
}
