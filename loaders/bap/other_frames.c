/* SPDX-License-Identifier: MIT */
#include "decoder.h"

#include "schema.h"
#include "src/arch/signals.h"

#define MAX_MODULES 4096

static bool read_syscall(struct bap_course *co, struct ts_cursor *c)
{
	struct bap_call call = { 0 };
	struct pb_message m;
	struct ts_cursor list;

	if (!pb_read(c, &bap_syscall, &m))
		return false;
	call.address = m.v[SYSCALL_ADDRESS - 1].n & co->rec->addr_mask;
	call.thread_id = m.v[SYSCALL_THREAD_ID - 1].n;
	call.number = m.v[SYSCALL_NUMBER - 1].n;
	list = pb_sub(&m, SYSCALL_ARGUMENTS, c);
	while (list.left && call.n_args < TS_MAX_SYSCALL_ARGS) {
		uint64_t key = pb_varint(&list);

		if (ts_ok(&list) && key != (1 << 3 | PB_VARINT))
			return ts_fail(c->err, TS_ECORRUPT, list.off,
				       "frame: an argument of a system call has wire type %u",
				       (unsigned)(key & 7));
		call.args[call.n_args++] = (uint64_t)pb_zigzag(pb_varint(&list));
	}
	if (ts_ok(c))
		bap_calls_add(&co->calls, co->known.look, &call);
	return ts_ok(c);
}

/* gdb's number for what a recorder calls an exception: a signal of Linux, or a code of Windows. */
static uint64_t gdb_signal(const struct ts_arch *arch, uint64_t number)
{
	static const struct {
		uint32_t number;
		uint8_t gdb;
	} codes[] = {
		{ 0xc0000005, 11 }, { 0xc000001d, 4 }, { 0x80000003, 5 },  { 0x80000004, 5 },
		{ 0xc0000094, 8 },  { 0xc0000096, 4 }, { 0xc00000fd, 11 }, { 0x80000002, 10 },
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].number == number)
			return codes[i].gdb;
	return number <= UINT32_MAX ? ts_signal_from_linux(arch, (uint32_t)number) : TS_SIGNAL_UNKNOWN;
}

static bool read_exception(struct bap_course *co, struct ts_cursor *c)
{
	struct pb_message m;
	struct ts_event *ev;

	if (!pb_read(c, &bap_exception, &m))
		return false;
	ev = ts_steps_event(co->known.out, TS_EV_SIGNAL);
	if (ev) {
		ev->number = gdb_signal(co->rec->base.regs.arch, m.v[EXCEPTION_NUMBER - 1].n);
		ev->has_addr = pb_has(&m, EXCEPTION_FROM);
		ev->addr = m.v[EXCEPTION_FROM - 1].n & co->rec->addr_mask;
	}
	ts_steps_effect(co->known.out, TS_FX_UNSEEN, 0, 0);
	return true;
}

/* Bytes of input: memory that is seen. */
static bool read_taint_intro(struct bap_course *co, struct ts_cursor *c)
{
	struct pb_message m;
	struct ts_cursor list, item;

	if (!pb_read(c, &bap_taint_intro, &m))
		return false;
	list = pb_sub(&m, 1, c);
	while (pb_next_item(&list, &bap_taint_list, &item)) {
		struct bap_op op = { 0 };

		if (!pb_read(&item, &bap_taint, &m))
			return false;
		op.addr = m.v[TAINT_ADDR - 1].n & co->rec->addr_mask;
		op.value = m.v[TAINT_VALUE - 1].p;
		op.len = (uint32_t)m.v[TAINT_VALUE - 1].n;
		op.bits = op.len * 8;
		if (op.value && op.len && bap_op_check_memory(&co->in, &op)) {
			struct ts_effect *e =
				ts_steps_value(co->known.out, TS_FX_WRITE, op.addr, op.value, op.len);

			if (e)
				e->is_hidden = true;
		}
	}
	return ts_ok(c);
}

