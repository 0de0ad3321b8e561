/* SPDX-License-Identifier: MIT */
/*
 * Groups of the log, as steps.
 *
 * A record's value is that at the end of its group: of several records of one place in a group the last one
 * counts, the others have the value before the instruction.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rax_lookahead.h"
#include "gdbrecord.h"
#include "src/trace/point.h"
#include "log.h"

/* Memory of one record is taken in pieces of this size. */
#define PIECE 65536u

/* The Thumb bit of ARM's cpsr. */
#define THUMB 0x20u

struct reader {
	struct ts_reader base;
	struct gdbrecord *rec; /* borrowed */
	struct ts_window window;
	struct ahead ahead;
	struct insn_cache *code; /* owned */
	uint64_t off;            /* file offset of the next group */
	uint64_t pc;
	uint64_t values[GDBRECORD_N_ABI]; /* of the ABI's registers, as logged */
	uint64_t status;                  /* ARM: cpsr */
	uint64_t number; /* x86-64: rax, if it is known; values[0] is what was logged of it */
	bool has_number;
	uint32_t signal;   /* the next group is the delivery of this signal; 0: it is an instruction */
	uint64_t n_groups; /* that this reader has begun */
	struct {
		uint64_t group; /* ordinal among them of the last group with this register, from 1 */
		uint32_t effect;
	} last[REGS_N_NUMBERS];
};

/* gdb's number of the register with the result of a system call. */
static unsigned result_reg(const struct reader *r)
{
	return r->rec->abi->regs[r->rec->abi->result_at];
}

/* One group, while it is read. */
struct group {
	const struct insn *insn;
	struct ahead_group seen; /* x86-64 */
	uint32_t signal;
	uint64_t pc;     /* after it */
	uint64_t end;    /* file offset of the next group */
	uint32_t rax;    /* ordinal of the effect that sets rax, if seen.has_rax */
	bool has_result; /* the register of system calls' results was written */
};

/* ------------------------------------------------------------------------------------------ registers */

/* Keep what system calls and ARM's modes need. */
static void keep_value(struct reader *r, const struct log_record *rec, unsigned kept, struct group *g)
{
	uint64_t v = ts_arch_get(r->rec->base.regs.arch, rec->bytes, r->rec->regs.slots[rec->number].len);

	if (kept == GDBRECORD_KEPT_PC) {
		g->pc = v;
		return;
	}
	if (kept == GDBRECORD_KEPT_STATUS) {
		r->status = v;
		return;
	}
	r->values[kept - 1] = v;
	g->has_result |= kept - 1u == r->rec->abi->result_at;
}

static void put_register(struct reader *r, const struct log_record *rec, struct group *g,
			 struct ts_steps *out)
{
	const struct regs_slot *slot = &r->rec->regs.slots[rec->number];
	unsigned kept = r->rec->kept[rec->number];

	if (kept)
		keep_value(r, rec, kept, g);
	if (r->rec->abi->is_result_unlogged)
		ahead_note(&g->seen, rec->number, rec->bytes);
	if (!slot->len || kept == GDBRECORD_KEPT_PC)
		return;
	if (r->last[rec->number].group == r->n_groups && !out->is_failed) {
		memcpy(out->data + out->effects[r->last[rec->number].effect].data, rec->bytes, slot->len);
		return;
	}
	r->last[rec->number].group = r->n_groups;
	r->last[rec->number].effect = out->n_effects;
	if (rec->number == result_reg(r))
		g->rax = out->n_effects;
	if (slot->len <= 8)
		ts_steps_word(out, TS_FX_REG_WRITE, slot->off, rec->bytes, slot->len);
	else
		ts_steps_value(out, TS_FX_REG_WRITE, slot->off, rec->bytes, slot->len);
}

/* --------------------------------------------------------------------------------------------- memory */

/*
 * A region that the core file lacks was unmapped before it was made: gdb could not swap its records with
 * memory, so that they have the bytes from before the instruction.  Where the core does not list regions, gdb
 * left some out that it did swap.
 */
