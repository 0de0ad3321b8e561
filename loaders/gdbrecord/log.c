/* SPDX-License-Identifier: MIT */
#include "log.h"

/* The longest record but for its memory or value, and the head of a group of gdb 18's. */
#define MAX_HEAD 18u

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

/* The head of a group: its record of the pc. */
static bool take_head(struct ts_window *w, struct ts_cursor *c, const struct regs *regs, struct log_place *at,
		      struct log_record *rec)
{
	uint64_t off = c->off;

	at->signal = ts_u8(c);
	at->n_left = ts_u32be(c);
	at->count = ts_u32be(c);
	rec->kind = LOG_REG;
	if (!ts_ok(c) || !take_register(w, c, regs, rec))
		return false;
	if (rec->number != regs->pc)
		return ts_fail(c->err, TS_ECORRUPT, off, "register %u is not the pc, which a group begins with",
			       rec->number);
	at->is_in = true;
	return true;
}

static bool take_18(struct ts_window *w, struct ts_cursor *c, const struct regs *regs, struct log_place *at,
		    struct log_record *rec)
{
	uint64_t off = c->off;
	uint8_t kind;

	if (at->is_in && !at->n_left) {
		*rec = (struct log_record){ .kind = LOG_END, .number = at->signal, .count = at->count };
		*at = (struct log_place){ .is_18 = true };
		return true;
	}
	if (!ts_window_ahead(w, c, MAX_HEAD))
		return false;
	if (!at->is_in)
		return take_head(w, c, regs, at, rec);
	at->n_left--;
	kind = ts_u8(c);
	rec->kind = kind ? LOG_MEM : LOG_REG;
	switch (kind) {
	case 0: return take_register(w, c, regs, rec);
	case 1: return take_memory(w, c, rec);
	default: return ts_ok(c) && ts_fail(c->err, TS_ECORRUPT, off, "a record of type %u", kind);
	}
}

bool log_take_any(struct ts_window *w, struct ts_cursor *c, const struct regs *regs, struct log_place *at,
		  struct log_record *rec)
{
	uint64_t off = c->off;
	uint8_t kind;

	if (at->is_18)
		return take_18(w, c, regs, at, rec);
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
