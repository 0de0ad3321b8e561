/* SPDX-License-Identifier: MIT */
/*
 * Write the executions of blocks as ops.  The block was checked, so its offsets into a record are valid.  The contents of a
 * record are unchecked: addresses and values of the program.
 */
#include <string.h>

#include "decoder_parts.h"
#include "loaders/usercorn/op_write.h"
#include "shadow.h"

/* The destination of an instruction's ops. */
struct sink {
	uint8_t *start, *p;
	uint32_t n_ops;
	struct ts_gap *gap; /* of an instruction that is not recorded: its changes go here; else NULL */
};

static uint64_t u64_at(const uint8_t *p)
{
	uint64_t val;

	memcpy(&val, p, sizeof(val));
	return val;
}

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t val;

	memcpy(&val, p, sizeof(val));
	return val;
}

static uint64_t address(const struct ts_log_decoder *d, const struct ts_log_code_event *e, const uint8_t *record)
{
	if (e->flags & TS_LOG_CONST_ADDR)
		return e->addr;
	return d->guest->word == 8 ? u64_at(record + e->addr) : u32_at(record + e->addr);
}

static const uint8_t *value(const struct ts_log_code_event *e, const uint8_t *record)
{
	static const uint8_t zeros[32];

	if (!(e->flags & TS_LOG_CONST_VALUE))
		return record + e->value;
	return e->len <= 8 ? (const uint8_t *)&e->value : zeros;
}

/* -------------------------------------------------------------------------------- memory */

/* Insert an op before the instruction's accesses. */
static void insert(struct sink *s, const uint8_t *op, size_t len)
{
	if (s->gap) {
		s->gap->is_failed |= !ts_op_piece_bytes(&s->gap->ops, op, len, 1);
		return;
	}
	memmove(s->start + len, s->start, (size_t)(s->p - s->start));
	memcpy(s->start, op, len);
	s->p += len;
	s->n_ops++;
}

/* The kernel extends the main stack without a record in the log. */
static void grow_stack(struct ts_log_decoder *d, struct sink *s, uint64_t addr)
{
	uint64_t start = addr & ~UINT64_C(4095);
	struct ts_region grown = { .start = start, .end = d->stack_low, .prot = 3, .is_stack = true };
	uint8_t op[UCIR_PUT_MAP_LEN + 8];
	uint8_t *end = ucir_put_map(op, start, d->stack_low - start, 3, 0, 0, "stack", 5, "", 0);

	insert(s, op, (size_t)(end - op));
	ts_regions_map(&d->regions, &grown);
	d->stack_low = start;
}

static bool is_in_growth(const struct ts_log_decoder *d, uint64_t addr)
{
	return addr - d->stack_min < d->stack_low - d->stack_min;
}

static void correct(struct ts_log_decoder *d, struct sink *s, uint64_t addr, const uint8_t *found, uint32_t len)
{
	uint8_t op[UCIR_PUT_ACCESS_LEN + 2048];

	ucir_put_contents(op, UCIR_CHANGED, addr, found, len);
	insert(s, op, UCIR_PUT_ACCESS_LEN + len);
	ts_shadow_set(addr, found, len);
	if (!ts_log_decoder_is_unknown(d, addr) && !ts_log_decoder_is_tid_word(d, addr, len))
		d->counts.n_unexplained++;
}

/* An access across two windows of the shadow is in two parts. */
static void check(struct ts_log_decoder *d, struct sink *s, uint64_t addr, const uint8_t *found, uint32_t len)
{
	uint32_t n = (uint32_t)ts_shadow_run(addr, len);
	const uint8_t *shadow = ts_shadow_at(addr);

	if (shadow && !ts_shadow_is_same(shadow, found, n))
		correct(d, s, addr, found, n);
	if (n < len) {
		shadow = ts_shadow_at(addr + n);
		if (shadow && memcmp(shadow, found + n, len - n) != 0)
			correct(d, s, addr + n, found + n, len - n);
	}
}

static void load(struct ts_log_decoder *d, struct sink *s, const struct ts_log_code_event *e, const uint8_t *record)
{
	uint64_t addr = address(d, e, record);

	if (is_in_growth(d, addr))
		grow_stack(d, s, addr);
	check(d, s, addr, value(e, record), e->len);
	s->p = ucir_put_access(s->p, UCIR_READ, addr, e->len);
	s->n_ops++;
}

static void store(struct ts_log_decoder *d, struct sink *s, const struct ts_log_code_event *e, const uint8_t *record)
{
	uint64_t addr = address(d, e, record);
	const uint8_t *from = value(e, record);
	uint8_t *shadow;

	if (is_in_growth(d, addr))
		grow_stack(d, s, addr);
	shadow = ts_shadow_run(addr, e->len) == e->len ? ts_shadow_at(addr) : NULL;
	s->p = ucir_put_access(s->p, UCIR_WRITE, addr, e->len);
	s->n_ops++;
	if (shadow && e->len == 8) {
		memcpy(shadow, from, 8);
		memcpy(s->p, from, 8);
	} else {
		ts_shadow_set(addr, from, e->len);
		memcpy(s->p, from, e->len);
	}
	s->p += e->len;
	if (s->gap)
		ts_gap_store(s->gap, addr, e->len);
}

