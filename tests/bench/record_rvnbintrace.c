/* SPDX-License-Identifier: MIT */
/*
 * A whole machine's recording as REVEN's tracers write it: 8 GiB of memory, which are a hole in the file but
 * for the instructions, and the events of plain code: calls, pushes, arithmetic with flags, stores that go
 * through 64 KiB.
 */
#include <string.h>

#include "bench.h"
#include "recording.h"
#include "tests/unit/rvn_encode.h"

#define RAM_LEN  (UINT64_C(8) << 30)
#define HEAP_AT  UINT64_C(0x40000000)
#define HEAP_LEN (UINT64_C(64) << 10) /* once in 55,000 steps: older writes are found */
#define MARK_AT  (HEAP_AT + HEAP_LEN + 0x1000)
#define STACK_AT UINT64_C(0x7ff000)
#define MAIN_AT  UINT64_C(0x400000)
#define CODE_AT  UINT64_C(0x401000) /* of the functions, which are all the same */
#define N_FUNCTIONS 2000u
#define FUNCTION_LEN 64u

enum { RAX, RBX, RCX, RDX, RSI, RDI, RBP, R8, R9, R10, R11, R12, R13, R14, R15, RSP, EFLAGS, RIP, N_REGS };

static const char *const names[N_REGS] = { "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8",     "r9",
					   "r10", "r11", "r12", "r13", "r14", "r15", "rsp", "eflags", "rip" };

/* Operations, with the ids that the recorders give them. */
#define OP_RIP(n)     (N_REGS + (n)-1)
#define OP_SET_FLAG   N_REGS + 15
#define OP_CLEAR_FLAG N_REGS + 24
#define OP_RSP        N_REGS + 33

static void describe(struct rvn_parts *p)
{
	static const uint8_t flags[9] = { 0, 2, 4, 6, 7, 8, 9, 10, 11 };
	static const int steps[8] = { 2, 4, 8, 16, -2, -4, -8, -16 };

	rvn_parts_init(p);
	p->container = RVN_HEADER_1;
	rvn_region(p, 0, RAM_LEN);
	for (uint16_t i = 0; i < N_REGS; i++) {
		uint64_t value = i == RIP ? MAIN_AT : i == RSP ? STACK_AT : 0;

		rvn_register(p, i, i == EFLAGS ? 4 : 8, names[i]);
		rvn_initial(p, i, &value, i == EFLAGS ? 4 : 8);
	}
	for (unsigned i = 1; i <= 15; i++)
		rvn_operation(p, (uint8_t)OP_RIP(i), RIP, 1, &(uint64_t){ i }, 8);
	for (unsigned i = 0; i < 9; i++)
		rvn_operation(p, (uint8_t)(OP_SET_FLAG + i), EFLAGS, 3, &(uint32_t){ 1u << flags[i] }, 4);
	for (unsigned i = 0; i < 9; i++)
		rvn_operation(p, (uint8_t)(OP_CLEAR_FLAG + i), EFLAGS, 2, &(uint32_t){ ~(1u << flags[i]) },
			      4);
	for (unsigned i = 0; i < 8; i++)
		rvn_operation(p, (uint8_t)(OP_RSP + i), RSP, 1, &(int64_t){ steps[i] }, 8);
}

struct maker {
	struct ts_buf b;
	uint64_t heap, random;
	uint64_t n_rounds;
};

static void diff(struct maker *mk, unsigned n_memory, unsigned n_regs)
{
	ts_buf_putc(&mk->b, (uint8_t)(n_regs << 4 | n_memory));
}

static void memory(struct maker *mk, uint64_t addr, uint64_t value, unsigned len)
{
	rvn_number(&mk->b, addr, 5);
	rvn_number(&mk->b, len, 1);
	rvn_number(&mk->b, value, len);
}

static void reg(struct maker *mk, unsigned id, uint64_t value)
{
	rvn_number(&mk->b, id, 1);
	rvn_number(&mk->b, value, 8);
}

static void op(struct maker *mk, unsigned id)
{
	ts_buf_putc(&mk->b, (uint8_t)id);
}

