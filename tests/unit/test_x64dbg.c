/* SPDX-License-Identifier: MIT */
/*
 * x64dbg traces, most written as text (x64dbg_text.h): what a block says, what it does not say, and what lies
 * between two of them.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/x64dbg/insn.h"
#include "loaders/loader.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"
#include "x64dbg_text.h"
#include "x64dbg_writer.h"

extern const struct ts_loader x64dbg_loader;

enum { RAX = 0, RCX = 1, RSP = 4, RSI = 6, RDI = 7, FLAGS = 17 };

static struct ts_buf file;
static struct ts_source *src;
static struct ts_recording *rec;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_steps steps; /* all of them */
static struct ts_error err;

static void setup(void)
{
	ts_buf_init(&file);
	ts_steps_init(&steps);
	ts_error_reset(&err);
}

static void teardown(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	ts_recording_close(rec);
	ts_source_close(src);
	ts_buf_fini(&file);
	ts_steps_fini(&steps);
	q = NULL;
	tl = NULL;
	rec = NULL;
	src = NULL;
}

/* ---------------------------------------------------------------------------------------- writing */

#define INSN(pc, bytes) xw_insn(true, pc, bytes, sizeof(bytes) - 1)

static void add(const struct xw_block *b)
{
	xw_put_block(&file, true, b);
}

static void add_full(struct xw_block b, uint32_t tid)
{
	b = xw_full(true, &b, tid);
	add(&b);
}

/* A head and a first block of @b with these registers. */
static void begin(struct xw_block b, uint64_t rax, uint64_t rsp)
{
	xw_head(&file, true, NULL);
	xw_reg(&b, RAX, rax);
	xw_reg(&b, RSP, rsp);
	add_full(b, 100);
}

static void nop(uint64_t pc)
{
	struct xw_block b = INSN(pc, "\x90");

	add(&b);
}

/* ---------------------------------------------------------------------------------------- reading */

static bool try_load(void)
{
	enum ts_grow grow = TS_GROW_MORE;

	unit_seed(file.data, file.len);
	src = ts_source_from_memory(file.data, file.len, "test", &err);
	rec = ts_loader_open(&x64dbg_loader, src, NULL, &err);
	tl = rec ? ts_timeline_new(rec, NULL, &err) : NULL;
	while (tl && grow == TS_GROW_MORE)
		grow = ts_timeline_grow(tl, 1 << 20, &err);
	if (!tl || grow == TS_GROW_FAILED)
		return false;
	q = ts_query_new(tl, &err);
	return q != NULL;
}

static void load(void)
{
	struct ts_reader *reader;

	ck_assert_msg(try_load(), "%s", err.text);
	reader = rec->ops->reader(rec, &err);
	ck_assert_ptr_nonnull(reader);
	while (reader->ops->next(reader, &steps, &err) == TS_ITEM)
		;
	ts_reader_close(reader);
	ts_error_reset(&err);
}

static void load_text(const char *text)
{
	x64dbg_text(&file, text);
	load();
}

/* Bytes as hexadecimal, ".." where unknown. */
static const char *mem(uint64_t pos, uint64_t addr, unsigned len)
{
	static char text[256];
	uint8_t data[100], known[100];

	ck_assert_msg(ts_query_mem(q, pos, 0, addr, len, data, known, &err), "%s", err.text);
	text[0] = '\0';
	for (unsigned i = 0; i < len; i++) {
		if (known[i])
			sprintf(text + strlen(text), "%02x", data[i]);
		else
			strcat(text, "..");
	}
	return text;
}

#define UNKNOWN UINT64_C(0xdeadbeefdeadbeef)

static uint64_t reg_of(uint64_t pos, uint32_t thread, const char *name)
{
	const struct ts_reg *r = &rec->regs.regs[ts_regset_find(&rec->regs, name)];
	uint8_t data[4096], known[4096];

	ck_assert_msg(ts_query_regs(q, pos, thread, data, known, &err), "%s", err.text);
	return memchr(known + r->off, 0, r->len)
		       ? UNKNOWN
		       : ts_arch_get(rec->regs.arch, data + r->off, r->len > 8 ? 8 : r->len);
}

static uint64_t reg(uint64_t pos, const char *name)
{
	return reg_of(pos, ts_query_thread(q, pos), name);
}

/*
 * The accesses of a step that an instruction made, as "r1000+8 w2000+4? f3000+16": a write without value has
 * the question mark, and what is forgotten an f.
 */
static const char *accesses(uint64_t step)
{
	const struct ts_step *s = &steps.steps[step];
	static char text[256];

	ck_assert_uint_lt(step, steps.n_steps);
	text[0] = '\0';
	for (uint32_t i = s->first; i < s->first + s->n_effects; i++) {
		const struct ts_effect *e = &steps.effects[i];

		if (e->is_hidden ||
		    (e->kind != TS_FX_READ && e->kind != TS_FX_WRITE && e->kind != TS_FX_FORGET))
			continue;
		sprintf(text + strlen(text), "%s%c%llx+%llu%s", *text ? " " : "",
			e->kind == TS_FX_READ  ? 'r' :
			e->kind == TS_FX_WRITE ? 'w' :
						 'f', (unsigned long long)e->addr,
			(unsigned long long)e->len,
			e->kind == TS_FX_WRITE && e->data == TS_NO_DATA ? "?" : "");
	}
	return text;
}

static bool has_gap(uint64_t step)
{
	const struct ts_happening *h = ts_world_next_event(&tl->world, TS_EV_GAP, step);

	return h && h->step == step;
}

/* ---------------------------------------------------------------------------------------- blocks */

START_TEST(values_are_those_before_the_instruction)
{
	load_text("x64\n"
		  "full 1000 b801000000 ax=4d sp=9000\n" /* mov $1, %eax */
		  "step 1005 b802000000 ax=1\n"
		  "step 100a 90 ax=2\n");
	ck_assert_uint_eq(tl->n_steps, 2); /* three blocks are positions 0 to 2 */
	ck_assert_uint_eq(reg(0, "rax"), 77);
	ck_assert_uint_eq(reg(1, "rax"), 1);
	ck_assert_uint_eq(reg(2, "rax"), 2);
	ck_assert_uint_eq(reg(2, "rip"), 0x100a);
	ck_assert_uint_eq(reg(1, "rsp"), 0x9000);
	ck_assert_uint_eq(reg(1, "gs_base"), UNKNOWN);
	ck_assert_str_eq(rec->exec_path, "C:\\dir\\prog.exe");
	ck_assert_str_eq(rec->osabi, "Windows");
}
END_TEST

