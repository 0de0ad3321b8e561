/* SPDX-License-Identifier: MIT */
#include "x64dbg_live.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 8
#define MAX_MAPPING (UINT64_C(1) << 20)
#define N_LAST (1u << 15)

struct tracee {
	struct xl_run *run;
	int mem; /* /proc/PID/mem */
	pid_t pid;
	pid_t threads[MAX_THREADS];
	unsigned n_threads;
	bool is_64;
	struct xw_era era;
	ZydisDecoder decoder;
	uint32_t random;
	uint32_t last[N_LAST]; /* by page: ordinal of its newest content, and 1 */
};

/* Also where no test is running. */
static void must(bool condition)
{
	if (!condition)
		abort();
}

/* ---------------------------------------------------------------------------------------- memory */

/* As recorders read: what cannot be read is 0. */
static unsigned read_mem(const struct tracee *t, uint64_t addr, void *data, size_t len)
{
	ssize_t got;

	memset(data, 0, len);
	got = pread(t->mem, data, len, (off_t)addr);
	return got < 0 ? 0 : (unsigned)got;
}

static uint64_t read_word(const struct tracee *t, uint64_t addr, unsigned len)
{
	uint64_t v = 0;

	read_mem(t, addr, &v, len);
	return v;
}

static int by_place(const void *a, const void *b)
{
	const struct xl_page *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->sample < y->sample ? -1 : x->sample > y->sample;
}

/* Where the ordinal of a page's newest content is kept. */
static uint32_t *last_page(struct tracee *t, uint64_t addr)
{
	uint64_t i = addr / 4096 % N_LAST;

	while (t->last[i] && t->run->pages[t->last[i] - 1].addr != addr)
		i = (i + 1) % N_LAST;
	return &t->last[i];
}

static void sample_page(struct tracee *t, uint64_t addr, uint32_t sample)
{
	struct xl_run *run = t->run;
	uint32_t *last = last_page(t, addr);
	uint8_t data[4096];

	if (read_mem(t, addr, data, sizeof(data)) != sizeof(data) ||
	    (*last && !memcmp(run->pages[*last - 1].data, data, sizeof(data))))
		return;
	must(run->n_pages < N_LAST / 2);
	*last = (uint32_t)run->n_pages + 1;
	if (run->n_pages == run->cap_pages) {
		run->cap_pages = run->cap_pages ? run->cap_pages * 2 : 256;
		run->pages = realloc(run->pages, run->cap_pages * sizeof(*run->pages));
		must(run->pages != NULL);
	}
	run->pages[run->n_pages].addr = addr;
	run->pages[run->n_pages].sample = sample;
	memcpy(run->pages[run->n_pages++].data, data, sizeof(data));
}

/* All that can be written, but for mappings so large that they are none of the program's. */
static void sample_memory(struct tracee *t, uint32_t sample)
{
	char name[64], line[512];
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", t->pid);
	maps = fopen(name, "r");
	must(maps != NULL);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long lo, hi;
		char access[8];

		if (sscanf(line, "%lx-%lx %7s", &lo, &hi, access) != 3 || access[0] != 'r' ||
		    access[1] != 'w' || hi - lo > MAX_MAPPING)
			continue;
		for (; lo < hi; lo += 4096)
			sample_page(t, lo, sample);
	}
	fclose(maps);
}

const uint8_t *xl_page_at(const struct xl_run *run, uint64_t addr, uint32_t sample)
{
	size_t lo = 0, hi = run->n_pages;

	while (lo < hi) { /* the first that comes later */
		const struct xl_page *p = &run->pages[lo + (hi - lo) / 2];

		if (p->addr < addr || (p->addr == addr && p->sample <= sample))
			lo = lo + (hi - lo) / 2 + 1;
		else
			hi = lo + (hi - lo) / 2;
	}
	return lo && run->pages[lo - 1].addr == addr ? run->pages[lo - 1].data : NULL;
}

/* ---------------------------------------------------------------------------------------- registers */

static uint64_t reg_by_number(const struct user_regs_struct *r, unsigned n)
{
	const unsigned long long regs[16] = {
		r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
		r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15
	};

	return regs[n];
}

