/* SPDX-License-Identifier: MIT */
#include "core_case.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

struct ucir_trace t;
struct ts_buf steps, initial;
struct core_file c;

void setup(void)
{
	memset(&c, 0, sizeof(c));
	c.is_64 = true;
	c.machine = EM_X86_64;
	c.type = ET_CORE;
	c.pc = CODE_AT;
	ts_buf_init(&c.code);
	ts_buf_init(&c.log);
	ts_buf_init(&c.notes);
	ts_buf_init(&steps);
	ts_buf_init(&initial);
	t = (struct ucir_trace){ .format = "gdbrecord" };
	ts_buf_init(&t.bytes);
}

void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&c.code);
	ts_buf_fini(&c.log);
	ts_buf_fini(&c.notes);
	ts_buf_fini(&steps);
	ts_buf_fini(&initial);
}

void again(void)
{
	teardown();
	setup();
}

void for_machine(uint16_t machine, bool is_64, bool is_big)
{
	again();
	c.machine = machine;
	c.is_64 = is_64;
	c.is_big = is_big;
}

void put(struct ts_buf *b, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		ts_buf_putc(b, (uint8_t)(v >> 8 * (c.is_big ? len - 1 - i : i)));
}

void word(struct ts_buf *b, uint64_t v)
{
	put(b, v, c.is_64 ? 8 : 4);
}

void zeros(struct ts_buf *b, size_t n)
{
	while (n--)
		ts_buf_putc(b, 0);
}

static void be32(uint32_t v)
{
	for (int i = 24; i >= 0; i -= 8)
		ts_buf_putc(&c.log, (uint8_t)(v >> i));
}

void reg(uint32_t number, uint64_t value, unsigned len)
{
	ts_buf_putc(&c.log, 1);
	be32(number);
	put(&c.log, value, len);
}

void end(void)
{
	ts_buf_putc(&c.log, 0);
	be32(0);
	be32(1);
}

void note(const char *name, uint32_t type, const void *desc, size_t len)
{
	put(&c.notes, strlen(name) + 1, 4);
	put(&c.notes, len, 4);
	put(&c.notes, type, 4);
	ts_buf_put(&c.notes, name, strlen(name) + 1);
	zeros(&c.notes, -(strlen(name) + 1) & 3);
	ts_buf_put(&c.notes, desc, len);
	zeros(&c.notes, -len & 3);
}

/* Registers are 1, 2, ... in the kernel's order, but for the program counter and the status. */
static void prstatus(void)
{
	static const struct {
		uint16_t machine;
		unsigned regs_at, n, pc, status;
	} forms[] = { { EM_X86_64, 112, 27, 16, 99 }, { EM_386, 72, 17, 12, 99 }, { EM_ARM, 72, 17, 15, 16 },
		      { EM_AARCH64, 112, 34, 32, 33 } };
	struct ts_buf d;

	ts_buf_init(&d);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (forms[i].machine != c.machine)
			continue;
		zeros(&d, forms[i].regs_at == 72 ? 24 : 32);
		put(&d, 100, 4);
		zeros(&d, forms[i].regs_at - d.len);
		for (unsigned k = 0; k < forms[i].n; k++)
			word(&d, k == forms[i].pc ? c.pc : k == forms[i].status ? c.status : k + 1);
		zeros(&d, 8);
	}
	note("CORE", NT_PRSTATUS, d.data, c.prstatus_len ? c.prstatus_len : d.len);
	ts_buf_fini(&d);
}

static void segment(struct ts_buf *b, const struct seg *s, uint64_t off)
{
	put(b, s->type, 4);
	if (c.is_64)
		put(b, s->flags, 4);
	word(b, off);
	word(b, s->addr);
	word(b, 0);
	word(b, s->file_len);
	word(b, s->mem_len);
	if (!c.is_64)
		put(b, s->flags, 4);
	word(b, 1);
}

void build(void)
{
	unsigned head_len = c.is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	unsigned section_len = c.is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	unsigned entry_len = c.is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), n = 3 + c.n_more;
	uint64_t notes_at = head_len + section_len + n * entry_len, code_at, log_at;
	struct ts_buf rest = c.notes, *b = &t.bytes;

	ts_buf_init(&c.notes);
	prstatus();
	ts_buf_put(&c.notes, rest.data, rest.len);
	ts_buf_fini(&rest);
	code_at = notes_at + c.notes.len;
	log_at = code_at + c.code.len;
	ts_buf_put(b, ELFMAG, SELFMAG);
	ts_buf_putc(b, c.is_64 ? ELFCLASS64 : ELFCLASS32);
	ts_buf_putc(b, c.is_big ? ELFDATA2MSB : ELFDATA2LSB);
	zeros(b, EI_NIDENT - 6);
	put(b, c.type, 2);
	put(b, c.machine, 2);
	put(b, 1, 4);
	word(b, 0);
	word(b, head_len + section_len);
	word(b, head_len);
	put(b, 0, 4);
	put(b, head_len, 2);
	put(b, entry_len, 2);
	put(b, c.has_xnum ? PN_XNUM : n, 2);
	zeros(b, head_len - b->len);
	zeros(b, c.is_64 ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info));
	put(b, n, 4);
	zeros(b, head_len + section_len - b->len);
	segment(b, &(struct seg){ PT_NOTE, 0, 0, c.notes.len, 0, false }, notes_at);
	segment(b, &(struct seg){ PT_LOAD, PF_R | PF_X, CODE_AT, c.code.len, 0x1000, false }, code_at);
	segment(b, &(struct seg){ PT_NULL, 0, 0, 4 + c.log.len, 0, false }, log_at);
	for (unsigned i = 0; i < c.n_more; i++)
		segment(b, &c.more[i], c.more[i].is_past_end ? log_at + 4 + c.log.len - 4 : code_at);
	ts_buf_put(b, c.notes.data, c.notes.len);
	ts_buf_put(b, c.code.data, c.code.len);
	ts_buf_put(b, "\x20\x09\x10\x16", 4);
	ts_buf_put(b, c.log.data, c.log.len);
}

const char *read_core(void)
{
	build();
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	ck_assert_msg(ucir_read_all(&t, &steps) == TS_END, "%s", t.err.text);
	ucir_describe_effects(&initial, t.rec, &t.rec->initial, 0, t.rec->initial.n_effects);
	return ts_buf_text(&steps);
}

bool has(const char *word_)
{
	return strstr(ts_buf_text(&initial), word_) != NULL;
}
void expect_refused(enum ts_code code, const char *why)
{
	ck_assert_msg(!ucir_open(&t, NULL), "opened, wanted: %s", why);
	ck_assert_msg(t.err.code == code && strstr(t.err.text, why), "%s, wanted: %s", t.err.text, why);
	again();
}