START_TEST(one_block_is_one_position_and_one_that_knows_memory_only)
{
	struct xw_block b = INSN(0x1000, "\x88\x03"); /* mov %al, (%rbx) */

	xw_reg(&b, 3, 0x2000);
	xw_mem(&b, 0x2000, 0x11, 0x22);
	begin(b, 7, 0);
	load();
	ck_assert_uint_eq(tl->n_steps, 1);
	ck_assert_uint_eq(reg(0, "rax"), 7);
	ck_assert_uint_eq(reg(1, "rax"), UNKNOWN);
	ck_assert_str_eq(mem(0, 0x2000, 2), "1100");
	ck_assert_str_eq(mem(1, 0x2000, 2), "2200");
}
END_TEST

START_TEST(instructions_are_memory)
{
	begin(INSN(0x1000, "\xb8\x01\0\0\0"), 0, 0);
	nop(0x1005);
	nop(0x1006);
	load();
	ck_assert_str_eq(mem(0, 0xfff, 9), "..b8010000009090..");
}
END_TEST

/* @n addresses from @pc on that share a place of the decoded instructions, which has room for two. */
static void find_rivals(uint64_t pc, uint64_t *pcs, unsigned n)
{
	const uint64_t hash = UINT64_C(0x9e3779b97f4a7c15); /* x64dbg_insns_place() */

	pcs[0] = pc;
	for (unsigned i = 1; i < n; i++) {
		do
			pc++;
		while ((pc * hash ^ pcs[0] * hash) >> (64 - X64DBG_INSN_BITS));
		pcs[i] = pc;
	}
}

/* The second is looked up, then the third takes its place, then the thread arrives at the second. */
START_TEST(instructions_that_share_a_place_are_themselves)
{
	uint64_t pcs[3];
	struct xw_block b;

	find_rivals(0x1000, pcs, 3);
	begin(INSN(pcs[0], "\xff\xe0"), 0, 0); /* jmp *%rax and the like, which may lead anywhere */
	b = INSN(pcs[1], "\xff\xe1");
	add(&b);
	b = INSN(pcs[2], "\xff\xe2");
	add(&b);
	nop(0x2000);
	nop(0x2001);
	load();
	ck_assert_str_eq(mem(3, pcs[0], 2), "ffe0");
	ck_assert_str_eq(mem(3, pcs[1], 2), "ffe1");
	ck_assert_str_eq(mem(3, pcs[2], 2), "ffe2");
}
END_TEST

START_TEST(code_that_changed_unseen_is_what_ran_last)
{
	load_text("x64\n"
		  "full 1000 90\n"
		  "step 1001 ebfd\n" /* jmp to 0x1000 */
		  "step 1000 f8\n"
		  "step 1001 ebfd\n"
		  "step 1000 90\n"
		  "step 1001 90\n");
	ck_assert_str_eq(mem(1, 0x1000, 1), "90");
	ck_assert_str_eq(mem(2, 0x1000, 1), "f8");
	ck_assert_str_eq(mem(3, 0x1000, 1), "f8");
	ck_assert_str_eq(mem(4, 0x1000, 1), "90");
}
END_TEST

START_TEST(the_words_of_32_bits_have_4_bytes)
{
	/* 40: tag word, and a hole; 42: selector 0x23, opcode 0x7bd with bits that are none */
	load_text("x86\n"
		  "full 1000 8803 ax=5 bx=2000 sp=9000 #40=ffff3fff #42=f7bd0023 @2000=11223344>55667788\n"
		  "step 1002 90\n");
	ck_assert_str_eq(rec->regs.arch->name, "i386");
	ck_assert_str_eq(mem(0, 0x1fff, 6), "..44332211..");
	ck_assert_str_eq(mem(1, 0x2000, 4), "88776655");
	ck_assert_uint_eq(reg(0, "eax"), 5);
	ck_assert_uint_eq(reg(0, "ftag"), 0x3fff);
	ck_assert_uint_eq(reg(0, "fiseg"), 0x23);
	ck_assert_uint_eq(reg(0, "fop"), 0x7bd);
}
END_TEST

START_TEST(a_tag_word_of_two_bits_a_register_is_taken_as_it_is)
{
	/* the second: ST(0) = 1.0, and top 7 is in use */
	load_text("x64\n"
		  "full 1000 90 #36=3fff00000000\n"
		  "step 1001 90 #26=8000000000000000 #27=3fff #36=8038000000\n");
	ck_assert_uint_eq(reg(0, "ftag"), 0x3fff);
	ck_assert_uint_eq(reg(1, "ftag"), 0x3fff);
	ck_assert_uint_eq(reg(1, "fstat"), 0x3800);
	ck_assert_uint_eq(reg(0, "fop"), UNKNOWN);
}
END_TEST

/* ---------------------------------------------------------------------------------------- memory */

START_TEST(an_access_has_its_operands_bytes_and_a_slot_shows_more)
{
	load_text("x64\n"
		  "full 1000 8800 ax=2000 @2000=8877665544332211>88776655443322aa\n" /* mov %al, (%rax) */
		  "step 1002 ff4004 @2004=ff00000088776655>ff00000088776656\n"       /* incl 4(%rax) */
		  "step 1005 8b00 @2000=88776656443322aa\n"                          /* mov (%rax), %eax */
		  "step 1007 90\n");
	ck_assert_str_eq(accesses(0), "w2000+1");
	ck_assert_str_eq(accesses(1), "r2004+4 w2004+4");
	ck_assert_str_eq(accesses(2), "r2000+4");
	ck_assert_str_eq(mem(0, 0x2000, 12), "1122334455667788000000ff");
	ck_assert_str_eq(mem(1, 0x2000, 12), "aa22334455667788000000ff");
	ck_assert_str_eq(mem(2, 0x2000, 12), "aa22334456667788000000ff");
}
END_TEST