static uint64_t reg_value(const struct tracee *t, const struct user_regs_struct *r, ZydisRegister reg,
			  uint64_t next_pc)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(t->decoder.machine_mode, reg);

	if (reg == ZYDIS_REGISTER_NONE)
		return 0;
	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		return next_pc;
	return reg_by_number(r, (unsigned)ZydisRegisterGetId(whole)) & (t->is_64 ? UINT64_MAX : UINT32_MAX);
}

/* The tag word of two bits a register, by the processor's manual. */
static unsigned tag_word(const uint8_t *state)
{
	unsigned full = 0, top = (state[3] >> 3) & 7;

	for (unsigned physical = 0; physical < 8; physical++) {
		const uint8_t *st = state + 32 + 16 * ((physical + 8 - top) % 8);
		unsigned exponent = st[8] | (st[9] & 0x7f) << 8, tag;
		uint64_t significand;

		memcpy(&significand, st, 8);
		if (!(state[4] & 1 << physical))
			tag = 3;
		else if (!exponent && !significand)
			tag = 1;
		else if (!exponent || exponent == 0x7fff || !(significand >> 63))
			tag = 2;
		else
			tag = 0;
		full |= tag << 2 * physical;
	}
	return full;
}

static void put(uint8_t *record, unsigned at, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		record[at + i] = (uint8_t)(v >> 8 * i);
}

/* What a recorder has beside the registers: copies of them, and holes with anything. */
static void fill_rest(const struct tracee *t, struct xw_stop *s, const struct xl_truth *x)
{
	static const unsigned holes[2][6] = { { 162, 188, 189, 585, 598, 748 },
					      { 156, 157, 294, 1097, 1110, 1260 } };
	static unsigned noise;

	for (unsigned i = 0; i < 6; i++)
		s->record[holes[t->is_64][i]] = (uint8_t)(noise += 37);
	put(s->record, t->is_64 ? 1088 : 576, x->regs.eflags & 1, 1);
	put(s->record, t->is_64 ? 1372 : 860, x->regs.eflags >> 3, 4);
}

static void fill_record(const struct tracee *t, struct xw_stop *s, const struct xl_truth *x)
{
	const struct user_regs_struct *r = &x->regs;
	const unsigned long long segments[6] = { r->gs, r->fs, r->es, r->ds, r->cs, r->ss };
	unsigned w = t->is_64 ? 8 : 4, x87 = t->is_64 ? 288 : 156, n = t->is_64 ? 16 : 8;

	memset(s->record, 0, sizeof(s->record));
	for (unsigned i = 0; i < n; i++)
		put(s->record, i * w, reg_by_number(r, i), w);
	put(s->record, t->is_64 ? 128 : 32, r->rip, w);
	put(s->record, t->is_64 ? 136 : 36, r->eflags, 4);
	for (unsigned i = 0; i < 6; i++)
		put(s->record, (t->is_64 ? 144 : 40) + 2 * i, segments[i], 2);
	for (unsigned i = 0; i < 8; i++)
		memcpy(s->record + (t->is_64 ? 208 : 76) + 10 * i, x->state + 32 + 16 * i, 10);
	memcpy(s->record + x87, x->state, 4);
	put(s->record, x87 + 4, t->is_64 ? x->state[4] : tag_word(x->state), 2);
	memcpy(s->record + x87 + 8, x->state + 8, 4);
	memcpy(s->record + x87 + 12, x->state + 12, 2);
	if (!t->is_64)
		memcpy(s->record + x87 + 14, x->state + 6, 2);
	memcpy(s->record + x87 + 16, x->state + 16, 4);
	memcpy(s->record + x87 + 20, x->state + 20, 2);
	memcpy(s->record + (t->is_64 ? 316 : 184), x->state + 24, 4);
	for (unsigned i = 0; i < n; i++) {
		memcpy(s->record + (t->is_64 ? 320 : 192) + 16 * i, x->state + 160 + 16 * i, 16);
		memcpy(s->record + (t->is_64 ? 576 : 320) + 32 * i, x->state + 160 + 16 * i, 16);
		memcpy(s->record + (t->is_64 ? 576 : 320) + 32 * i + 16, x->state + 576 + 16 * i, 16);
	}
	fill_rest(t, s, x);
}