static void put_piece(const struct reader *r, uint64_t addr, const uint8_t *bytes, uint32_t len,
		      bool is_there, struct ts_steps *out)
{
	struct ts_effect *e;

	if (is_there || !r->rec->has_files) {
		ts_steps_value(out, TS_FX_WRITE, addr, bytes, len);
		return;
	}
	e = ts_steps_value(out, TS_FX_READ, addr, bytes, len);
	if (e)
		e->is_hidden = true;
	ts_steps_effect(out, TS_FX_WRITE, addr, len);
}

/* The bytes of a record, which follow at @c. */
static void put_bytes(struct reader *r, struct ts_cursor *c, uint64_t addr, uint64_t left,
		      struct ts_steps *out)
{
	while (left && ts_ok(c)) {
		uint64_t room;
		const struct core_load *load = core_find(&r->rec->core, addr, &room);
		uint32_t n = left < PIECE ? (uint32_t)left : PIECE;
		const uint8_t *p;

		if (room < n)
			n = (uint32_t)room;
		if (!ts_window_ahead(&r->window, c, n))
			return;
		p = ts_take(c, n);
		if (p)
			put_piece(r, addr, p, n, load != NULL, out);
		if (load && load->prot & TS_PROT_EXEC)
			insn_note_write(r->code, addr, n);
		addr += n;
		left -= n;
	}
}

static void put_memory(struct reader *r, struct ts_cursor *c, const struct log_record *rec,
		       struct ts_steps *out)
{
	uint64_t mask = ts_arch_addr_mask(r->rec->base.regs.arch);

	if (rec->len && (rec->addr > mask || rec->len - 1 > mask - rec->addr)) {
		ts_warn_at(&r->rec->warner, c->off,
			   "memory records beyond the last address are ignored, the first at 0x%" PRIx64,
			   c->off);
		log_skip(&r->window, c, rec->len);
		return;
	}
	put_bytes(r, c, rec->addr, rec->len, out);
}

/* ---------------------------------------------------------------------------------------- system calls, rax */

/*
 * rax after an instruction that sets it to a constant, or to a register of the ABI; these set call numbers.
 */
static bool find_constant(const struct reader *r, const struct insn *insn, uint64_t *value)
{
	static const uint8_t regs[8] = {
		0, 0xff, 3, 0xff, 0xff, 0xff, 4, 5
	}; /* gdb's numbers of the encoding's low 8 */
	const uint8_t *b = insn->bytes;
	unsigned at = insn->n_bytes > 2 && (b[0] & 0xfb) == 0x48, source;
	uint32_t imm;

	if (insn->len == 5 && b[0] == 0xb8) {
		memcpy(&imm, b + 1, 4);
		*value = le32toh(imm);
		return true;
	}
	if (insn->len == 7 && b[0] == 0x48 && b[1] == 0xc7 && b[2] == 0xc0) {
		memcpy(&imm, b + 3, 4);
		*value = (uint64_t)(int64_t)(int32_t)le32toh(imm);
		return true;
	}
	if (insn->len == 2 && (b[0] == 0x31 || b[0] == 0x33) && b[1] == 0xc0) {
		*value = 0;
		return true;
	}
	if (insn->len != at + 2u || b[at] != 0x89 || (b[at + 1] & 0xc7) != 0xc0)
		return false;
	source = b[at + 1] >> 3 & 7;
	source = at && b[0] & 4 ? source + 8 : regs[source];
	for (unsigned i = 1; i < GDBRECORD_N_ABI; i++) {
		if (r->rec->abi->regs[i] == source) {
			*value = at ? r->values[i] : (uint32_t)r->values[i];
			return true;
		}
	}
	return false;
}

/* The effect that sets rax gets this value, or none. */
static void set_rax(struct ts_steps *out, uint32_t effect, bool is_known, uint64_t value)
{
	uint64_t bytes = htole64(value);

	if (out->is_failed)
		return;
	if (is_known)
		memcpy(out->data + out->effects[effect].data, &bytes, sizeof(bytes));
	else
		out->effects[effect].data = TS_NO_DATA;
}

/* A record of rax: a system call that follows may have put its result there. */
static void judge_rax(struct reader *r, const struct group *g, bool is_kept, struct ts_steps *out)
{
	r->has_number = true;
	r->number = r->values[0];
	if (is_kept)
		return;
	r->has_number = find_constant(r, g->insn, &r->number);
	set_rax(out, g->rax, r->has_number, r->number);
}