/* A compare-and-exchange always reads its operand, so that a word of zeros is what was there. */
START_TEST(what_is_compared_is_known_before)
{
	load_text("x64\n"
		  "full 1000 f00fb10b bx=2000 @2000=0>7\n" /* lock cmpxchg %ecx, (%rbx) */
		  "step 1004 f00fb14b40 @2040=0\n"          /* ... 0x40(%rbx), which is not equal */
		  "step 1009 90\n");
	ck_assert_str_eq(accesses(0), "r2000+4 w2000+1");
	ck_assert_str_eq(accesses(1), "r2040+4");
	ck_assert_str_eq(mem(0, 0x2000, 8), "0000000000000000");
	ck_assert_str_eq(mem(1, 0x2000, 8), "0700000000000000");
	ck_assert_str_eq(mem(1, 0x2040, 8), "0000000000000000");
}
END_TEST

START_TEST(what_an_instruction_only_names_it_does_not_access)
{
	static const struct {
		const char *bytes;
		unsigned len;
	} insns[] = { { "\x0f\x18\x08", 3 },
		      { "\x0f\x1f\x00", 3 },
		      { "\x0f\x0d\x08", 3 },
		      { "\xf3\xaa", 2 },
		      { "\x48\x8d\x00", 3 } };
	uint64_t pc = 0x1000;

	for (unsigned i = 0; i < 5; i++) {
		/* stos with a count of 0 */
		struct xw_block b = xw_insn(true, pc, insns[i].bytes, insns[i].len);

		xw_mem(&b, 0x2000, 0, 0x4142);
		if (i)
			add(&b);
		else
			begin(b, 0x2000, 0);
		pc += insns[i].len;
	}
	nop(pc);
	load();
	for (unsigned i = 0; i < 5; i++)
		ck_assert_str_eq(accesses(i), "");
	ck_assert_str_eq(mem(3, 0x2000, 4), "........"); /* zeros may be the recorder's */
}
END_TEST

START_TEST(the_old_word_of_a_push_is_not_believed)
{
	load_text("x64\n"
		  "full 1000 50 ax=77 sp=9000 @8ff8=bad>77\n" /* push %rax */
		  "step 1001 50 sp=8ff8 @8ff0=77\n"            /* the fault makes it look unchanged */
		  "step 1002 e810000000 sp=8ff0 @8fe8=77>1007\n"
		  "step 1017 90\n");
	ck_assert_str_eq(mem(0, 0x8ff0, 16), "................................");
	ck_assert_str_eq(mem(1, 0x8ff0, 16), "................7700000000000000");
	ck_assert_str_eq(mem(2, 0x8fe8, 16), "................7700000000000000");
	ck_assert_str_eq(mem(3, 0x8fe8, 8), "0710000000000000");
	ck_assert_str_eq(accesses(0), "w8ff8+8");
	ck_assert_str_eq(accesses(2), "w8fe8+8");
}
END_TEST

START_TEST(a_push_of_16_bits_writes_two_bytes)
{
	load_text("x64\n"
		  "full 1000 6650 ax=1122 sp=9000 @8ff8=bad>1122334455667788\n"
		  "step 1002 90\n");
	ck_assert_str_eq(accesses(0), "w8ffe+2");
	ck_assert_str_eq(mem(0, 0x8ff8, 8), "887766554433....");
	ck_assert_str_eq(mem(1, 0x8ff8, 8), "8877665544332211");
}
END_TEST

START_TEST(zeros_behind_a_large_operand_are_not_believed)
{
	load_text("x64\n"
		  "full 1000 db38 ax=2000 @2000=1>2 @2008=3>8877665544330004\n" /* fstpt (%rax) */
		  "step 1002 90\n");
	ck_assert_str_eq(accesses(0), "w2000+8 w2008+2");
	ck_assert_str_eq(mem(0, 0x2000, 16), "01000000000000000300334455667788");
	ck_assert_str_eq(mem(1, 0x2000, 16), "02000000000000000400334455667788");
	ck_assert_uint_eq(tl->damage.code, TS_OK);
}
END_TEST

START_TEST(zeros_beyond_the_operands_page_are_not_believed)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2ffd @2ffd=11>9999999999000011\n" /* mov (%rax), %al */
		  "step 1002 90\n");
	ck_assert_str_eq(accesses(0), "r2ffd+1");
	ck_assert_str_eq(mem(1, 0x2ffd, 8), "110000..........");
}
END_TEST

START_TEST(an_access_that_faults_tells_nothing)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2000 @2000=0>9999\n"
		  "step 7000 90\n" /* the handler */
		  "step 7001 90\n");
	ck_assert_str_eq(accesses(0), "");
	ck_assert(has_gap(0));
	ck_assert_str_eq(mem(2, 0x2000, 2), "....");
	for (uint32_t i = 0; i < steps.steps[0].n_effects; i++) /* hidden ones too */
		ck_assert_int_ne(steps.effects[steps.steps[0].first + i].kind, TS_FX_WRITE);
}
END_TEST

START_TEST(an_instruction_that_is_tried_again_did_nothing)
{
	load_text("x64\n"
		  "full 1000 8800 ax=2000 @2000=0>9999\n"
		  "step 1000 8800 @2000=1111>1133\n"
		  "step 1002 90\n");
	ck_assert_str_eq(accesses(0), "");
	ck_assert_str_eq(accesses(1), "w2000+1");
	ck_assert_str_eq(mem(0, 0x2000, 2), "1111");
}
END_TEST

START_TEST(a_bit_number_moves_the_operand)
{
	load_text("x64\n"
		  "full 1000 0fab08 ax=2000 cx=ffffffe1 @2000=5\n" /* bts %ecx, (%rax) */
		  "step 1003 90\n");
	ck_assert_str_eq(accesses(0), "r1ffc+4 w1ffc+4?");
}
END_TEST

START_TEST(an_operand_in_the_teb_is_where_its_slot_is)
{
	load_text("x64\n"
		  "full 1000 65488b042530000000 @7ff0030=7ff0000\n" /* mov %gs:0x30, %rax */
		  "step 1009 90\n");
	ck_assert_str_eq(accesses(0), "r7ff0030+8");
}
END_TEST

START_TEST(an_operand_in_the_teb_is_not_where_another_operand_is)
{
	load_text("x64\n"
		  "full 1000 65ff342530000000 sp=5000 @4ff8=0>77 @7ff0030=77\n" /* push %gs:0x30 */
		  "step 1008 90\n");
	ck_assert_str_eq(accesses(0), "r7ff0030+8 w4ff8+8");
}
END_TEST

