/* SPDX-License-Identifier: MIT */
#include "x64dbg_writer.h"

#include <stdio.h>
#include <string.h>

static unsigned width(bool is_64)
{
	return is_64 ? 8 : 4;
}

static unsigned all_slots(bool is_64)
{
	return is_64 ? 172 : 216;
}

static void put_word(struct ts_buf *file, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		ts_buf_putc(file, (uint8_t)(v >> 8 * i));
}

void xw_head(struct ts_buf *file, bool is_64, const char *json)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"ver\":1,\"arch\":\"%s\",\"hashAlgorithm\":\"murmurhash\",\"hash\":\"0x1234\","
		 "\"compression\":\"\","
		 "\"path\":\"C:\\\\dir\\\\prog.exe\"}",
		 is_64 ? "x64" : "x86");
	if (!json)
		json = text;
	ts_buf_puts(file, "TRAC");
	put_word(file, strlen(json), 4);
	ts_buf_puts(file, json);
}

void xw_put_block(struct ts_buf *file, bool is_64, const struct xw_block *b)
{
	unsigned last = 0;

	ts_buf_putc(file, 0);
	ts_buf_putc(file, (uint8_t)b->n_regs);
	ts_buf_putc(file, (uint8_t)b->n_mem);
	ts_buf_putc(file, (uint8_t)(b->n_opcode | (b->is_flagged ? 0x80 : 0)));
	if (b->has_tid)
		put_word(file, b->tid, 4);
	ts_buf_put(file, b->opcode, b->n_opcode);
	for (unsigned i = 0; i < b->n_regs; i++) {
		ts_buf_putc(file, (uint8_t)(b->regs[i].slot - last));
		last = b->regs[i].slot + 1;
	}
	for (unsigned i = 0; i < b->n_regs; i++)
		put_word(file, b->regs[i].value, width(is_64));
	for (unsigned i = 0; i < b->n_mem; i++)
		ts_buf_putc(file, b->mem[i].old == b->mem[i].now);
	for (unsigned i = 0; i < b->n_mem; i++)
		put_word(file, b->mem[i].addr, width(is_64));
	for (unsigned i = 0; i < b->n_mem; i++)
		put_word(file, b->mem[i].old, width(is_64));
	for (unsigned i = 0; i < b->n_mem; i++) {
		if (b->mem[i].old != b->mem[i].now)
			put_word(file, b->mem[i].now, width(is_64));
	}
}

void xw_user_block(struct ts_buf *file, uint8_t type, const void *data, uint32_t len)
{
	ts_buf_putc(file, type);
	put_word(file, len, 4);
	ts_buf_put(file, data, len);
}

struct xw_block xw_insn(bool is_64, uint64_t pc, const void *opcode, unsigned len)
{
	struct xw_block b = { .n_opcode = len };

	memcpy(b.opcode, opcode, len);
	xw_reg(&b, is_64 ? 16 : 8, pc);
	return b;
}

/* Kept in order. */
void xw_reg(struct xw_block *b, unsigned slot, uint64_t value)
{
	unsigned i = b->n_regs++;

	for (; i && b->regs[i - 1].slot > slot; i--)
		b->regs[i] = b->regs[i - 1];
	b->regs[i].slot = slot;
	b->regs[i].value = value;
}

void xw_mem(struct xw_block *b, uint64_t addr, uint64_t old, uint64_t now)
{
	b->mem[b->n_mem++] = (struct xw_mem){ addr, old, now };
}

struct xw_block xw_full(bool is_64, const struct xw_block *b, uint32_t tid)
{
	struct xw_block full = *b;
	unsigned n = 0;

	full.has_tid = full.is_flagged = true;
	full.tid = tid;
	full.n_regs = all_slots(is_64);
	for (unsigned slot = 0; slot < full.n_regs; slot++) {
		bool is_listed = n < b->n_regs && b->regs[n].slot == slot;

		full.regs[slot].slot = slot;
		full.regs[slot].value = is_listed ? b->regs[n++].value : 0;
	}
	return full;
}

/* -------------------------------------------------------------------------------------- from an execution */

void xw_start(struct xw_writer *w, bool is_64, struct xw_era era)
{
	*w = (struct xw_writer){ .is_64 = is_64, .era = era };
	xw_head(&w->file, is_64, NULL);
}

void xw_new_session(struct xw_writer *w)
{
	w->n_stops = 0;
	w->n_written = 0;
	w->is_after_switch = false;
}

static uint64_t slot_value(const struct xw_stop *s, unsigned slot, unsigned len)
{
	uint64_t v = 0;

	for (unsigned i = len; i-- > 0;)
		v = v << 8 | s->record[slot * len + i];
	return v;
}

/* Listed is what the instruction before changed, and what this one is going to. */
static void list_regs(const struct xw_writer *w, struct xw_block *b, const struct xw_stop *next, bool is_full)
{
	unsigned len = width(w->is_64);

	for (unsigned slot = 0; slot < all_slots(w->is_64); slot++) {
		uint64_t v = slot_value(&w->pending, slot, len);

		if (is_full || v != slot_value(&w->before, slot, len) || v != slot_value(next, slot, len))
			xw_reg(b, slot, v);
	}
}

static void write_pending(struct xw_writer *w, const struct xw_stop *next)
{
	bool is_full = w->n_written % 512 == 0, is_switch = next->tid != w->pending.tid;
	struct xw_block b = { .n_opcode = w->pending.n_opcode, .tid = w->pending.tid };

	b.is_flagged = is_full || is_switch || (w->is_after_switch && w->era.has_flag);
	b.has_tid = b.is_flagged || w->is_after_switch;
	memcpy(b.opcode, w->pending.opcode, b.n_opcode);
	list_regs(w, &b, next, is_full);
	memcpy(b.mem, w->pending.mem, sizeof(b.mem));
	b.n_mem = w->pending.n_mem;
	xw_put_block(&w->file, w->is_64, &b);
	w->before = w->pending;
	w->is_after_switch = is_switch;
	w->n_written++;
}

void xw_stop(struct xw_writer *w, const struct xw_stop *stop)
{
	if (w->n_stops)
		write_pending(w, stop);
	w->pending = *stop;
	w->n_stops++;
}