/*
 * A system call without a record of rax: the result is what was logged before it, unless another call
 * follows.
 */
static void put_result(struct reader *r, bool is_kept, struct ts_steps *out)
{
	const struct regs_slot *slot = &r->rec->regs.slots[result_reg(r)];
	uint64_t bytes = htole64(r->values[0]);

	r->has_number = is_kept;
	r->number = r->values[0];
	if (is_kept)
		ts_steps_value(out, TS_FX_REG_WRITE, slot->off, &bytes, sizeof(bytes));
	else
		ts_steps_effect(out, TS_FX_REG_WRITE, slot->off, sizeof(bytes));
}

/* Hide the step's writes to memory: the kernel made them. */
static void hide_writes(struct ts_steps *out)
{
	for (uint32_t i = out->n_closed; i < out->n_effects; i++) {
		if (out->effects[i].kind == TS_FX_WRITE)
			out->effects[i].is_hidden = true;
	}
}

/* The call's number and arguments are @before, the result is there now. */
static void put_syscall(struct reader *r, const uint64_t before[GDBRECORD_N_ABI], bool has_number,
			uint64_t number, bool has_result, uint64_t result, struct ts_steps *out)
{
	struct ts_event *ev;

	hide_writes(out);
	if (!has_number) {
		ts_warn_at(&r->rec->warner, r->off,
			   "gdb does not log the numbers of system calls: some are unknown, and not listed");
		return;
	}
	ev = ts_steps_event(out, TS_EV_SYSCALL);
	if (!ev)
		return;
	ev->number = number;
	ev->n_args = GDBRECORD_N_ABI - 1;
	memcpy(ev->args, before + 1, sizeof(uint64_t) * ev->n_args);
	ev->has_ret = has_result;
	ev->ret = result;
}

/* Returns false if the file cannot be read. */
static bool finish_x64(struct reader *r, const struct group *g, const uint64_t before[GDBRECORD_N_ABI],
		       struct ts_steps *out, struct ts_error *err)
{
	bool had_number = r->has_number, is_syscall = g->insn->is_syscall || !g->insn->len;
	bool is_unlogged = ahead_is_syscall(&g->seen) && is_syscall;
	enum ahead_rax found = AHEAD_KEPT;
	uint64_t number = r->number;

	if ((g->seen.has_rax || is_unlogged) && !ahead_look(&r->ahead, g->end, &found, err))
		return false;
	if (g->seen.has_rax)
		judge_rax(r, g, found == AHEAD_KEPT, out);
	else if (is_unlogged)
		put_result(r, found == AHEAD_KEPT, out);
	if (is_unlogged || (g->insn->is_syscall && !g->signal && g->pc != r->pc))
		put_syscall(r, before, had_number, number, is_unlogged && r->has_number, r->number, out);
	return true;
}

static void finish_other(struct reader *r, const struct group *g, const uint64_t before[GDBRECORD_N_ABI],
			 struct ts_steps *out)
{
	/*
	 * qemu-user's stub executes the instruction after the call in the same step; it may change the result
	 */
	bool is_alone = g->pc == r->pc + g->insn->len;

	if (g->insn->is_syscall && g->has_result && !g->signal)
		put_syscall(r, before, true, before[0], is_alone, r->values[r->rec->abi->result_at], out);
}

/* ---------------------------------------------------------------------------------------------- steps */

static bool read_records(struct reader *r, struct ts_cursor *c, struct group *g, struct ts_steps *out)
{
	struct log_place at = { .is_18 = r->rec->is_18 };
	struct log_record rec;

	do {
		if (!log_take(&r->window, c, &r->rec->regs, &at, &rec))
			return false;
		switch (rec.kind) {
		case LOG_REG: put_register(r, &rec, g, out); break;
		case LOG_MEM: put_memory(r, c, &rec, out); break;
		case LOG_END: g->signal = rec.number; break;
		}
	} while (rec.kind != LOG_END && ts_ok(c));
	return ts_ok(c);
}

