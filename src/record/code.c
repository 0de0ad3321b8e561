/* SPDX-License-Identifier: MIT */
#include "code.h"

#include <stdlib.h>
#include <string.h>

#include "op_frames.h"
#include "loaders/usercorn/op_write.h"

#define MAX_EVENTS 4096u
#define MAX_EXITS 512u
#define MAX_VALUE 2048u /* bytes of one event */
#define HEAD_LEN 8u

/* Is [@at, @at + @len) in the record of an execution, after its head? */
static bool is_inside(const struct ts_log_code *b, uint64_t at, uint64_t len)
{
	return at >= HEAD_LEN && at < b->len && len <= b->len - at;
}

static bool check_put(const struct ts_log_code *b, const struct ts_log_guest *g, const struct ts_log_event *e)
{
	uint64_t n = e->kind == TS_LOG_PUTI ? e->n_elements : 1;

	if (n == 0 || n > 64 || e->off + n * e->len > g->n_state)
		return false;
	return e->kind != TS_LOG_PUTI || is_inside(b, e->addr, 4);
}

static bool check_event(const struct ts_log_code *b, const struct ts_log_guest *g, const struct ts_log_event *e)
{
	bool is_put = e->kind == TS_LOG_PUT || e->kind == TS_LOG_PUTI;

	if (e->kind < TS_LOG_PUT || e->kind > TS_LOG_STORE || !e->len || e->len > MAX_VALUE)
		return false;
	if (!(e->flags & TS_LOG_CONST_VALUE) && !is_inside(b, e->value, e->len))
		return false;
	if (e->flags & TS_LOG_CONST_VALUE && e->len > 8 && (e->value || e->len > 32))
		return false;
	if (e->flags & TS_LOG_GUARDED && !is_inside(b, e->guard, 1))
		return false;
	if (is_put)
		return check_put(b, g, e);
	return e->flags & TS_LOG_CONST_ADDR || is_inside(b, e->addr, g->word);
}

/* Of a load or a store, @kind. */
static uint8_t access_kind(const struct ts_log_guest *g, const struct ts_log_event *e, uint8_t kind)
{
	if (g->word != 8 || e->flags || (e->len != 8 && e->len != 4))
		return kind;
	return (uint8_t)(kind + (e->len == 8 ? TS_CODE_LOAD_WORD : TS_CODE_LOAD_HALF) - TS_CODE_LOAD);
}

static uint8_t kind_of(const struct ts_log_guest *g, const struct ts_log_event *e)
{
	switch (e->kind) {
	case TS_LOG_PUT:
		if (e->len == 8 && ts_log_guest_x87_place(g, e->off) >= 0)
			return TS_CODE_PUT_MMX;
		if ((e->len != 8 && e->len != 4) || e->flags & TS_LOG_GUARDED)
			return TS_CODE_PUT;
		if (e->len == 4)
			return e->flags & TS_LOG_CONST_VALUE ? TS_CODE_PUT_HALF_CONST : TS_CODE_PUT_HALF;
		return e->flags & TS_LOG_CONST_VALUE ? TS_CODE_PUT_CONST : TS_CODE_PUT_WORD;
	case TS_LOG_PUTI:
		return TS_CODE_PUTI;
	case TS_LOG_LOAD:
		return access_kind(g, e, TS_CODE_LOAD);
	default:
		return access_kind(g, e, TS_CODE_STORE);
	}
}

/*
 * Add the register that event @i puts, unless the instruction has it.  They are in the table's order, flags last: the parts
 * that instructions share are then adjacent, and compress better.
 */
static void add_write(struct ts_log_code *b, const struct ts_log_guest *g, struct ts_log_code_insn *insn, uint32_t i)
{
	const struct ts_log_code_event *e = &b->events[i];
	unsigned len = e->kind == TS_CODE_PUTI ? e->n_elements * e->len : e->len;
	unsigned reg = ts_log_guest_reg(g, e->off, len);
	uint32_t at;

	if (reg == TS_GUEST_NO_REG)
		return;
	for (uint32_t k = insn->writes; k < insn->end_writes; k++) {
		if (b->writes[k].reg == reg)
			return;
	}
	for (at = insn->end_writes++; at > insn->writes && b->writes[at - 1].reg > reg; at--)
		b->writes[at] = b->writes[at - 1];
	b->writes[at] = (struct ts_log_code_write){ i, (uint16_t)reg };
	insn->room += g->regs[reg].kind == TS_GUEST_X87 ? TS_GUEST_X87_PUT : TS_GUEST_MAX_PUT;
}