/* A load of @len bytes; @len is a constant in each caller, because most loads have 4 or 8 bytes. */
static inline void load_word(struct ts_log_decoder *d, struct sink *s, const struct ts_log_code_event *e,
			     const uint8_t *record, uint32_t len)
{
	uint64_t addr = u64_at(record + e->addr);
	const uint8_t *shadow;

	if (is_in_growth(d, addr))
		grow_stack(d, s, addr);
	shadow = ts_shadow_run(addr, len) == len ? ts_shadow_at(addr) : NULL;
	if (!shadow || memcmp(shadow, record + e->value, len) != 0)
		check(d, s, addr, record + e->value, len);
	s->p = ucir_put_access(s->p, UCIR_READ, addr, len);
	s->n_ops++;
}

static inline void store_word(struct ts_log_decoder *d, struct sink *s, const struct ts_log_code_event *e,
			      const uint8_t *record, uint32_t len)
{
	uint64_t addr = u64_at(record + e->addr);
	uint8_t *shadow;

	if (is_in_growth(d, addr))
		grow_stack(d, s, addr);
	shadow = ts_shadow_run(addr, len) == len ? ts_shadow_at(addr) : NULL;
	if (shadow)
		memcpy(shadow, record + e->value, len);
	else
		ts_shadow_set(addr, record + e->value, len);
	s->p = ucir_put_contents(s->p, UCIR_WRITE, addr, record + e->value, len);
	s->n_ops++;
	if (s->gap)
		ts_gap_store(s->gap, addr, len);
}

/* -------------------------------------------------------------------------------- events */

static void put_element(const struct ts_log_guest *g, struct ts_log_task *t, const struct ts_log_code_event *e,
			const uint8_t *record)
{
	uint32_t index, at;

	memcpy(&index, record + e->addr, sizeof(index));
	at = (index + (uint32_t)e->bias) % e->n_elements;
	if (e->off == g->fpreg && e->len == 8)
		t->mmx &= (uint8_t)~(1u << at % 8);
	memcpy(t->state + e->off + at * e->len, value(e, record), e->len);
}

/* A helper that loads the x87 unit loads doubles, more than one at once. */
static void put_bytes(const struct ts_log_guest *g, struct ts_log_task *t, const struct ts_log_code_event *e,
		      const uint8_t *from)
{
	if (e->len > 8 && e->off < g->fpreg + 64 && e->off + e->len > g->fpreg)
		t->mmx = 0;
	memcpy(t->state + e->off, from, e->len);
}

/* Apply an event of a rare kind. */
static void apply_any(struct ts_log_decoder *d, struct ts_log_task *t, struct sink *s, const struct ts_log_code_event *e,
		      const uint8_t *record)
{
	if (e->flags & TS_LOG_GUARDED && !record[e->guard])
		return;
	switch (e->kind) {
	case TS_CODE_PUTI:
		put_element(d->guest, t, e, record);
		break;
	case TS_CODE_LOAD:
		load(d, s, e, record);
		break;
	case TS_CODE_STORE:
		store(d, s, e, record);
		break;
	case TS_CODE_PUT_MMX:
		t->mmx |= (uint8_t)(1u << ts_log_guest_x87_place(d->guest, e->off));
		memcpy(t->state + e->off, value(e, record), 8);
		break;
	default:
		put_bytes(d->guest, t, e, value(e, record));
	}
}

/* Inlined into its callers: a call for each event would cost more than most events. */
static inline __attribute__((always_inline)) void apply(struct ts_log_decoder *d, struct ts_log_task *t, struct sink *s,
			 const struct ts_log_code_event *e, const uint8_t *record)
{
	switch (e->kind) {
	case TS_CODE_PUT_WORD:
		memcpy(t->state + e->off, record + e->value, 8);
		break;
	case TS_CODE_PUT_CONST:
		memcpy(t->state + e->off, &e->value, 8);
		break;
	case TS_CODE_PUT_HALF:
		memcpy(t->state + e->off, record + e->value, 4);
		break;
	case TS_CODE_PUT_HALF_CONST:
		memcpy(t->state + e->off, &e->value, 4);
		break;
	case TS_CODE_LOAD_WORD:
		load_word(d, s, e, record, 8);
		break;
	case TS_CODE_LOAD_HALF:
		load_word(d, s, e, record, 4);
		break;
	case TS_CODE_STORE_WORD:
		store_word(d, s, e, record, 8);
		break;
	case TS_CODE_STORE_HALF:
		store_word(d, s, e, record, 4);
		break;
	default:
		apply_any(d, t, s, e, record);
	}
}