START_TEST(operands_without_a_slot_are_unknown)
{
	load_text("x64\n"
		  "full 1000 a4 si=2000 di=3000\n" /* movsb; recorders until 2024 */
		  "step 1001 8a00 ax=3000 @3000=1234\n"
		  "step 1003 90\n");
	ck_assert_str_eq(accesses(0), "r2000+1 w3000+1?");
	ck_assert_str_eq(mem(0, 0x3000, 2), "..12");
	ck_assert_str_eq(mem(1, 0x3000, 2), "3412");
}
END_TEST

START_TEST(iterations_that_were_stepped_over_are_accesses_too)
{
	load_text("x64\n"
		  "full 1000 f3a4 cx=4 si=2000 di=3000 " /* rep movsb */
		  "@3000=8877665544332211>88776655ffffffff @2000=ffffffff\n"
		  "step 1002 fd cx=0\n"                                     /* std */
		  "step 1003 f3ab cx=3 di=4008 flags=400 @4008=1>2\n"       /* rep stosl, downwards */
		  "step 1005 90 cx=0\n");
	ck_assert_str_eq(accesses(0), "r2000+1 w3000+1 w3001+3? r2001+3");
	ck_assert_str_eq(accesses(2), "w4008+4 w4000+8?");
	ck_assert_str_eq(mem(0, 0x3000, 8), "1122334455667788");
}
END_TEST

/*
 * One instruction between two blocks, with @rcx iterations, of which the first is at @rdi and @rsi: what it
 * accessed.
 */
static const char *repeated(const char *bytes, unsigned len, uint64_t rcx, uint64_t left, uint64_t rdi,
			    uint64_t flags)
{
	struct xw_block b = xw_insn(true, 0x1000, bytes, len);
	static char text[256];

	teardown();
	setup();
	xw_reg(&b, RCX, rcx);
	xw_reg(&b, RDI, rdi);
	xw_reg(&b, RSI, rdi);
	xw_reg(&b, FLAGS, flags);
	begin(b, 0, 0);
	b = xw_insn(true, 0x1000 + len, "\x90", 1);
	xw_reg(&b, RCX, left);
	add(&b);
	load();
	strcpy(text, accesses(0));
	return text;
}

#define REPEATED(bytes, ...) repeated(bytes, sizeof(bytes) - 1, __VA_ARGS__)
#define STOSB "\xf3\xaa"
#define STOSQ "\xf3\x48\xab"
#define LODSB "\xf3\xac"
#define SCASB "\xf2\xae"
#define DF 0x400u

START_TEST(iterations_follow_the_direction_flag)
{
	ck_assert_str_eq(REPEATED(STOSB, 5, 0, 0x3000, 0), "w3000+1? w3001+4?");
	ck_assert_str_eq(REPEATED(STOSB, 5, 0, 0x3000, ~(uint64_t)DF), "w3000+1? w3001+4?");
	ck_assert_str_eq(REPEATED(STOSB, 5, 0, 0x3000, DF), "w3000+1? w2ffc+4?");
	ck_assert_str_eq(REPEATED(STOSQ, 3, 0, 0x3000, 0), "w3000+8? w3008+16?");
	ck_assert_str_eq(REPEATED(STOSQ, 3, 0, 0x3000, DF), "w3000+8? w2ff0+16?");
	ck_assert_str_eq(REPEATED(LODSB, 3, 0, 0x3000, DF), "r3000+1 r2ffe+2");
	ck_assert_str_eq(REPEATED(SCASB, 9, 6, 0x3000, 0), "r3000+1 r3001+2"); /* found it */
	ck_assert_str_eq(REPEATED(STOSB, 1, 0, 0x3000, 0), "w3000+1?");
	ck_assert_str_eq(REPEATED("\x67\xf3\xaa", UINT64_C(0x500000002), UINT64_C(0x500000000), 0x3000, 0),
			 "w3000+1? w3001+1?"); /* counts in ecx */
}
END_TEST

START_TEST(iterations_end_with_the_address_space)
{
	ck_assert_str_eq(REPEATED(STOSB, 10, 0, UINT64_MAX - 2, 0),
			 "wfffffffffffffffd+1? wfffffffffffffffe+2?");
	ck_assert_str_eq(REPEATED(STOSB, 10, 0, UINT64_MAX, 0), "wffffffffffffffff+1?");
	ck_assert_str_eq(REPEATED(STOSB, 10, 0, 3, DF), "w3+1? w0+3?");
	ck_assert_str_eq(REPEATED(STOSQ, UINT64_MAX, 0, 0x1000, DF), "w1000+8? w0+4096?");
}
END_TEST

START_TEST(where_a_million_iterations_wrote_is_forgotten)
{
	ck_assert_str_eq(REPEATED(STOSB, 0x100001, 0, 0x3000, 0), "w3000+1? w3001+1048576?");
	ck_assert_str_eq(REPEATED(STOSB, 0x100002, 0, 0x3000, 0), "w3000+1? f3001+1048577");
	ck_assert_str_eq(REPEATED(LODSB, 0x100001, 0, 0x3000, 0), "r3000+1 r3001+1048576");
	ck_assert_str_eq(REPEATED(LODSB, 0x100002, 0, 0x3000, 0), "r3000+1");
	ck_assert_str_eq(REPEATED(STOSQ, UINT64_C(1) << 61, 0, 0x3000, 0),
			 "w3000+8? f3008+18446744073709539320");
}
END_TEST

/* The area has at most 11,008 bytes: AVX-512, protection keys, tiles. */
START_TEST(what_xsave_may_write_is_forgotten)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=4af9 @4af9=8877665544332211\n"
		  "step 1002 0fae20 ax=2000\n" /* xsave (%rax) */
		  "step 1005 90\n");
	ck_assert_str_eq(mem(1, 0x4af9, 8), "1122334455667788");
	ck_assert_str_eq(mem(2, 0x4af9, 8), "..............88");
}
END_TEST

START_TEST(what_others_wrote_is_no_access)
{
	load_text("x64\n"
		  "full 1000 8800 ax=2000 @2000=1111>3322\n"
		  "step 1002 8a00 @2000=4422\n"
		  "step 1004 90\n");
	ck_assert_str_eq(accesses(0), "w2000+1");
	ck_assert_str_eq(mem(0, 0x2000, 2), "1111");
	ck_assert_str_eq(mem(1, 0x2000, 2), "2244"); /* before the read that shows it */
}
END_TEST

