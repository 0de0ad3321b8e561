/* SPDX-License-Identifier: MIT */
#include "abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/query/paging.h"
#include "src/symbols/symbols.h"

/* By the beginning of the architecture's name; the first line that fits. */
static const struct {
	const char *arch;
	bool is_windows;
	const char *regs; /* separated by blanks; "" where arguments are on the stack */
	const char *result;
} conventions[] = {
	{ "x86_64", true, "rcx rdx r8 r9", "rax" },
	{ "x86_64", false, "rdi rsi rdx rcx r8 r9", "rax" },
	{ "i386", false, "", "eax" },
	{ "i386", true, "", "eax" },
	{ "aarch64", false, "x0 x1 x2 x3 x4 x5 x6 x7", "x0" },
	{ "arm", false, "r0 r1 r2 r3", "r0" },
	{ "mips64", false, "r4 r5 r6 r7 r8 r9 r10 r11", "r2" },
	{ "mips", false, "r4 r5 r6 r7", "r2" },
	{ "ppc", false, "r3 r4 r5 r6 r7 r8 r9 r10", "r3" },
	{ "riscv", false, "a0 a1 a2 a3 a4 a5 a6 a7", "a0" },
	{ "s390", false, "r2 r3 r4 r5 r6", "r2" },
	{ "sparc", false, "o0 o1 o2 o3 o4 o5", "o0" },
	{ "m68k", false, "", "d0" },
};

#define N_STACK_WORDS 4u

/* The minimum length of a string that is shown without its end. */
#define MIN_TEXT 4u
#define MAX_TEXT 40u

static void add_regs(struct ts_abi *abi, const struct ts_regset *set, const char *names)
{
	char name[16];
	int n;

	while (sscanf(names, " %15[^ ]%n", name, &n) == 1 && abi->n_regs < TS_MAX_ARGUMENTS) {
		int reg = ts_regset_find(set, name);

		if (reg < 0)
			return;
		abi->regs[abi->n_regs++] = reg;
		names += n;
	}
}

/* One more register is read. */
static void need(struct ts_abi *abi, const struct ts_regset *set, int reg)
{
	uint32_t end = reg < 0 ? 0 : set->regs[reg].off + set->regs[reg].len;

	if (end > abi->len)
		abi->len = end;
}

/* The registers of values whose types are known. */
static void add_typed(struct ts_abi *abi, const struct ts_regset *set, bool is_windows)
{
	uint32_t len = abi->len;

	abi->is_sysv64 = !strcmp(set->arch->name, "x86_64") && !is_windows;
	abi->is_arm64 = !strncmp(set->arch->name, "aarch64", strlen("aarch64"));
	abi->result2 = ts_regset_find(set, "rdx");
	abi->st0 = ts_regset_find(set, "st0");
	need(abi, set, abi->result2);
	need(abi, set, abi->st0);
	for (unsigned i = 0; i < TS_MAX_VECTORS; i++) {
		char name[8];

		snprintf(name, sizeof(name), abi->is_arm64 ? "v%u" : "xmm%u", i);
		abi->vectors[i] = ts_regset_find(set, name);
		need(abi, set, abi->vectors[i]);
	}
	/* Go has results in more of them */
	need(abi, set, ts_regset_find(set, "xmm14"));
	need(abi, set, ts_regset_find(set, "v15"));
	abi->len_typed = abi->len;
	abi->len = len;
}

/* Is the program, as the user names it or as it was found, a PE file? */
static bool has_pe_program(const struct ts_ask *ask)
{
	const struct ts_loaded_file *m;

	for (size_t i = 0; ask->symbols && (m = ts_loaded_get(ts_symbols_loaded(ask->symbols), i)); i++) {
		if (m->is_own && m->is_pe)
			return true;
	}
	return false;
}

bool ts_abi_init(struct ts_abi *abi, const struct ts_ask *ask)
{
	const struct ts_query *q = ask->q;
	const struct ts_regset *set = ts_query_regset(q);
	const struct ts_facts *facts = ts_query_facts(q);
	/* x64dbg runs on nothing else, and its traces do not say so */
	bool is_windows = !strcmp(facts->format, "x64dbg") ||
			  (facts->osabi && !strcasecmp(facts->osabi, "Windows")) ||
			  !strncasecmp(facts->os, "win", 3) || has_pe_program(ask);

	*abi = (struct ts_abi){ .result = -1, .data = malloc(2 * (size_t)set->g_len + 1) };
	if (!abi->data)
		return false;
	abi->known = abi->data + set->g_len;
	for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++) {
		const char *arch = conventions[i].arch;

		if (strncmp(set->arch->name, arch, strlen(arch)) ||
		    (conventions[i].is_windows != is_windows && !strcmp(arch, "x86_64")))
			continue;
		add_regs(abi, set, conventions[i].regs);
		abi->n_words = *conventions[i].regs ? 0 : N_STACK_WORDS;
		abi->result = ts_regset_find(set, conventions[i].result);
		break;
	}
	need(abi, set, abi->result);
	need(abi, set, set->sp);
	for (unsigned i = 0; i < abi->n_regs; i++)
		need(abi, set, abi->regs[i]);
	add_typed(abi, set, is_windows);
	return true;
}

struct ts_what ts_abi_result_place(const struct ts_abi *abi, const struct ts_regset *set)
{
	const struct ts_reg *reg = abi->result < 0 ? NULL : &set->regs[abi->result];

	if (!reg || reg->len > 8)
		return (struct ts_what){ .kind = TS_WHAT_NONE };
	return (struct ts_what){ .kind = TS_WHAT_REG, .off = reg->off, .len = reg->len };
}

void ts_abi_fini(struct ts_abi *abi)
{
	free(abi->data);
}