/* The registers that the events before @end write, also those whose value stays. */
static void put_registers(const struct ts_log_decoder *d, const struct ts_log_task *t, struct sink *s,
			  const struct ts_log_code *b, const struct ts_log_code_insn *insn, uint32_t end)
{
	for (uint32_t i = insn->writes; i < insn->end_writes; i++) {
		const struct ts_guest_reg *r = &d->guest->regs[b->writes[i].reg];

		if (b->writes[i].event >= end)
			continue;
		if (r->kind == TS_GUEST_PLAIN) {
			const uint8_t *at = t->state + r->off;

			s->p = ucir_put_reg(s->p, r->num, d->guest->word == 8 ? u64_at(at) : u32_at(at));
			s->n_ops++;
		} else {
			s->p = ts_log_guest_put(d->guest, r, t->state, t->mmx, s->p, &s->n_ops);
		}
	}
}

/* Process an unrecorded instruction, of which the events before @end happened. */
static void pass(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_code *b,
		 const struct ts_log_code_insn *insn, const uint8_t *record, uint32_t end)
{
	struct sink s = { .start = d->unused, .p = d->unused, .gap = d->is_waiting ? NULL : &d->gap };

	for (uint32_t i = insn->events; i < end; i++)
		apply(d, t, &s, &b->events[i], record);
	d->counts.n_elsewhere++;
	t->n_elsewhere++;
	t->last_step = insn->pc;
	t->at = insn->pc + insn->len;
}

/* Write an instruction, of which the events before @end happened, if its block is recorded. */
static void step(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_code *b, const struct ts_log_code_insn *insn,
		 const uint8_t *record, uint32_t end)
{
	struct sink s = { 0 };

	if (b->is_elsewhere) {
		pass(d, t, b, insn, record, end);
		return;
	}
	s.start = s.p = ts_op_frames_room(d->frames, t->pid, insn->room);
	for (uint32_t i = insn->events; i < end; i++)
		apply(d, t, &s, &b->events[i], record);
	put_registers(d, t, &s, b, insn, end);
	s.p = ucir_put_step(s.p, insn->len);
	ts_op_frames_done(d->frames, s.p, s.n_ops + 1);
	d->counts.n_steps++;
	d->counts.n_x87 += (insn->flags & TS_LOG_INSN_X87) != 0;
	t->last_step = insn->pc;
	t->at = insn->pc + insn->len;
}

static void jump(struct ts_log_decoder *d, struct ts_log_task *t, uint64_t pc)
{
	uint8_t *p;

	if (pc == t->at || t->is_elsewhere) {
		t->at = pc;
		return;
	}
	p = ts_op_frames_room(d->frames, t->pid, UCIR_PUT_JMP_LEN);
	ts_op_frames_done(d->frames, ucir_put_jmp(p, pc), 1);
	t->at = pc;
}

static void steps(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_code *b, const uint8_t *record,
		  uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		step(d, t, b, &b->insns[i], record, b->insns[i].end_events);
}

/* The instruction did not complete; a SIGNAL record may follow. */
static void fail(struct ts_log_task *t, const struct ts_log_code *b, const struct ts_log_code_insn *insn)
{
	t->failed_pc = insn->pc;
	t->failed_len = b->is_elsewhere ? 0 : insn->len;
}

/*
 * The pass of a repeated string instruction that finds the count zero: after iterations it is no step of the
 * processor.
 */
static bool is_no_step(const struct ts_log_task *t, const struct ts_log_code_insn *insn, uint32_t exit)
{
	return insn->flags & TS_LOG_INSN_REP && exit - 1 == insn->first_exit && t->last_step == insn->pc;
}

bool ts_execute(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_code *b, const uint8_t *record,
		uint32_t exit)
{
	const struct ts_log_code_insn *last = &b->insns[b->n_insns - 1];
	const struct ts_log_exit *e;

	if (exit > b->n_exits)
		return false;
	t->failed_len = 0;
	if (d->modules)
		ts_decode_enter(d, t, b);
	jump(d, t, b->addr);
	if (!exit) {
		bool is_fault = last->flags & TS_LOG_INSN_FAULT;

		steps(d, t, b, record, b->n_insns - is_fault);
		if (is_fault)
			fail(t, b, last);
		return true;
	}
	e = &b->exits[exit - 1];
	last = &b->insns[e->insn];
	steps(d, t, b, record, e->insn);
	if (e->is_fault)
		fail(t, b, last);
	else if (!is_no_step(t, last, exit))
		step(d, t, b, last, record, e->n_events);
	return true;
}

void ts_execute_until(struct ts_log_decoder *d, struct ts_log_task *t, uint64_t pc)
{
	const struct ts_log_code *b = t->open;
	uint32_t n = 0;

	if (!b)
		return;
	t->open = NULL;
	while (n < b->n_insns && b->insns[n].pc != pc)
		n++;
	if (n == b->n_insns)
		return;
	if (d->modules)
		ts_decode_enter(d, t, b);
	jump(d, t, b->addr);
	steps(d, t, b, t->open_record, n);
	fail(t, b, &b->insns[n]);
}
