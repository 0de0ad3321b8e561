/* SPDX-License-Identifier: MIT */
/*
 * A whole machine's recording: how fast are its events indexed, and what does its image of memory cost?
 *
 * The machine has 8 GiB of memory, which are a hole in the file but for what the program's code needs; ten
 * million events are those of plain code: calls, pushes, arithmetic with flags, stores that go through 64
 * MiB.  Everything is measured in one run: reading the event bytes, decoding them, indexing, each the best of
 * three, in processor time; peak memory is that of the first indexing, in a process of its own.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pass.h"
#include "recording.h"
#include "tests/unit/rvn_encode.h"

#define N_EVENTS UINT64_C(10000000)
#define RAM_LEN	 (UINT64_C(8) << 30)
#define HEAP_AT	 UINT64_C(0x40000000)
#define HEAP_LEN (UINT64_C(64) << 20)
#define STACK_AT UINT64_C(0x7ff000)
#define N_RUNS	 3

struct result {
	uint64_t events_at, events_len, file_len, disk_len;
	double read_s, decode_s, index_s; /* best of N_RUNS */
	long base_kb, peak_kb;
	uint64_t index_len;
};

/* ------------------------------------------------------------------------------------------ the recording */

enum { RAX, RBX, RCX, RDX, RSI, RDI, RBP, R8, R9, R10, R11, R12, R13, R14, R15, RSP, EFLAGS, RIP, N_REGS };

static const char *const names[N_REGS] = { "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8",     "r9",
					   "r10", "r11", "r12", "r13", "r14", "r15", "rsp", "eflags", "rip" };

/* Operations, with the ids that the recorders give them. */
#define OP_RIP(n)     (N_REGS + (n)-1)
#define OP_SET_FLAG   N_REGS + 15
#define OP_CLEAR_FLAG N_REGS + 24
#define OP_RSP	      N_REGS + 33

static void describe(struct rvn_parts *p)
{
	static const uint8_t flags[9] = { 0, 2, 4, 6, 7, 8, 9, 10, 11 };
	static const int steps[8] = { 2, 4, 8, 16, -2, -4, -8, -16 };

	rvn_parts_init(p);
	p->container = RVN_HEADER_1;
	rvn_region(p, 0, RAM_LEN);
	for (uint16_t i = 0; i < N_REGS; i++) {
		uint64_t value = i == RIP ? 0x400000 : i == RSP ? STACK_AT : 0;

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
static void make_round(struct maker *mk, uint64_t round)
{
	uint64_t function;

	mk->random = mk->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	function = 0x401000 + (mk->random >> 33) % 2000 * 64;
	diff(mk, 1, 2); /* call */
	memory(mk, STACK_AT - 8, 0x400005, 8);
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
	reg(mk, RIP, 0x400000);
	reg(mk, RBP, round);
	reg(mk, RSP, STACK_AT);
}

static void write_all(int fd, const void *data, size_t len, uint64_t off)
{
	for (const char *p = data; len;) {
		ssize_t n = pwrite(fd, p, len, (off_t)off);

		if (n <= 0)
			bench_die("cannot write a recording");
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
}

static void put_number_at(int fd, uint64_t off, uint64_t n)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(n >> 8 * i);
	write_all(fd, bytes, 8, off);
}

/* The parts without memory, with a hole put in where it belongs; then the events. */
static void record(const char *path, struct result *r)
{
	struct maker mk = { 0 };
	struct rvn_parts p;
	struct ts_buf file;
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint64_t at;

	ts_buf_init(&file);
	describe(&p);
	rvn_assemble(&p, &file);
	if (fd < 0)
		bench_die("cannot write a recording");
	write_all(fd, file.data, p.memory_at, 0);
	put_number_at(fd, p.memory_at, RAM_LEN);
	write_all(fd, file.data + p.initial_at, file.len - p.initial_at, p.initial_at + RAM_LEN);
	r->events_at = at = p.events_at + RAM_LEN + 16;
	for (uint64_t round = 0; round < N_EVENTS / N_ROUND; round++) {
		make_round(&mk, round);
		if (mk.b.len > 1 << 20 || round + 1 == N_EVENTS / N_ROUND) {
			write_all(fd, mk.b.data, mk.b.len, at);
			at += mk.b.len;
			ts_buf_reset(&mk.b);
		}
	}
	r->events_len = at - r->events_at;
	put_number_at(fd, r->events_at - 16, r->events_len + 8);
	put_number_at(fd, r->events_at - 8, N_EVENTS);
	fstat(fd, &st);
	r->file_len = (uint64_t)st.st_size;
	r->disk_len = (uint64_t)st.st_blocks * 512;
	close(fd);
	ts_buf_fini(&mk.b);
	ts_buf_fini(&file);
	rvn_parts_fini(&p);
}

/* ------------------------------------------------------------------------------------------------ passes */

static uint64_t events_at;

static void pass_read(const char *path)
{
	bench_pass_read(path, events_at);
}

static void pass_index(const char *path)
{
	bench_pass_index(path, NULL);
}

static long peak_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void measure(const char *path, struct result *r)
{
	struct ts_timeline_stats stats;

	events_at = r->events_at;
	r->base_kb = peak_kb();
	bench_pass_index(path, &stats);
	r->peak_kb = peak_kb();
	r->index_len = stats.points_len + stats.regs_len + stats.memory_len + stats.runs_len;
	r->read_s = bench_best_of(N_RUNS, pass_read, path);
	r->decode_s = bench_best_of(N_RUNS, bench_pass_decode, path);
	r->index_s = bench_best_of(N_RUNS, pass_index, path);
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		bench_die("a recording could not be measured");
}

static void row(const char *name, const char *format, double value)
{
	printf("  %-46s", name);
	printf(format, value);
	putchar('\n');
}

int main(void)
{
	struct result *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *path = bench_temp("machine");
	pid_t pid;

	if (r == MAP_FAILED)
		bench_die("no memory");
	pid = fork();
	if (!pid) {
		record(path, r);
		_exit(0);
	}
	wait_for(pid);
	pid = fork();
	if (!pid) {
		measure(path, r);
		_exit(0);
	}
	wait_for(pid);
	unlink(path);
	free(path);
	printf("machine: a REVEN trace with a hole of 8 GiB for its memory; best of %d runs, processor time, "
	       "file in the page cache\n",
	       N_RUNS);
	row("events, millions", "%14.1f", (double)N_EVENTS / 1e6);
	row("file, GiB", "%14.2f", (double)r->file_len / (1 << 30));
	row("  of them on disk, MiB", "%14.1f", (double)r->disk_len / (1 << 20));
	row("event, bytes", "%14.2f", (double)r->events_len / (double)N_EVENTS);
	row("reading the event bytes, million steps a second", "%14.2f", (double)N_EVENTS / r->read_s / 1e6);
	row("decoding, million steps a second", "%14.2f", (double)N_EVENTS / r->decode_s / 1e6);
	row("indexing (decodes too), million steps a second", "%14.2f", (double)N_EVENTS / r->index_s / 1e6);
	row("indexing : reading, time", "%14.1f", r->index_s / r->read_s);
	row("index, bytes a step", "%14.2f", (double)r->index_len / (double)N_EVENTS);
	row("peak memory of the process, MiB", "%14.1f", (double)r->peak_kb / 1024);
	row("  of it before indexing, MiB", "%14.1f", (double)r->base_kb / 1024);
	return 0;
}