START_TEST(an_operand_may_reach_the_end_of_memory)
{
	load_text("x64\n"
		  "full 1000 8800 ax=fffffffffffffffe @fffffffffffffffe=3322>3344\n"
		  "step 1002 90\n");
	ck_assert_str_eq(mem(1, UINT64_MAX - 1, 2), "4433");
	ck_assert_str_eq(mem(0, UINT64_MAX - 1, 2), "2233");
}
END_TEST

/* ---------------------------------------------------------------------------------------- gaps */

START_TEST(a_new_session_forgets_memory_and_other_threads)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2000 @2000=11\n"
		  "step 5000 90 tid=c8\n"
		  "full 1002 90 ax=2000\n"
		  "step 1003 8a00 @2000=22\n"
		  "step 1005 90\n");
	ck_assert(!has_gap(0));
	ck_assert(has_gap(1));
	ck_assert_str_eq(mem(1, 0x2000, 1), "11");
	ck_assert_str_eq(mem(2, 0x2000, 1), "22"); /* so it was since the session began */
	ck_assert_uint_eq(reg_of(1, 1, "rax"), 0x2000);
	ck_assert_uint_eq(reg_of(2, 1, "rax"), UNKNOWN);
	ck_assert_uint_eq(reg(2, "rax"), 0x2000);
}
END_TEST

START_TEST(a_page_of_a_session_is_no_gap)
{
	struct xw_block b = INSN(0x1000, "\x8a\x00");
	uint64_t pc = 0x1002;

	xw_mem(&b, 0x2000, 0x11, 0x11);
	begin(b, 0x2000, 0);
	for (unsigned i = 1; i < 512; i++)
		nop(pc++);
	b = INSN(pc, "\x90");
	xw_reg(&b, RAX, 0x2000);
	add_full(b, 100);
	nop(pc + 1);
	load();
	ck_assert_ptr_null(ts_world_next_event(&tl->world, TS_EV_GAP, 0));
	ck_assert_str_eq(mem(513, 0x2000, 1), "11");
}
END_TEST

START_TEST(a_call_that_was_stepped_over_keeps_memory)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2000 sp=9000 @2000=11\n"
		  "step 1002 e810000000 @8ff8=0>1007\n"
		  "step 1007 90\n"
		  "step 1008 ffd0\n" /* call *%rax */
		  "step 100a 90\n"
		  "step 100b 90\n");
	ck_assert(!has_gap(0));
	ck_assert(has_gap(1));
	ck_assert(!has_gap(2));
	ck_assert(has_gap(3));
	ck_assert_str_eq(mem(5, 0x2000, 1), "11");
	ck_assert_str_eq(mem(2, 0x8ff8, 2), "0710");
}
END_TEST

/* Like a call that was stepped over; only a session forgets. */
START_TEST(other_code_that_ran_keeps_memory)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2000 sp=9000 @2000=11\n"
		  "step 1002 90\n"
		  "step 7000 90\n" /* which no instruction led to */
		  "step 7001 90\n");
	ck_assert(!has_gap(0));
	ck_assert(has_gap(1));
	ck_assert_str_eq(mem(2, 0x2000, 1), "11");
	ck_assert_str_eq(mem(3, 0x2000, 1), "11");
}
END_TEST

START_TEST(an_instruction_that_cannot_follow_is_a_gap)
{
	static const struct {
		const char *bytes;
		unsigned len;
		uint64_t next;
		bool is_gap;
	} cases[] = {
		{ "\x90", 1, 0x1001, false },	      { "\x90", 1, 0x1000, false },
		{ "\x90", 1, 0x1002, true },	      { "\xeb\x10", 2, 0x1012, false },
		{ "\xeb\x10", 2, 0x1002, true },      { "\x74\x10", 2, 0x1012, false },
		{ "\x74\x10", 2, 0x1002, false },     { "\x74\x10", 2, 0x1013, true },
		{ "\xc3", 1, 0x5000, false },	      { "\xf3\xaa", 2, 0x1000, false },
		{ "\xf3\xaa", 2, 0x1002, false },     { "\xf3\xaa", 2, 0x1003, true },
		{ "\x0f\x05", 2, 0x7000, false },     { "\xff\xe0", 2, 0x7000, false },
		{ "\xe8\0\0\0\0", 5, 0x1005, false }, { "\xe8\1\0\0\0", 5, 0x1007, true },
		{ "\x06", 1, 0x7000, false },	      { "\x8e\xd0", 2, 0x1004, false },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(xw_insn(true, 0x1000, cases[i].bytes, cases[i].len), 0, 0x9000);
		nop(cases[i].next);
		nop(cases[i].next + 1);
		load();
		ck_assert_msg(has_gap(0) == cases[i].is_gap, "case %u", i);
		teardown();
		setup();
	}
}
END_TEST

/* ---------------------------------------------------------------------------------------- threads */

static void switch_to(uint32_t tid, uint64_t pc, uint64_t rax, bool is_flagged)
{
	struct xw_block b = INSN(pc, "\x90");

	b.has_tid = true;
	b.is_flagged = is_flagged;
	b.tid = tid;
	xw_reg(&b, RAX, rax);
	add(&b);
}

START_TEST(a_thread_that_waits_is_before_its_last_instruction)
{
	load_text("x64\n"
		  "full 1000 90 ax=1\n"
		  "step 1001 90 ax=2 tid=64\n"
		  "step 5000 90 ax=3 tid=c8\n"
		  "step 5001 90 ax=4 tid=c8\n"
		  "step 1002 90 ax=5 tid=64\n"
		  "step 1003 90\n");
	ck_assert_uint_eq(rec->n_threads, 2);
	ck_assert_uint_eq(rec->threads[0].tid, 100);
	ck_assert_uint_eq(rec->threads[1].tid, 200);
	ck_assert_uint_eq(reg(1, "rax"), 2);
	ck_assert_uint_eq(reg(2, "rax"), 3);
	ck_assert_uint_eq(reg_of(3, 0, "rax"), 2);
	ck_assert_uint_eq(reg_of(3, 0, "rip"), 0x1001);
	ck_assert_uint_eq(reg(4, "rax"), 5);
	ck_assert_uint_eq(reg_of(5, 1, "rax"), 4);
	ck_assert_uint_eq(reg_of(5, 1, "rip"), 0x5001);
	ck_assert_uint_eq(reg_of(1, 1, "rax"), UNKNOWN); /* it had not run */
}
END_TEST