static void prepare_insn(struct ts_log_code *b, const struct ts_log_guest *g, struct ts_log_code_insn *insn)
{
	insn->room = UCIR_PUT_STEP_LEN + UCIR_PUT_JMP_LEN;
	for (uint32_t i = insn->events; i < insn->end_events; i++) {
		const struct ts_log_code_event *e = &b->events[i];

		if (e->kind < TS_CODE_LOAD)
			add_write(b, g, insn, i);
		else /* a load that is corrected is two ops */
			insn->room += 2 * UCIR_PUT_ACCESS_LEN + e->len + UCIR_PUT_MAP_LEN + 8;
	}
}

static bool take_insns(struct ts_log_code *b, const struct ts_log_guest *g, const struct ts_log_insn *from)
{
	uint32_t at = 0, n_writes = 0;

	for (uint32_t i = 0; i < b->n_insns; i++) {
		struct ts_log_code_insn *insn = &b->insns[i];

		if (from[i].n_events > b->n_events - at || (i && from[i].off <= from[i - 1].off))
			return false;
		*insn = (struct ts_log_code_insn){ .pc = b->addr + from[i].off, .len = from[i].len, .flags = from[i].flags,
					  .events = at, .end_events = at + from[i].n_events,
					  .writes = n_writes, .end_writes = n_writes };
		prepare_insn(b, g, insn);
		if (insn->room > TS_OP_FRAMES_CAP / 2)
			return false;
		at = insn->end_events;
		n_writes = insn->end_writes;
	}
	b->n_writes = n_writes;
	return at == b->n_events;
}

static bool take_exits(struct ts_log_code *b)
{
	for (uint32_t i = 0; i < b->n_exits; i++) {
		const struct ts_log_exit *e = &b->exits[i];

		if (e->insn >= b->n_insns || e->n_events < b->insns[e->insn].events ||
		    e->n_events > b->insns[e->insn].end_events || (i && e->insn < b->exits[i - 1].insn))
			return false;
	}
	for (uint32_t i = 0, k = 0; i < b->n_insns; i++) {
		while (k < b->n_exits && b->exits[k].insn < i)
			k++;
		b->insns[i].first_exit = (uint16_t)k;
	}
	return true;
}

static bool take_events(struct ts_log_code *b, const struct ts_log_guest *g, const struct ts_log_event *from)
{
	for (uint32_t i = 0; i < b->n_events; i++) {
		const struct ts_log_event *e = &from[i];

		if (!check_event(b, g, e))
			return false;
		b->events[i] = (struct ts_log_code_event){ kind_of(g, e), e->flags, e->len, e->off, e->guard, e->addr, e->value,
						  e->n_elements, e->bias };
	}
	return true;
}

static bool allocate(struct ts_log_code *b)
{
	b->insns = calloc(b->n_insns, sizeof(*b->insns));
	b->exits = calloc(b->n_exits + 1u, sizeof(*b->exits));
	b->events = calloc(b->n_events + 1u, sizeof(*b->events));
	b->writes = calloc(b->n_events + 1u, sizeof(*b->writes));
	return b->insns && b->exits && b->events && b->writes;
}

bool ts_log_code_take(struct ts_log_code *b, const struct ts_log_guest *g, const uint8_t *bytes, size_t len)
{
	struct ts_log_block head;
	size_t n_insns, n_exits, n_events;

	if (len < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (!head.n_insns || head.n_insns > TS_LOG_MAX_INSNS || head.n_exits > MAX_EXITS || head.n_events > MAX_EVENTS ||
	    head.len < HEAD_LEN || head.len > TS_LOG_MAX_BLOCK || head.len & 7)
		return false;
	n_insns = head.n_insns * sizeof(struct ts_log_insn);
	n_exits = head.n_exits * sizeof(struct ts_log_exit);
	n_events = head.n_events * sizeof(struct ts_log_event);
	if (len - sizeof(head) < n_insns + n_exits + n_events)
		return false;
	*b = (struct ts_log_code){ .num = head.num, .len = head.len, .addr = head.addr, .n_insns = head.n_insns,
				.n_exits = head.n_exits, .n_events = head.n_events };
	bytes += sizeof(head);
	if (allocate(b)) {
		memcpy(b->exits, bytes + n_insns, n_exits);
		if (take_events(b, g, (const void *)(bytes + n_insns + n_exits)) &&
		    take_insns(b, g, (const void *)bytes) && take_exits(b))
			return true;
	}
	ts_log_code_fini(b);
	return false;
}

void ts_log_code_fini(struct ts_log_code *b)
{
	free(b->insns);
	free(b->exits);
	free(b->events);
	free(b->writes);
	*b = (struct ts_log_code){ 0 };
}