static unsigned number_in(const char *name)
{
	while (*name && (*name < '0' || *name > '9'))
		name++;
	return (unsigned)atoi(name);
}

/* What debuggers show otherwise than the processor stores it. */
static void derive(struct xl_truth *x)
{
	x->fctrl = x->state[0] | (uint32_t)x->state[1] << 8;
	x->fstat = x->state[2] | (uint32_t)x->state[3] << 8;
	x->ftag = tag_word(x->state);
	x->fop = (x->state[6] | (uint32_t)x->state[7] << 8) & 0x7ff;
	x->fiseg = x->state[12] | (uint32_t)x->state[13] << 8;
	x->foseg = x->state[20] | (uint32_t)x->state[21] << 8;
}

#define REG(name) offsetof(struct xl_truth, regs.name)
#define MADE(name) { #name, offsetof(struct xl_truth, name) }

bool xl_reg(const struct xl_run *run, const char *name, size_t *off)
{
	static const struct {
		const char *name;
		size_t off;
	} places[] = {
		{ "rax", REG(rax) },
		{ "rcx", REG(rcx) },
		{ "rdx", REG(rdx) },
		{ "rbx", REG(rbx) },
		{ "rsp", REG(rsp) },
		{ "rbp", REG(rbp) },
		{ "rsi", REG(rsi) },
		{ "rdi", REG(rdi) },
		{ "r8", REG(r8) },
		{ "r9", REG(r9) },
		{ "r10", REG(r10) },
		{ "r11", REG(r11) },
		{ "r12", REG(r12) },
		{ "r13", REG(r13) },
		{ "r14", REG(r14) },
		{ "r15", REG(r15) },
		{ "rip", REG(rip) },
		{ "eax", REG(rax) },
		{ "ecx", REG(rcx) },
		{ "edx", REG(rdx) },
		{ "ebx", REG(rbx) },
		{ "esp", REG(rsp) },
		{ "ebp", REG(rbp) },
		{ "esi", REG(rsi) },
		{ "edi", REG(rdi) },
		{ "eip", REG(rip) },
		{ "eflags", REG(eflags) },
		{ "cs", REG(cs) },
		{ "ss", REG(ss) },
		{ "ds", REG(ds) },
		{ "es", REG(es) },
		{ "fs", REG(fs) },
		{ "gs", REG(gs) },
		MADE(fctrl),
		MADE(fstat),
		MADE(ftag),
		MADE(fiseg),
		MADE(foseg),
		{ "fioff", offsetof(struct xl_truth, state) + 8 },
		{ "fooff", offsetof(struct xl_truth, state) + 16 },
		{ "mxcsr", offsetof(struct xl_truth, state) + 24 },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		*off = places[i].off;
		if (!strcmp(name, places[i].name))
			return true;
	}
	*off = offsetof(struct xl_truth, fop);
	if (!strcmp(name, "fop"))
		return !run->w.is_64;
	*off = offsetof(struct xl_truth, state) + 16 * number_in(name) +
	       (*name == 's' ? 32 : *name == 'x' ? 160 : 576);
	return !strncmp(name, "st", 2) || !strncmp(name, "xmm", 3) || !strncmp(name, "ymm", 3);
}

/* -------------------------------------------------------------------------- what recorders note of memory */

static void add_mem(const struct tracee *t, struct xw_stop *s, uint64_t addr, uint64_t old)
{
	addr &= t->is_64 ? UINT64_MAX : UINT32_MAX;
	s->mem[s->n_mem++] = (struct xw_mem){ addr, old, 0 };
}