START_TEST(a_thread_id_without_its_flag_is_found)
{
	load_text("x64\n"
		  "full 1000 90 ax=1\n"
		  "step 1001 90 ax=2 tid=64\n"
		  "step 5000 90 ax=3 tid?=c8\n"
		  "step 5001 90\n"
		  "step 5002 90\n"
		  "step 5003 90\n"
		  "step 5004 90\n"
		  "step 5005 90 ax=4 tid=c8\n"
		  "step 1002 90 ax=5 tid?=64\n"
		  "step 1003 90\n"
		  "step 1004 90\n");
	ck_assert_uint_eq(tl->n_steps, 10);
	ck_assert_uint_eq(tl->damage.code, TS_OK);
	ck_assert_uint_eq(rec->n_threads, 2);
	ck_assert_uint_eq(rec->threads[ts_query_thread(q, 2)].tid, 200);
	ck_assert_uint_eq(rec->threads[ts_query_thread(q, 8)].tid, 100);
	ck_assert_uint_eq(rec->n_warnings, 1);
	ck_assert_uint_eq(rec->warnings[0].count, 2);
	ck_assert_ptr_nonnull(strstr(rec->warnings[0].text, "thread id"));
}
END_TEST

START_TEST(it_is_found_behind_any_block)
{
	begin(INSN(0x1000, "\x90"), 1, 0);
	for (unsigned i = 1; i < 5; i++)
		nop(0x1000 + i);
	switch_to(200, 0x5000, 3, false); /* behind one without a flag */
	for (unsigned i = 1; i < 6; i++)
		nop(0x5000 + i);
	load();
	ck_assert_uint_eq(tl->n_steps, 10);
	ck_assert_uint_eq(rec->threads[ts_query_thread(q, 5)].tid, 200);
}
END_TEST

START_TEST(threads_that_alternate_are_found)
{
	begin(INSN(0x1000, "\x90"), 1, 0);
	switch_to(100, 0x1001, 2, true);
	for (unsigned i = 0; i < 20; i++) {
		switch_to(i % 2 ? 100 : 200, 0x5000 + 2 * i, 3, false);
		switch_to(i % 2 ? 100 : 200, 0x5001 + 2 * i, 3, true);
	}
	switch_to(300, 0x7000, 3, false);
	load();
	ck_assert_uint_eq(tl->n_steps, 43); /* the last block is its thread's only one: a step */
	ck_assert_uint_eq(rec->n_threads, 3);
	ck_assert_uint_eq(rec->threads[ts_query_thread(q, 42)].tid, 300);
	ck_assert_uint_eq(reg(42, "rax"), 3);
}
END_TEST

/* Bytes that were read of a source whose operations are counted_ops; it is else as it was. */
static const struct ts_source_ops *uncounted;
static struct ts_source_ops counted_ops;
static uint64_t n_read;

static bool read_counted(const struct ts_source *s, uint64_t off, uint8_t *data, size_t len, size_t *got,
			 struct ts_error *e)
{
	n_read += len;
	return uncounted->read(s, off, data, len, got, e);
}

/* After each flagged block the reader looks four blocks ahead. */
START_TEST(what_is_looked_at_ahead_is_not_read_again)
{
	struct ts_reader *r;

	begin(INSN(0x1000, "\x90"), 0, 0);
	for (unsigned i = 0; i < 8000; i++) {
		struct xw_block b = INSN(0x1000, "\x90");

		b.has_tid = b.is_flagged = i % 16 == 0;
		b.tid = 100 + i / 16 % 2;
		add(&b);
	}
	load();
	r = rec->ops->reader(rec, &err);
	uncounted = src->ops;
	counted_ops = *uncounted;
	counted_ops.read = read_counted;
	src->ops = &counted_ops;
	n_read = 0;
	while (ts_reader_next(r, &steps, &err) == TS_ITEM)
		;
	ts_reader_close(r);
	ck_assert_uint_gt(n_read, file.len / 2);
	ck_assert_uint_lt(n_read, file.len + (64 << 10));
}
END_TEST

/* ---------------------------------------------------------------------------------------- plugins */

START_TEST(user_blocks_are_passed_over)
{
	static const uint8_t data[300] = { 0 };

	xw_head(&file, true, NULL);
	xw_user_block(&file, 0xff, data, 300);
	add_full(INSN(0x1000, "\x90"), 100);
	xw_user_block(&file, 0x81, data, 0);
	nop(0x1001);
	xw_user_block(&file, 0x80, data, 5);
	xw_user_block(&file, 0x80, data, 7);
	load();
	ck_assert_uint_eq(tl->n_steps, 1);
	ck_assert_uint_eq(tl->damage.code, TS_OK);
	ck_assert_uint_eq(rec->n_warnings, 0);
}
END_TEST

static const char facts[] =
	"{\"value0\": {\"supertrace.version\": 65536, \"exeBuf\": [77, 90, 144,\n 0], \"process.id\": 4242, "
	"\"process.handle\": 184467440737095516150,"
	"\"threads\": [{\"id\": 200, \"name\": \"wor\\\"[1,2]ker\"}, {\"id\": 100, \"name\": \"\"}, {\"id\": "
	"\"x\"}, 7],"
	"\"memoryMaps\": [{\"addr\": 8192, \"size\": 4096, \"protect\": 4, \"state\": 4096, \"dataValid\": "
	"true, \"data\": [1,2,3]},"
	"{\"addr\": \"0x400000\", \"size\": \"8192\", \"protect\": 32, \"state\": 4096, \"data\": []},"
	"{\"addr\": 65536, \"size\": 4096, \"protect\": 4, \"state\": 8192},"
	/* PAGE_READWRITE | PAGE_GUARD: the first access faults */
	"{\"addr\": 131072, \"size\": 4096, \"protect\": 260, \"state\": 4096},"
	"{\"addr\": \"0xffffffffffff0000\", \"size\": \"0x10001\", \"protect\": 4, \"state\": 4096}," /* a byte too long */
	"{\"addr\": 1e18, \"size\": 1e19, \"protect\": 4, \"state\": 4096}],"
	"\"modules\": [{\"path\": \"C:\\\\dir\\\\prog.exe\", \"base\": 4194304, \"size\": 8192, "
	"\"isMainModule\": true},"
	"{\"path\": \"C:\\\\Windows\\\\ntdll.dll\", \"base\": 2147418112, \"size\": 4096}, {\"base\": 1}, "
	"null]}}";