/* -------------------------------------------------------------------------------------------------- texts */

static void put_plain(struct ts_buf *out, const uint8_t *data, size_t len, bool is_cut)
{
	ts_buf_put(out, data, len);
	if (is_cut)
		ts_buf_puts(out, "...");
}

static void put_quoted(struct ts_buf *out, const uint8_t *data, size_t len, bool is_cut)
{
	ts_buf_putc(out, '"');
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '"' || data[i] == '\\')
			ts_buf_printf(out, "\\%c", data[i]);
		else if (data[i] == '\n')
			ts_buf_puts(out, "\\n");
		else if (data[i] == '\t')
			ts_buf_puts(out, "\\t");
		else
			ts_buf_putc(out, data[i]);
	}
	ts_buf_puts(out, is_cut ? "\"..." : "\"");
}

static bool is_text(uint8_t c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
}

/*
 * If text lies at @addr at @pos, append it.  Most values point to none: the first byte, which shows it, costs a fraction of
 * the others.
 */
static bool add_text(struct ts_buf *out, struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t addr,
		     bool is_for_people, struct ts_error *err)
{
	uint32_t process = ts_query_process(ask->q, thread);
	uint8_t data[MAX_TEXT + 1], known[MAX_TEXT + 1];
	size_t n = 0;

	if (addr < 4096)
		return true;
	if (!ts_virtual_mem(ask->q, pos, process, addr, 1, data, known, err))
		return false;
	if (!*known || !is_text(*data))
		return true;
	if (!ts_virtual_mem(ask->q, pos, process, addr, sizeof(data), data, known, err))
		return false;
	while (n < MAX_TEXT && known[n] && is_text(data[n]))
		n++;
	if (!n || ((!known[n] || data[n]) && n < MIN_TEXT))
		return true;
	ts_buf_putc(out, TS_ROW_ASIDE);
	(is_for_people ? put_quoted : put_plain)(out, data, n, !known[n] || data[n]);
	return true;
}

bool ts_abi_put_text(struct ts_buf *out, struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t addr, uint64_t len,
		     bool is_for_people, struct ts_error *err)
{
	size_t n = len < MAX_TEXT ? (size_t)len : MAX_TEXT;
	uint8_t data[MAX_TEXT], known[MAX_TEXT];

	if (!n)
		return true;
	if (!ts_virtual_mem(ask->q, pos, ts_query_process(ask->q, thread), addr, n, data, known, err))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!known[i] || !is_text(data[i]))
			return true;
	}
	ts_buf_putc(out, TS_ROW_ASIDE);
	(is_for_people ? put_quoted : put_plain)(out, data, n, n < len);
	return true;
}

/* ------------------------------------------------------------------------------------------------- values */

/* A register, if it is known. */
static bool value_of(const struct ts_abi *abi, const struct ts_regset *set, int reg, uint64_t *value)
{
	const struct ts_reg *r = reg < 0 ? NULL : &set->regs[reg];

	if (!r || r->len > 8 || memchr(abi->known + r->off, 0, r->len))
		return false;
	*value = ts_arch_get(set->arch, abi->data + r->off, r->len);
	return true;
}

/* A word of the stack: argument @i is after the return address, if that is there. */
static bool word_of(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread, unsigned i,
		    uint64_t *value, bool *has_value, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(ask->q);
	unsigned word = set->arch->addr_bits / 8;
	uint8_t data[8], known[8];
	uint64_t sp;

	*has_value = false;
	if (!value_of(abi, set, set->sp, &sp))
		return true;
	if (!ts_virtual_mem(ask->q, pos, ts_query_process(ask->q, thread),
			    (sp + (uint64_t)word * (i + !abi->is_before)) & ts_arch_addr_mask(set->arch), word, data, known,
			    err))
		return false;
	*has_value = !memchr(known, 0, word);
	*value = ts_arch_get(set->arch, data, word);
	return true;
}

bool ts_abi_put_value(struct ts_buf *out, struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t value,
		      bool has_value, bool is_for_people, struct ts_error *err)
{
	bool is_done = true;

	if (has_value)
		ts_put_hex(out, value);
	if (has_value)
		is_done = add_text(out, ask, pos, thread, value, is_for_people, err);
	ts_buf_putc(out, 0);
	return is_done;
}

bool ts_abi_arguments(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread,
		      bool is_for_people, struct ts_buf *out, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(ask->q);

	if (!ts_query_first_regs(ask->q, pos, thread, abi->len, abi->data, abi->known, err))
		return false;
	for (unsigned i = 0; i < ts_abi_n_arguments(abi); i++) {
		uint64_t value = 0;
		bool has_value = i < abi->n_regs && value_of(abi, set, abi->regs[i], &value);

		if (i >= abi->n_regs &&
		    !word_of(abi, ask, pos, thread, i - abi->n_regs, &value, &has_value, err))
			return false;
		if (!ts_abi_put_value(out, ask, pos, thread, value, has_value, is_for_people, err))
			return false;
	}
	return true;
}

bool ts_abi_result_value(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t *value,
			 bool *has_value, struct ts_error *err)
{
	if (!ts_query_first_regs(ask->q, pos, thread, abi->len, abi->data, abi->known, err))
		return false;
	*has_value = value_of(abi, ts_query_regset(ask->q), abi->result, value);
	return true;
}

bool ts_abi_result(const struct ts_abi *abi, struct ts_ask *ask, uint64_t pos, uint32_t thread,
		   bool is_for_people, struct ts_buf *out, struct ts_error *err)
{
	uint64_t value = 0;
	bool has_value;

	return ts_abi_result_value(abi, ask, pos, thread, &value, &has_value, err) &&
	       ts_abi_put_value(out, ask, pos, thread, value, has_value, is_for_people, err);
}