/* An operand of @len bytes, whose true size wraps at 256. */
static void add_operand(const struct tracee *t, struct xw_stop *s, uint64_t addr, unsigned len)
{
	unsigned w = t->is_64 ? 8 : 4, n;

	len &= 0xff;
	n = len <= w ? 1 : (len + w - 1) / w;
	if (s->n_mem + n > XW_MAX_MEM)
		return;
	for (unsigned i = 0; i < n; i++) {
		unsigned rest = len > w && len - i * w < w ? len - i * w : w;

		add_mem(t, s, addr + i * w, read_word(t, addr + i * w, rest));
	}
}

static bool is_push(const ZydisDecodedInstruction *d)
{
	return (d->meta.category == ZYDIS_CATEGORY_PUSH || d->meta.category == ZYDIS_CATEGORY_CALL) &&
	       d->mnemonic != ZYDIS_MNEMONIC_PUSHA && d->mnemonic != ZYDIS_MNEMONIC_PUSHAD;
}

static uint64_t operand_addr(const struct tracee *t, const struct user_regs_struct *r,
			     const ZydisDecodedOperand *o, uint64_t next_pc)
{
	uint64_t addr = (o->mem.disp.has_displacement ? (uint64_t)o->mem.disp.value : 0) +
			reg_value(t, r, o->mem.base, next_pc) +
			reg_value(t, r, o->mem.index, next_pc) * o->mem.scale;

	if (o->mem.segment == ZYDIS_REGISTER_GS && t->is_64)
		addr += r->gs_base;
	if (o->mem.segment == ZYDIS_REGISTER_FS && !t->is_64)
		addr += r->fs_base;
	return addr & (t->is_64 ? UINT64_MAX : UINT32_MAX);
}

/* The stack slot of old recorders, with its true old word. */
static void add_stack_slot(const struct tracee *t, struct xw_stop *s, const ZydisDecodedInstruction *d,
			   uint64_t sp)
{
	unsigned w = t->is_64 ? 8 : 4;

	if (is_push(d))
		add_operand(t, s, sp - w, w);
	else if (d->mnemonic == ZYDIS_MNEMONIC_POP || d->mnemonic == ZYDIS_MNEMONIC_RET)
		add_operand(t, s, sp, w);
}

static void note_memory(const struct tracee *t, struct xw_stop *s, const struct user_regs_struct *r,
			ZydisDecodedInstruction *d, const ZydisDecodedOperand *operands)
{
	unsigned w = t->is_64 ? 8 : 4;

	for (unsigned i = 0; i < d->operand_count; i++) {
		const ZydisDecodedOperand *o = &operands[i];
		bool is_hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    (is_hidden && !t->era.has_hidden))
			continue;
		if (is_hidden && is_push(d) &&
		    ZydisRegisterGetLargestEnclosing(t->decoder.machine_mode, o->mem.base) ==
			    (t->is_64 ? ZYDIS_REGISTER_RSP : ZYDIS_REGISTER_ESP))
			add_mem(t, s, r->rsp - w, read_word(t, r->rsp, w));
		else
			add_operand(t, s, operand_addr(t, r, o, r->rip + d->length), o->size / 8);
	}
	if (!t->era.has_hidden)
		add_stack_slot(t, s, d, r->rsp);
}

/* ---------------------------------------------------------------------------------------- stepping */

static void take_stop(struct tracee *t, pid_t tid)
{
	struct xl_run *run = t->run;
	struct xl_truth *x = &run->stops[run->n_stops];
	struct iovec state = { x->state, sizeof(x->state) };
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct xw_stop s = { .tid = (uint32_t)tid };
	ZydisDecodedInstruction d;

	*x = (struct xl_truth){ .tid = (uint32_t)tid };
	state.iov_base = x->state;
	must(ptrace(PTRACE_GETREGS, tid, NULL, &x->regs) == 0);
	must(ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &state) == 0);
	derive(x);
	for (unsigned i = 0; i < run->w.pending.n_mem; i++)
		run->w.pending.mem[i].now = read_word(t, run->w.pending.mem[i].addr, t->is_64 ? 8 : 4);
	if (run->n_stops % XL_SAMPLE_STEPS == 0)
		sample_memory(t, (uint32_t)(run->n_stops / XL_SAMPLE_STEPS));
	fill_record(t, &s, x);
	read_mem(t, x->regs.rip, s.opcode, 15);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&t->decoder, s.opcode, 15, &d, operands))) {
		s.n_opcode = d.length;
		note_memory(t, &s, &x->regs, &d, operands);
		run->n_syscalls += d.meta.category == ZYDIS_CATEGORY_SYSCALL ||
				   d.meta.category == ZYDIS_CATEGORY_INTERRUPT;
	} else {
		s.n_opcode = 1;
	}
	xw_stop(&run->w, &s);
	run->n_stops++;
}