/* gdb's number of a signal, and whether the step is the one before its delivery: the log has no further one. */
static void put_signal(uint32_t number, bool is_after, struct ts_steps *out)
{
	struct ts_event *ev = ts_steps_event(out, TS_EV_SIGNAL);

	if (!ev)
		return;
	ev->number = number;
	ev->is_after = is_after;
}

/* The next group's effects, in @out. */
static bool read_group(struct reader *r, struct group *g, struct ts_steps *out, struct ts_error *err)
{
	struct ts_cursor c = log_cursor(&r->window, r->off, err);
	uint64_t before[GDBRECORD_N_ABI], status = r->status;
	struct insn_written written = r->code->written;
	bool done;

	memcpy(before, r->values, sizeof(before));
	r->n_groups++;
	g->insn = insn_at(r->code, &r->rec->code, r->pc, status & THUMB, err);
	done = g->insn && read_records(r, &c, g, out);
	g->end = c.off;
	if (done && r->rec->abi->is_result_unlogged)
		done = finish_x64(r, g, before, out, err);
	else if (done)
		finish_other(r, g, before, out);
	if (!done) {
		memcpy(r->values, before, sizeof(before));
		r->status = status;
		r->code->written = written;
	}
	return done;
}

static bool is_end(const struct reader *r)
{
	return r->off >= r->rec->core.log_end && !r->rec->core.is_log_short;
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct reader *r = (struct reader *)base;
	struct group g = { .pc = r->pc };

	if (is_end(r))
		return TS_END;
	if (!read_group(r, &g, out, err))
		return TS_FAIL;
	r->off = g.end;
	if (r->signal) {
		hide_writes(out);
		put_signal(r->signal, false, out);
	}
	if (g.signal && is_end(r))
		put_signal(g.signal, true, out);
	ts_steps_close(out, r->pc, g.insn->len, 0);
	if (g.signal && g.pc == r->pc && !r->signal && out->n_steps)
		out->steps[out->n_steps - 1].is_undone = true;
	r->signal = g.signal;
	r->pc = base->end.pc = g.pc;
	return TS_ITEM;
}

/* -------------------------------------------------------------------------------------- decode points */

static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct reader *r = (struct reader *)base;

	r->off = ts_point_between(p, r->off, r->rec->first, r->rec->core.log_end);
	TS_POINT(p, r->pc, UINT64_MAX);
	ts_point_change(p, (uint8_t *)r->values, (const uint8_t *)r->rec->values, sizeof(r->values));
	TS_POINT(p, r->status, UINT64_MAX);
	TS_POINT(p, r->has_number, 1);
	TS_POINT(p, r->signal, UINT32_MAX);
	TS_POINT(p, r->number, UINT64_MAX);
	TS_POINT(p, r->code->written.first, UINT64_MAX);
	TS_POINT(p, r->code->written.last, UINT64_MAX);
	r->base.end.pc = r->pc;
	return ts_point_close(p);
}

static void close_reader(struct ts_reader *base)
{
	struct reader *r = (struct reader *)base;

	ts_window_fini(&r->window);
	ahead_fini(&r->ahead);
	free(r->code);
}

static const struct ts_reader_ops ops = {
	.size = sizeof(struct reader), .next = next, .point = point, .close = close_reader
};

struct ts_reader *gdbrecord_reader(struct ts_recording *base, struct ts_error *err)
{
	struct gdbrecord *rec = (struct gdbrecord *)base;
	struct reader *r = ts_reader_new(&ops, err);

	if (!r)
		return NULL;
	r->code = calloc(1, sizeof(*r->code));
	if (!r->code) {
		ts_reader_close(&r->base);
		return ts_no_memory(err, "a reader");
	}
	r->base.end = (struct ts_end){ .pc = rec->pc, .has_pc = true };
	r->rec = rec;
	r->off = rec->first;
	r->pc = rec->pc;
	memcpy(r->values, rec->values, sizeof(r->values));
	r->status = rec->status;
	r->number = rec->values[0];
	r->has_number = rec->has_number;
	ts_window_init(&r->window, rec->core.src, rec->core.log_end);
	ahead_init(&r->ahead, &rec->regs, rec->core.src, rec->core.log_end, rec->is_18);
	insn_cache_init(r->code);
	return &r->base;
}
