/* SPDX-License-Identifier: MIT */
#include "environ.h"

#include <string.h>

#include "bytes.h"
#include "session.h"
#include "src/base/bytes.h"

/* No more of the stack is read: arguments and variables of most programs take a few KiB. */
#define MAX_STACK_LEN 0x40000u

/*
 * The stack at position 0, from the stack pointer up to the first unknown byte: the number of arguments, their
 * addresses, 0, the addresses of the variables, 0, the auxiliary vector, and somewhere after it the strings.
 */
struct stack {
	const struct ts_arch *arch;
	uint64_t sp;
	const uint8_t *bytes; /* borrowed */
	size_t len;           /* of them, known */
	size_t at;            /* where the next word is */
};

static bool take_word(struct stack *st, uint64_t *word)
{
	unsigned len = st->arch->addr_bits / 8;

	if (len > st->len - st->at)
		return false;
	*word = ts_number(st->bytes + st->at, len, st->arch->is_big_endian);
	st->at += len;
	return true;
}

/* Go to the addresses of the variables, after the arguments. */
static bool skip_arguments(struct stack *st)
{
	uint64_t n, word;

	if (!take_word(st, &n) || n > st->len)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (!take_word(st, &word) || !word)
			return false;
	}
	return take_word(st, &word) && !word;
}

static bool put_string(const struct stack *st, uint64_t addr, struct ts_buf *text)
{
	const uint8_t *string = st->bytes + (addr - st->sp), *end;

	if (addr < st->sp || addr - st->sp >= st->len)
		return false;
	end = memchr(string, 0, st->len - (size_t)(addr - st->sp));
	if (!end)
		return false;
	ts_buf_put(text, string, (size_t)(end - string) + 1);
	return true;
}

/* Only if the recorded auxiliary vector follows is this the stack of a program that begins. */
static bool is_at_auxv(const struct rsp_session *s, const struct stack *st)
{
	const struct ts_facts *facts = ts_query_facts(s->target->q);

	return facts->auxv && facts->auxv_len <= st->len - st->at &&
	       memcmp(st->bytes + st->at, facts->auxv, facts->auxv_len) == 0;
}

/* The strings together are not longer than the stack, whatever their addresses say. */
static bool put_variables(const struct rsp_session *s, struct stack *st, struct ts_buf *text)
{
	uint64_t addr;

	if (!skip_arguments(st))
		return false;
	while (take_word(st, &addr) && addr) {
		if (!put_string(st, addr, text) || text->len > MAX_STACK_LEN)
			return false;
	}
	return !addr && is_at_auxv(s, st);
}

/* The stack pointer at position 0; false if it is not known. */
static bool find_sp(const struct rsp_session *s, uint32_t thread, uint64_t *sp)
{
	const struct ts_regset *set = ts_query_regset(s->target->q);
	const struct ts_reg *reg = set->sp < 0 ? NULL : &set->regs[set->sp];
	struct ts_error ignored = { 0 };
	struct rsp_bytes all;
	bool is_known = false;

	if (!reg || reg->len > sizeof(*sp))
		return false;
	if (rsp_bytes_init(&all, set->g_len, &ignored) &&
	    ts_query_regs(s->target->q, 0, thread, all.data, all.known, &ignored)) {
		*sp = ts_number(all.data + reg->off, reg->len, set->arch->is_big_endian);
		is_known = !memchr(all.known + reg->off, 0, reg->len);
	}
	rsp_bytes_fini(&all);
	return is_known;
}

bool rsp_environ_put(const struct rsp_session *s, uint32_t process, struct ts_buf *text)
{
	uint32_t thread = ts_query_thread(s->target->q, 0);
	struct stack st = { .arch = ts_query_regset(s->target->q)->arch };
	struct ts_error ignored = { 0 };
	struct ts_buf found;
	struct rsp_bytes b;
	bool done = false;

	if (ts_query_process(s->target->q, thread) != process || !find_sp(s, thread, &st.sp))
		return false;
	ts_buf_init(&found);
	if (rsp_bytes_init(&b, MAX_STACK_LEN, &ignored) &&
	    rsp_session_mem(s, 0, process, st.sp, MAX_STACK_LEN, b.data, b.known, &ignored)) {
		st.bytes = b.data;
		st.len = rsp_bytes_n_known(&b, MAX_STACK_LEN);
		done = put_variables(s, &st, &found);
	}
	if (done)
		ts_buf_put(text, found.data, found.len);
	rsp_bytes_fini(&b);
	ts_buf_fini(&found);
	return done;
}
