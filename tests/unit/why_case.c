/* SPDX-License-Identifier: MIT */
#include "why_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/ask/grammar/question.h"
#include "unit.h"

static const char *const reg_names[N_REGS] = { "rax", "rcx", "rdx", "rbx" };

struct program p;
struct ask_text a;

void put_word(struct ts_steps *to, uint64_t addr, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++) {
		uint8_t byte = (uint8_t)(value >> 8 * i);

		ts_steps_value(to, TS_FX_WRITE, addr + i, &byte, 1);
	}
}

void put_reg(struct ts_steps *to, const char *name, uint64_t value)
{
	const struct ts_regset *set = &p.s->rec.regs;
	const struct ts_reg *r = &set->regs[ts_regset_find(set, name)];
	uint8_t bytes[8];

	ts_arch_put(set->arch, bytes, r->len, value);
	ts_steps_value(to, TS_FX_REG_WRITE, r->off, bytes, r->len);
}

void put_code(uint64_t pc, const void *bytes, unsigned len)
{
	ts_steps_value(&p.s->rec.initial, TS_FX_WRITE, pc, bytes, len);
}

static uint64_t slot_addr(unsigned place)
{
	return SLOTS + 8 * (place - N_REGS);
}

bool is_slot(unsigned place)
{
	return place >= N_REGS && place < N_REGS + N_SLOTS;
}

unsigned reg_place(unsigned reg)
{
	return p.thread ? N_SLOTS + N_REGS * p.thread + reg : reg;
}

static const char *reg_name(unsigned place)
{
	return reg_names[(place < N_REGS ? place : place - N_SLOTS) % N_REGS];
}

void begin(void)
{
	memset(&p, 0, sizeof(p));
	p.s = script_new("x86_64", N_THREADS, NULL);
	ck_assert_ptr_nonnull(p.s);
	for (unsigned i = 0; i < N_PLACES; i++)
		p.now[i] = 0x1000 + i;
	for (unsigned i = N_REGS; i < N_REGS + N_SLOTS; i++)
		put_word(&p.s->rec.initial, slot_addr(i), p.now[i]);
	for (p.thread = N_THREADS; p.thread-- > 0;) {
		ts_steps_effect(&p.s->rec.initial, TS_FX_THREAD, 0, 0)->item = p.thread;
		put_reg(&p.s->rec.initial, "r15", SLOTS);
		for (unsigned reg = 0; reg < N_REGS; reg++)
			put_reg(&p.s->rec.initial, reg_names[reg], p.now[reg_place(reg)]);
	}
	p.thread = 0;
}

void finish(void)
{
	ask_text_fini(&a);
	script_free(p.s);
}

void close_step(const struct made *m, uint64_t pc, unsigned len)
{
	p.steps[p.n] = *m;
	p.threads[p.n] = p.thread;
	if (is_slot(m->writes)) {
		uint8_t bytes[8];

		ts_arch_put(p.s->rec.regs.arch, bytes, 8, m->value);
		ts_steps_value(&p.s->steps, TS_FX_WRITE, slot_addr(m->writes), bytes, 8)->is_hidden =
			m->is_syscall;
	} else if (m->writes < NO_PLACE) {
		put_reg(&p.s->steps, reg_name(m->writes), m->value);
	}
	if (m->writes < NO_PLACE)
		p.now[m->writes] = m->value;
	ts_steps_close(&p.s->steps, pc, (uint16_t)len, p.thread);
	p.n++;
}