/* Twenty events: a function is called, computes, stores, and returns. */
#define N_ROUND 20
static void make_round(struct maker *mk)
{
	uint64_t function, round = mk->n_rounds++;

	mk->random = mk->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	function = CODE_AT + (mk->random >> 33) % N_FUNCTIONS * FUNCTION_LEN;
	diff(mk, 1, 2); /* call */
	memory(mk, STACK_AT - 8, MAIN_AT + 5, 8);
	reg(mk, RIP, function);
	op(mk, OP_RSP + 6);
	diff(mk, 1, 2); /* push rbp */
	memory(mk, STACK_AT - 16, round, 8);
	op(mk, OP_RIP(1));
	op(mk, OP_RSP + 6);
	diff(mk, 0, 2); /* mov rbp, rsp */
	op(mk, OP_RIP(3));
	reg(mk, RBP, STACK_AT - 16);
	for (unsigned i = 0; i < 5; i++) {
		diff(mk, 0, 4); /* add */
		op(mk, OP_RIP(3));
		reg(mk, RAX + i, mk->random >> i);
		op(mk, OP_SET_FLAG + i);
		op(mk, OP_CLEAR_FLAG + 8 - i);
		diff(mk, 0, 2); /* cmp */
		op(mk, OP_RIP(4));
		op(mk, OP_CLEAR_FLAG + i);
		diff(mk, 0, 1); /* jcc, not taken */
		op(mk, OP_RIP(2));
	}
	mk->heap = (mk->heap + 24) % HEAP_LEN;
	diff(mk, 1, 1); /* a store */
	memory(mk, HEAP_AT + mk->heap, mk->random, 4);
	op(mk, OP_RIP(4));
	diff(mk, 0, 3); /* ret, the frame with it */
	reg(mk, RIP, MAIN_AT);
	reg(mk, RBP, round);
	reg(mk, RSP, STACK_AT);
}

/* The write that happens once: a store, and a way back to where the rounds begin. */
#define N_MARK 2
static void make_mark(struct maker *mk)
{
	diff(mk, 1, 1);
	memory(mk, MARK_AT, 0x6b72616d, 8);
	op(mk, OP_RIP(4));
	diff(mk, 0, 1);
	reg(mk, RIP, MAIN_AT);
}

static void put_number(FILE *out, uint64_t off, uint64_t n)
{
	uint8_t bytes[8];

	bench_put(bytes, 8, n);
	if (fseek(out, (long)off, SEEK_SET))
		bench_die("a recording cannot be written");
	bench_write(out, bytes, 8);
}

/* The instructions of the rounds, into the memory that begins at @off of the file. */
static void put_code(FILE *out, uint64_t off)
{
	static const uint8_t call[] = { 0xe8, 0xfb, 0x0f, 0, 0 }, enter[] = { 0x55, 0x48, 0x89, 0xe5 },
			     turn[] = { 0x48, 0x01, 0xc8, 0x48, 0x83, 0xf8, 0, 0x75, 0 },
			     leave[] = { 0x89, 0x44, 0x24, 0x18, 0xc3 };
	uint8_t code[FUNCTION_LEN] = { 0 };
	size_t n = sizeof(enter);

	memcpy(code, enter, sizeof(enter));
	for (unsigned i = 0; i < 5; i++, n += sizeof(turn))
		memcpy(code + n, turn, sizeof(turn));
	memcpy(code + n, leave, sizeof(leave));
	if (fseek(out, (long)(off + MAIN_AT), SEEK_SET))
		bench_die("a recording cannot be written");
	bench_write(out, call, sizeof(call));
	if (fseek(out, (long)(off + CODE_AT), SEEK_SET))
		bench_die("a recording cannot be written");
	for (unsigned i = 0; i < N_FUNCTIONS; i++)
		bench_write(out, code, sizeof(code));
}

/* The parts of a trace without memory, with a hole put in where it belongs.  Returns where events go. */
static uint64_t put_start(FILE *out)
{
	struct rvn_parts p;
	struct ts_buf file;
	uint64_t events_at;

	ts_buf_init(&file);
	describe(&p);
	rvn_assemble(&p, &file);
	bench_write(out, file.data, p.memory_at);
	put_number(out, p.memory_at, RAM_LEN);
	put_code(out, p.initial_at);
	if (fseek(out, (long)(p.initial_at + RAM_LEN), SEEK_SET))
		bench_die("a recording cannot be written");
	bench_write(out, file.data + p.initial_at, file.len - p.initial_at);
	events_at = p.events_at + RAM_LEN + 16;
	ts_buf_fini(&file);
	rvn_parts_fini(&p);
	return events_at;
}

static void record(const struct bench_format *format, const char *path, uint64_t n_steps,
		   struct bench_recording *rec)
{
	FILE *out = bench_create(path);
	struct maker mk = { 0 };

	(void)format;
	rec->steps_at = put_start(out);
	rec->mark = MARK_AT;
	for (make_mark(&mk), rec->n_steps = N_MARK; rec->n_steps < n_steps; rec->n_steps += N_ROUND) {
		make_round(&mk);
		bench_write(out, mk.b.data, mk.b.len);
		ts_buf_reset(&mk.b);
	}
	ts_buf_fini(&mk.b);
	rec->file_len = (uint64_t)ftell(out);
	put_number(out, rec->steps_at - 16, rec->file_len - rec->steps_at + 8);
	put_number(out, rec->steps_at - 8, rec->n_steps);
	bench_finish(out);
}

const struct bench_format bench_rvnbintrace = {
	.name = "rvnbintrace",
	.about = "REVEN: a machine with 8 GiB of memory, of which plain code goes through 64 KiB",
	.index_rate = 10,
	.record = record,
};