static void drop_thread(struct tracee *t, unsigned i)
{
	t->threads[i] = t->threads[--t->n_threads];
}

/* One instruction of a thread; false if it is gone. */
static bool step(struct tracee *t, unsigned i)
{
	pid_t tid = t->threads[i];
	unsigned long child;
	int status;

	for (;;) {
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) || waitpid(tid, &status, __WALL) != tid ||
		    !WIFSTOPPED(status)) {
			drop_thread(t, i);
			return false;
		}
		if (status >> 8 == SIGTRAP)
			return true;
		must(status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8)); /* no program faults */
		must(ptrace(PTRACE_GETEVENTMSG, tid, NULL, &child) == 0);
		must(waitpid((pid_t)child, &status, __WALL) == (pid_t)child);
		must(t->n_threads < MAX_THREADS);
		t->threads[t->n_threads++] = (pid_t)child;
	}
}

static uint32_t next_random(struct tracee *t)
{
	t->random = t->random * 1664525u + 1013904223u;
	return t->random >> 8;
}

static void step_all(struct tracee *t, size_t max_stops)
{
	unsigned i = 0, left = 40;

	while (t->n_threads && t->run->n_stops < max_stops) {
		take_stop(t, t->threads[i]);
		if (!step(t, i) && !t->n_threads)
			return;
		if (left-- == 0 || i >= t->n_threads) {
			i = next_random(t) % t->n_threads;
			left = next_random(t) % 4 ? next_random(t) % 30 : 0;
		}
	}
}

static void child(const char *program, void (*work)(void))
{
	char *const nothing[] = { NULL };
	int null = open("/dev/null", O_WRONLY);

	personality(ADDR_NO_RANDOMIZE);
	dup2(null, 1);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(99);
	if (program) {
		execve(program, nothing, nothing);
		_exit(98);
	}
	raise(SIGSTOP);
	work();
	_exit(0);
}

bool xl_run(struct xl_run *run, const char *program, void (*work)(void), bool is_64, struct xw_era era,
	    size_t max_stops)
{
	static struct tracee t;
	char name[64];
	int status;

	*run = (struct xl_run){ .stops = calloc(max_stops + 1, sizeof(*run->stops)) };
	must(run->stops != NULL);
	t = (struct tracee){ .run = run, .is_64 = is_64, .era = era, .n_threads = 1 };
	xw_start(&run->w, is_64, era);
	ZydisDecoderInit(&t.decoder, is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			 is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	t.pid = t.threads[0] = fork();
	must(t.pid >= 0);
	if (!t.pid)
		child(program, work);
	if (waitpid(t.pid, &status, 0) != t.pid || !WIFSTOPPED(status)) {
		fprintf(stderr, "the program did not start: wait status 0x%x\n", (unsigned)status);
		xl_fini(run);
		return false;
	}
	ptrace(PTRACE_SETOPTIONS, t.pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	snprintf(name, sizeof(name), "/proc/%d/mem", t.pid);
	t.mem = open(name, O_RDONLY);
	must(t.mem >= 0);
	step_all(&t, max_stops);
	close(t.mem);
	kill(t.pid, SIGKILL);
	while (waitpid(-1, &status, __WALL) > 0)
		;
	qsort(run->pages, run->n_pages, sizeof(*run->pages), by_place);
	return true;
}

void xl_fini(struct xl_run *run)
{
	free(run->stops);
	free(run->pages);
	ts_buf_fini(&run->w.file);
	*run = (struct xl_run){ 0 };
}