unsigned make_step(struct script_random *rnd, uint64_t pc)
{
	unsigned dst = (unsigned)script_below(rnd, N_REGS), src = (unsigned)script_below(rnd, N_REGS);
	unsigned slot = N_REGS + (unsigned)script_below(rnd, N_SLOTS), at = 8 * (slot - N_REGS);
	char where[24];
	unsigned to = reg_place(dst), from = reg_place(src);
	struct made m = { .writes = to };
	uint8_t code[7] = { 0x48 };
	unsigned len = 3;

	if (at)
		snprintf(where, sizeof(where), "[r15+0x%02X]", at);
	else
		strcpy(where, "[r15]");
	switch (script_below(rnd, 7)) {
	case 0: /* mov r, imm32 */
		m.is_constant = true;
		m.value = m.constant = script_below(rnd, 1000);
		code[1] = 0xc7;
		code[2] = (uint8_t)(0xc0 | dst);
		code[3] = (uint8_t)m.value;
		code[4] = (uint8_t)(m.value >> 8);
		len = 7;
		break;
	case 1: /* mov r, r */
		m.inputs[m.n++] = from;
		m.value = p.now[from];
		code[1] = 0x89;
		code[2] = (uint8_t)(0xc0 | src << 3 | dst);
		break;
	case 2: /* add r, r */
		m.inputs[m.n++] = to;
		if (src != dst)
			m.inputs[m.n++] = from;
		m.value = p.now[to] + p.now[from];
		code[1] = 0x01;
		code[2] = (uint8_t)(0xc0 | src << 3 | dst);
		break;
	case 3: /* mov [r15+d], r */
		m.writes = slot;
		m.inputs[m.n++] = from;
		m.value = p.now[from];
		code[0] = 0x49;
		code[1] = 0x89;
		code[2] = (uint8_t)(0x47 | src << 3);
		code[3] = (uint8_t)at;
		len = 4;
		break;
	case 4: /* mov r, [r15+d] */
		m.inputs[m.n++] = slot;
		m.value = p.now[slot];
		code[0] = 0x49;
		code[1] = 0x8b;
		code[2] = (uint8_t)(0x47 | dst << 3);
		code[3] = (uint8_t)at;
		len = 4;
		break;
	case 5: /* xor r, r */
		m.is_constant = true;
		code[1] = 0x31;
		code[2] = (uint8_t)(0xc0 | dst << 3 | dst);
		break;
	default: { /* syscall, in which the kernel writes a slot */
		struct ts_event *e = ts_steps_event(&p.s->steps, TS_EV_SYSCALL);

		e->number = 0;
		m.writes = slot;
		m.is_syscall = true;
		m.value = script_below(rnd, 5000);
		memcpy(code, "\x66\x90", 2); /* no syscall: that writes registers, too */
		len = 2;
	}
	}
	put_code(pc, code, len);
	close_step(&m, pc, len);
	return len;
}

const char *name_of(unsigned place)
{
	static char name[32];

	if (is_slot(place))
		snprintf(name, sizeof(name), "0x%" PRIx64 ",8", slot_addr(place));
	else
		snprintf(name, sizeof(name), "$%s", reg_name(place));
	return name;
}

const char *cell(const char *line, unsigned i, char *out, size_t size)
{
	size_t len;

	while (i--)
		line += strcspn(line, "\t\n") + 1;
	len = strcspn(line, "\t\n");
	ck_assert_uint_lt(len, size);
	memcpy(out, line, len);
	out[len] = 0;
	return out;
}

char *got(const char *question)
{
	static char text[400000];
	char c[5][200];
	size_t n = 0;
	const char *line;

	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	line = strchr(ts_buf_text(&a.out), '\n') + 1;
	for (text[0] = 0; *line; line = strchr(line, '\n') + 1)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s %s %s %s\n",
				      cell(line, DEPTH, c[0], 200), cell(line, POSITION, c[1], 200),
				      cell(line, KIND, c[2], 200), cell(line, PLACE, c[3], 200),
				      cell(line, VALUE, c[4], 200));
	return text;
}

void run(uint64_t pc, const void *code, unsigned len, unsigned writes, uint64_t value)
{
	put_code(pc, code, len);
	close_step(&(struct made){ .writes = writes, .value = value }, pc, len);
}

uint32_t cost_of(const char *reg)
{
	const uint32_t all = 1000000;
	struct ts_question qn = { .verb = ts_verb_find("why", 3),
				  .at = a.ask.n_steps,
				  .thread = TS_NO_THREAD };
	struct ts_budget budget = { all };
	struct ts_error err = { 0 };
	enum ts_next got = TS_ITEM;
	struct ts_rows *rows;

	qn.depth = TS_NO_LIMIT;
	ck_assert(ts_what_register(&qn.what, reg, strlen(reg), &p.s->rec.regs));
	rows = ts_rows_open(qn.verb->rows, &a.ask, &qn, false, &err);
	ck_assert_ptr_nonnull(rows);
	while (got == TS_ITEM) {
		struct ts_row row;

		ts_row_init(&row);
		got = rows->ops->next(rows, &row, &budget, &err);
		ts_row_fini(&row);
	}
	ck_assert_int_eq(got, TS_END);
	ts_rows_close(rows);
	return all - budget.left;
}