START_TEST(a_plugins_list_of_modules_threads_and_regions_is_used)
{
	const struct ts_region *regions[4];
	const struct ts_loaded *m;
	size_t at = 0;

	begin(INSN(0x1000, "\x90"), 1, 0);
	switch_to(200, 0x5000, 3, true);
	nop(0x5001);
	xw_user_block(&file, 0x80, facts, sizeof(facts) - 1);
	load();
	ck_assert_uint_eq(rec->threads[0].pid, 4242);
	ck_assert_str_eq(rec->threads[1].name, "wor\"[1,2]ker");
	ck_assert_str_eq(rec->threads[0].name, "");
	ck_assert_uint_eq(ts_world_regions(&tl->world, 0, 0, regions, 4), 2);
	ck_assert_uint_eq(regions[0]->first, 0x2000);
	ck_assert_uint_eq(regions[0]->prot, TS_PROT_READ | TS_PROT_WRITE);
	ck_assert_uint_eq(regions[1]->last, 0x401fff);
	m = ts_world_next_module(&tl->world, 0, 0, &at);
	ck_assert_str_eq(ts_world_text(&tl->world, m->file), "C:\\dir\\prog.exe");
	m = ts_world_next_module(&tl->world, 0, 0, &at);
	ck_assert_uint_eq(m->first, 0x7fff0000);
	ck_assert_ptr_null(ts_world_next_module(&tl->world, 0, 0, &at));
	ck_assert_uint_eq(rec->n_warnings, 0);
}
END_TEST

/* A trace of one step, and a last block with this text. */
static void load_facts(const char *text)
{
	teardown();
	setup();
	begin(INSN(0x1000, "\x90"), 1, 0);
	nop(0x1001);
	xw_user_block(&file, 0x80, text, strlen(text));
	load();
	ck_assert_uint_eq(tl->n_steps, 1);
}

START_TEST(facts_that_cannot_be_are_passed_over)
{
	const struct ts_region *region;
	size_t at = 0;

	load_facts(
		"{\"process.id\": 4294967296, \"threads\": 7, \"modules\": {\"path\": \"x\"}, \"memoryMaps\": \"all\"}");
	ck_assert_uint_eq(rec->threads[0].pid, 1); /* as without them */
	ck_assert_uint_eq(rec->n_warnings, 0);
	load_facts("{\"process.id\": -5, \"modules\": [{\"path\": \"\", \"base\": 4096, \"size\": 4096},"
		   "{\"path\": 5, \"base\": 4096, \"size\": 4096}, {\"path\": \"no size\", \"base\": 4096}],"
		   "\"memoryMaps\": [{\"addr\": 8192, \"size\": 4096, \"protect\": 1, \"state\": 4096},"
		   "{\"addr\": 8192, \"size\": 0, \"protect\": 4, \"state\": 4096}]}");
	ck_assert_uint_eq(rec->threads[0].pid, 1);
	ck_assert_uint_eq(ts_world_regions(&tl->world, 0, 0, &region, 1), 0);
	ck_assert_ptr_null(ts_world_next_module(&tl->world, 0, 0, &at));
	ck_assert_uint_eq(rec->n_warnings, 0);
	load_facts("{\"process.id\": 4294967295}"); /* the largest there may be; not in another object */
	ck_assert_uint_eq(rec->threads[0].pid, UINT32_MAX);
}
END_TEST

/* Microsoft's PAGE_ constants (VirtualProtect). */
START_TEST(protections_of_regions)
{
	static const struct {
		unsigned protect;
		uint32_t prot;
	} cases[] = {
		{ 0x02, TS_PROT_READ },
		{ 0x04, TS_PROT_READ | TS_PROT_WRITE },
		{ 0x08, TS_PROT_READ | TS_PROT_WRITE },                 /* PAGE_WRITECOPY */
		{ 0x10, TS_PROT_EXEC },
		{ 0x20, TS_PROT_READ | TS_PROT_EXEC },
		{ 0x40, TS_PROT_READ | TS_PROT_WRITE | TS_PROT_EXEC },
		{ 0x80, TS_PROT_READ | TS_PROT_WRITE | TS_PROT_EXEC },  /* PAGE_EXECUTE_WRITECOPY */
		{ 0x204, TS_PROT_READ | TS_PROT_WRITE },                /* PAGE_NOCACHE */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ts_region *region;
		char text[200];

		teardown();
		setup();
		snprintf(text, sizeof(text),
			 "{\"value0\": {\"memoryMaps\": [{\"addr\": 8192, \"size\": 4096, \"protect\": %u, \"state\": 4096}]}}",
			 cases[i].protect);
		begin(INSN(0x1000, "\x90"), 1, 0);
		nop(0x1001);
		xw_user_block(&file, 0x80, text, strlen(text));
		load();
		ck_assert_uint_eq(ts_world_regions(&tl->world, 0, 0, &region, 1), 1);
		ck_assert_msg(region->prot == cases[i].prot, "0x%x: %u", cases[i].protect, region->prot);
	}
}
END_TEST

START_TEST(a_last_block_that_is_no_json_is_ignored)
{
	load_text("x64\n"
		  "full 1000 90\n"
		  "step 1001 90\n"
		  "user 80 {\"threads\": }\n");
	ck_assert_uint_eq(tl->n_steps, 1);
	ck_assert_uint_eq(rec->n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(rec->warnings[0].text, "not valid JSON"));
}
END_TEST

/* ---------------------------------------------------------------------------------------- decode points */

/* Sessions, threads, damage, and a stretch without a block that holds all. */
static void write_much(void)
{
	uint64_t pc = 0x1000;

	begin(INSN(pc, "\x90"), 1, 0);
	for (unsigned i = 1; i < 2600; i++) {
		struct xw_block b = INSN(++pc, "\x90");

		xw_reg(&b, RAX, i);
		if (i % 97 == 0) {
			switch_to(100 + i % 3, pc, i, true);
		} else if (i % 101 == 0) {
			switch_to(100 + i % 5, pc, i, false);
		} else if (i % 7 == 0) {
			b = INSN(pc, "\x88\x00");
			xw_reg(&b, RAX, 0x2000 + i);
			xw_mem(&b, 0x2000 + i, i, i + 1);
			add(&b);
			pc++;
		} else if (i == 512 || i == 700 || i == 2500) {
			add_full(b, 100);
		} else if (i == 2450) {
			ts_buf_puts(&file, "\x05 damage");
		} else if (i % 131 == 0) {
			pc = 0x1000 + i % 5;
		} else {
			add(&b);
		}
	}
}