static bool read_modload(struct bap_course *co, struct ts_cursor *c)
{
	uint64_t low, high;
	struct pb_message m;

	if (!pb_read(c, &bap_modload, &m))
		return false;
	low = m.v[MODLOAD_LOW - 1].n & co->rec->addr_mask;
	high = m.v[MODLOAD_HIGH - 1].n & co->rec->addr_mask;
	/* Pin's is the last address, others may mean the first one after it */
	if (high % 4096 == 0 && high > low)
		high--;
	if (high < low || high - low == UINT64_MAX)
		bap_warn(co->known.look, "modules whose end is before their start are ignored");
	else if (++co->n_modules > MAX_MODULES)
		bap_warn(co->known.look, "modules beyond the first %d are ignored", MAX_MODULES);
	else
		ts_steps_load(co->known.out, low, high - low + 1, (const char *)m.v[MODLOAD_NAME - 1].p,
			      (size_t)m.v[MODLOAD_NAME - 1].n);
	return true;
}

/* One value of a key frame. */
static bool read_key_value(struct bap_course *co, struct bap_thread *t, struct ts_cursor *c)
{
	struct bap_op op = { 0 };
	struct pb_message m;

	if (!pb_read(c, &bap_value, &m))
		return false;
	op.value = m.v[VALUE_VALUE - 1].p;
	op.len = (uint32_t)m.v[VALUE_VALUE - 1].n;
	if (!op.value || !op.len || !bap_op_place(&co->in, &m, c, &op))
		return ts_ok(c);
	op.bits = bap_op_bits(&co->in, m.v[VALUE_BIT_LENGTH - 1].n, op.len);
	op.len = (op.bits + 7) / 8;
	if (op.slot)
		bap_op_see(&co->known, t, &op);
	else if (bap_op_check_memory(&co->in, &op))
		bap_op_memory(&co->known, TS_FX_READ, &op, true);
	return true;
}

/* The values of one thread; one that is not named is the thread of the last instruction. */
static bool read_key_list(struct bap_course *co, struct ts_cursor *c)
{
	struct bap_thread *t = co->now;
	struct pb_message m, source;
	struct ts_cursor tag, list, item;

	if (!pb_read(c, &bap_tagged, &m))
		return false;
	tag = pb_sub(&m, TAGGED_SOURCE, c);
	if (!pb_read(&tag, &bap_source, &source))
		return false;
	if (pb_has(&source, SOURCE_THREAD_ID)) {
		t = bap_threads_find(&co->known, source.v[SOURCE_THREAD_ID - 1].n, co->now, c->off, c->err);
		if (!t)
			return false;
	}
	if (!t) /* a look ahead, which does not know yet whose the first instruction is */
		return true;
	bap_switch_thread(&co->known, t);
	list = pb_sub(&m, TAGGED_VALUES, c);
	while (pb_next_item(&list, &bap_value_list, &item))
		if (!read_key_value(co, t, &item))
			return false;
	bap_see_all_flags(&co->known, t);
	if (co->now)
		bap_switch_thread(&co->known, co->now);
	return ts_ok(c);
}

static bool read_key(struct bap_course *co, struct ts_cursor *c)
{
	struct ts_cursor lists, item;
	struct pb_message m;

	if (!pb_read(c, &bap_key, &m))
		return false;
	bap_start_list(&co->known);
	lists = pb_sub(&m, 1, c);
	while (pb_next_item(&lists, &bap_tagged_lists, &item))
		if (!read_key_list(co, &item))
			return false;
	return ts_ok(c);
}

bool bap_read_other(struct bap_course *co, const struct bap_stream *s)
{
	struct ts_cursor body = s->opened.body;

	switch (s->opened.kind) {
	case FRAME_SYSCALL: return read_syscall(co, &body);
	case FRAME_EXCEPTION: return read_exception(co, &body);
	case FRAME_TAINT_INTRO: return read_taint_intro(co, &body);
	case FRAME_MODLOAD: return read_modload(co, &body);
	case FRAME_KEY: return read_key(co, &body);
	default: bap_warn(co->known.look, "frames of an unknown kind are ignored"); return true;
	}
}