static void compare_step(const struct ts_steps *a, uint32_t n, const struct ts_steps *b)
{
	const struct ts_step *x = &a->steps[n], *y = &b->steps[0];

	if (x->pc != y->pc || x->thread != y->thread || x->n_effects != y->n_effects ||
	    x->insn_len != y->insn_len)
		ck_abort_msg("step %u is another one", n);
	for (uint32_t i = 0; i < x->n_effects; i++) {
		const struct ts_effect *e = &a->effects[x->first + i], *f = &b->effects[i];
		const uint8_t *p = ts_effect_data(a, e), *r = ts_effect_data(b, f);

		if (e->kind != f->kind || e->addr != f->addr || e->len != f->len ||
		    e->is_hidden != f->is_hidden || !p != !r || (p && memcmp(p, r, e->len)) ||
		    (e->kind == TS_FX_THREAD && e->item != f->item))
			ck_abort_msg("step %u, effect %u is another one", n, i);
	}
}

START_TEST(a_reader_goes_on_from_everywhere_as_from_the_start)
{
	struct ts_reader *one, *other;
	struct ts_steps out;
	struct ts_buf point;

	write_much();
	load();
	ck_assert_uint_gt(steps.n_steps, 2400);
	one = rec->ops->reader(rec, &err);
	other = rec->ops->reader(rec, &err);
	ts_steps_init(&out);
	ts_buf_init(&point);
	for (uint32_t i = 0; i < steps.n_steps; i++) {
		ts_buf_reset(&point);
		one->ops->save(one, &point);
		ck_assert_msg(other->ops->resume(other, point.data, point.len, &err), "step %u: %s", i,
			      err.text);
		ts_steps_reset(&out);
		ck_assert(other->ops->next(other, &out, &err) == TS_ITEM);
		compare_step(&steps, i, &out);
		if (other->end.pc != (i + 1 < steps.n_steps ? steps.steps[i + 1].pc : other->end.pc))
			ck_abort_msg("step %u ends elsewhere", i);
		ts_steps_reset(&out);
		ck_assert(one->ops->next(one, &out, &err) == TS_ITEM);
	}
	ts_buf_fini(&point);
	ts_steps_fini(&out);
	ts_reader_close(one);
	ts_reader_close(other);
}
END_TEST

/*
 * Bytes of an index are anybody's: each point is refused with one sentence, or reading from it ends somehow.
 */
START_TEST(a_forged_decode_point_is_refused_or_harmless)
{
	struct ts_reader *r;
	struct ts_buf point;
	uint8_t bytes[2048];

	write_much();
	ck_assert(try_load());
	r = rec->ops->reader(rec, &err);
	for (int i = 0; i < 1600; i++) { /* past a mark that has registers */
		ts_steps_reset(&steps);
		ck_assert_int_eq(ts_reader_next(r, &steps, &err), TS_ITEM);
	}
	ts_buf_init(&point);
	r->ops->save(r, &point);
	ck_assert_uint_lt(point.len, sizeof(bytes));
	for (size_t len = 0; len < point.len; len++) {
		memcpy(bytes, point.data, point.len);
		ck_assert(!r->ops->resume(r, bytes, len, &err));
		ck_assert_int_eq(err.code, TS_ECORRUPT);
		ck_assert_str_eq(err.text, "the decode point belongs to another trace");
		ts_error_reset(&err);
		ts_steps_reset(&steps);
		ck_assert_int_eq(ts_reader_next(r, &steps, &err), TS_FAIL);
		ts_error_reset(&err);
	}
	for (size_t bit = 0; bit < 30 * 8 && bit < point.len * 8; bit++) {
		memcpy(bytes, point.data, point.len);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ts_error_reset(&err);
		if (r->ops->resume(r, bytes, point.len, &err)) {
			ts_steps_reset(&steps);
			for (int i = 0; i < 50 && ts_reader_next(r, &steps, &err) == TS_ITEM; i++)
				;
		}
	}
	ts_error_reset(&err);
	ck_assert(r->ops->resume(r, point.data, point.len, &err));
	ts_reader_close(r);
	ts_buf_fini(&point);
}
END_TEST

UNIT_FIXTURE_SUITE("x64dbg", setup, teardown, values_are_those_before_the_instruction,
		   one_block_is_one_position_and_one_that_knows_memory_only, instructions_are_memory,
		   instructions_that_share_a_place_are_themselves, code_that_changed_unseen_is_what_ran_last,
		   the_words_of_32_bits_have_4_bytes, a_tag_word_of_two_bits_a_register_is_taken_as_it_is,
		   an_access_has_its_operands_bytes_and_a_slot_shows_more, what_is_compared_is_known_before,
		   what_an_instruction_only_names_it_does_not_access, the_old_word_of_a_push_is_not_believed,
		   a_push_of_16_bits_writes_two_bytes, zeros_behind_a_large_operand_are_not_believed,
		   zeros_beyond_the_operands_page_are_not_believed, an_access_that_faults_tells_nothing,
		   an_instruction_that_is_tried_again_did_nothing, a_bit_number_moves_the_operand,
		   an_operand_in_the_teb_is_where_its_slot_is,
		   an_operand_in_the_teb_is_not_where_another_operand_is, operands_without_a_slot_are_unknown,
		   iterations_that_were_stepped_over_are_accesses_too, iterations_follow_the_direction_flag,
		   iterations_end_with_the_address_space, where_a_million_iterations_wrote_is_forgotten,
		   what_xsave_may_write_is_forgotten, what_others_wrote_is_no_access,
		   an_operand_may_reach_the_end_of_memory, a_new_session_forgets_memory_and_other_threads,
		   a_page_of_a_session_is_no_gap, a_call_that_was_stepped_over_keeps_memory,
		   other_code_that_ran_keeps_memory, an_instruction_that_cannot_follow_is_a_gap,
		   a_thread_that_waits_is_before_its_last_instruction, a_thread_id_without_its_flag_is_found,
		   it_is_found_behind_any_block, threads_that_alternate_are_found,
		   what_is_looked_at_ahead_is_not_read_again,
		   user_blocks_are_passed_over, a_plugins_list_of_modules_threads_and_regions_is_used,
		   facts_that_cannot_be_are_passed_over, protections_of_regions,
		   a_last_block_that_is_no_json_is_ignored, a_forged_decode_point_is_refused_or_harmless,
		   a_reader_goes_on_from_everywhere_as_from_the_start)
