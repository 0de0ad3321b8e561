/* SPDX-License-Identifier: MIT */
/*
 * What instructions of x86-64 read and write, asked of the processor itself.
 *
 * An instruction runs with random registers and memory, and again with one byte (or flag) of them changed.
 * What changes in the result was made of that byte, so a transfer has to name it; a byte that no transfer
 * writes has to stay; a copied byte and a zero have to be in the result.  The contrary, a transfer that names
 * too much, is right by the contract (whole operands) but for moves, scalars and lanes, where it is counted.
 */
#include "unit.h"

#include "src/arch/operands/operands.h"
#include "src/base/error.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { N_GPRS = 4, N_YMMS = 4, MEM = 64, TRIES = 12 };

/* The registers rax, rcx, rdx, rbx; rsi leads to `mem`. */
struct live {
	uint8_t ymm[N_YMMS][32];
	uint64_t gpr[N_GPRS];
	uint64_t flags, unused[3];
	uint8_t mem[MEM]; /* at 192 */
} __attribute__((aligned(32)));

enum {
	YMM = 0,
	GPR = N_YMMS * 32,
	FLAG = GPR + N_GPRS * 8,
	FIRST_MEM = FLAG + 12,
	N_CELLS = FIRST_MEM + MEM
};

static const uint32_t status = 0x8d5;

#ifdef __x86_64__
void live_run(struct live *l, const void *code);

__asm__(".text\n"
	".globl live_run\n"
	"live_run:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r14\n	push %r15\n"
	"	mov %rdi, %r15\n	mov %rsi, %r14\n"
	"	vmovdqu 0(%r15), %ymm0\n	vmovdqu 32(%r15), %ymm1\n"
	"	vmovdqu 64(%r15), %ymm2\n	vmovdqu 96(%r15), %ymm3\n"
	"	mov 128(%r15), %rax\n	mov 136(%r15), %rcx\n	mov 144(%r15), %rdx\n	mov 152(%r15), %rbx\n"
	"	lea 192(%r15), %rsi\n"
	"	push 160(%r15)\n	popfq\n"
	"	call *%r14\n"
	"	pushfq\n	pop 160(%r15)\n	cld\n"
	"	vmovdqu %ymm0, 0(%r15)\n	vmovdqu %ymm1, 32(%r15)\n"
	"	vmovdqu %ymm2, 64(%r15)\n	vmovdqu %ymm3, 96(%r15)\n"
	"	mov %rax, 128(%r15)\n	mov %rcx, 136(%r15)\n	mov %rdx, 144(%r15)\n	mov %rbx, 152(%r15)\n"
	"	vzeroupper\n"
	"	pop %r15\n	pop %r14\n	pop %r12\n	pop %rbp\n	pop %rbx\n"
	"	ret\n");
#else
static void live_run(struct live *l, const void *code)
{
	(void)l;
	(void)code;
}
#endif

static struct ts_regset set;
static struct ts_decoder *decoder;
static struct ts_operands ops;
static uint8_t *code;
static int offs[FIRST_MEM]; /* in the layout, of each cell but flags and memory */
static uint16_t flags_off, rsi_off;

static uint16_t off_of(const char *name)
{
	int i = ts_regset_find(&set, name);

	ck_assert_int_ge(i, 0);
	return (uint16_t)set.regs[i].off;
}

static void find_cells(void)
{
	static const char *const gprs[N_GPRS] = { "rax", "rcx", "rdx", "rbx" };
	char low[8], high[8];

	for (unsigned i = 0; i < N_YMMS; i++) {
		snprintf(low, sizeof(low), "xmm%u", i);
		snprintf(high, sizeof(high), "ymm%uh", i);
		for (unsigned b = 0; b < 32; b++)
			offs[YMM + 32 * i + b] = b < 16 ? off_of(low) + (int)b : off_of(high) + (int)b - 16;
	}
	for (unsigned i = 0; i < 8 * N_GPRS; i++)
		offs[GPR + i] = off_of(gprs[i / 8]) + (int)(i % 8);
	flags_off = off_of("eflags");
	rsi_off = off_of("rsi");
}

static void setup(void)
{
	const struct ts_arch *arch = ts_arch_find("x86_64");
	struct ts_error err = { 0 };
	uint32_t features = 1u << ts_arch_feature(arch, "org.gnu.gdb.i386.sse") |
			    1u << ts_arch_feature(arch, "org.gnu.gdb.i386.avx") |
			    1u << ts_arch_feature(arch, "org.gnu.gdb.i386.segments");

	ck_assert(ts_regset_init(&set, arch, features, &err));
	decoder = ts_decoder_new(&set, &err);
	ck_assert_ptr_nonnull(decoder);
	find_cells();
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(code != MAP_FAILED);
}

static void teardown(void)
{
	munmap(code, 4096);
	ts_decoder_free(decoder);
	ts_regset_fini(&set);
}

/* -------------------------------------------------------------------------------------- cells */

static uint8_t *byte_of(struct live *l, unsigned cell)
{
	return cell < GPR    ? &l->ymm[cell / 32][cell % 32]
	       : cell < FLAG ? (uint8_t *)l->gpr + (cell - GPR)
			     : &l->mem[cell - FIRST_MEM];
}

static bool is_flag(unsigned cell)
{
	return cell >= FLAG && cell < FIRST_MEM;
}

static bool is_asked(unsigned cell)
{
	return !is_flag(cell) || status >> (cell - FLAG) & 1;
}

static uint8_t value_of(struct live *l, unsigned cell)
{
	return is_flag(cell) ? l->flags >> (cell - FLAG) & 1 : *byte_of(l, cell);
}

static void change(struct live *l, unsigned cell, unsigned by)
{
	if (is_flag(cell))
		l->flags ^= UINT64_C(1) << (cell - FLAG);
	else
		*byte_of(l, cell) ^= (uint8_t)by;
}

/* The cell of byte @off of the layout; N_CELLS if it has none. */
static unsigned cell_at(unsigned off)
{
	for (unsigned i = 0; i < FLAG; i++)
		if (offs[i] == (int)off)
			return i;
	return N_CELLS;
}

static const char *name_of(unsigned cell)
{
	static char text[4][24];
	static unsigned at;
	char *to = text[at++ % 4];

	if (cell < GPR)
		snprintf(to, 24, "ymm%u.%u", cell / 32, cell % 32);
	else if (cell < FLAG)
		snprintf(to, 24, "gpr%u.%u", (cell - GPR) / 8, (cell - GPR) % 8);
	else if (is_flag(cell))
		snprintf(to, 24, "flag%u", cell - FLAG);
	else
		snprintf(to, 24, "mem.%u", cell - FIRST_MEM);
	return to;
}

/* ------------------------------------------------------------------------------------- claims */

struct claim {
	bool from[N_CELLS];
	bool is_written, is_open; /* open: made of something that has no place, too */
	int copy;                 /* the only cell that it is a copy of; -1: none */
	unsigned n;               /* transfers */
	bool is_zero;
};

static struct claim claims[N_CELLS];

static struct ts_op_state state_of(struct live *l, uint8_t *g, uint8_t *known)
{
	uint64_t mem = (uint64_t)(uintptr_t)l->mem;

	for (unsigned i = 0; i < FLAG; i++)
		g[offs[i]] = *byte_of(l, i);
	memcpy(g + rsi_off, &mem, 8);
	memcpy(g + flags_off, &l->flags, 4);
	memset(known, 255, 4096);
	return (struct ts_op_state){
		.arch = ts_arch_find("x86_64"), .g = g, .known = known, .flags_off = flags_off
	};
}

/* The cell of byte @i of a place; N_CELLS: none. */
static unsigned cell_of(const struct ts_op_place *p, unsigned i, const struct ts_op_state *s, struct live *l)
{
	uint64_t at;

	if (p->kind == TS_AT_REG)
		return cell_at(p->off + i);
	if (p->kind != TS_AT_MEM || !ts_operands_addr(&ops, p->mem, s, &at))
		return N_CELLS;
	at += p->off + i - (uint64_t)(uintptr_t)l->mem;
	return at < MEM ? FIRST_MEM + (unsigned)at : N_CELLS;
}

static void claim_cell(struct claim *c, unsigned cell)
{
	if (cell < N_CELLS)
		c->from[cell] = true;
	else
		c->is_open = true;
}

/* A byte of a table, which the next selector tells; of nothing if it is none of this part. */
static void claim_selected(struct claim *c, const struct ts_transfer *t, unsigned i, const struct ts_op_state *s, struct live *l)
{
	const struct ts_transfer *selector = t;
	unsigned at, cell;

	while (selector->way != TS_WAY_SELECTOR)
		selector++;
	cell = cell_of(&selector->from, i / t->unit * t->unit, s, l);
	ck_assert_uint_lt(cell, N_CELLS);
	at = ts_operands_selected(t, i, value_of(l, cell));
	c->n--;
	if (at == t->from.len)
		return;
	c->n++;
	c->copy = (int)cell_of(&t->from, at, s, l);
	claim_cell(c, (unsigned)c->copy);
}

/* Byte @i of a transfer's destination is @c. */
static void claim(struct claim *c, const struct ts_transfer *t, unsigned i, const struct ts_op_state *s,
		  struct live *l)
{
	unsigned first = 0, n = t->from.len;

	c->is_written = true;
	if (t->way == TS_WAY_SELECTOR) {
		c->is_zero = !c->n;
		claim_cell(c, cell_of(&t->from, i / t->unit * t->unit, s, l));
		return;
	}
	c->n++;
	if (t->way == TS_WAY_SELECT) {
		claim_selected(c, t, i, s, l);
		return;
	}
	c->copy = -1;
	c->is_zero = t->way == TS_WAY_ZERO && c->n == 1;
	if (t->way == TS_WAY_PROCESSOR || t->way == TS_WAY_SYSTEM || t->way == TS_WAY_SYSCALL ||
	    t->way == TS_WAY_UNKNOWN)
		c->is_open = true;
	if (t->from.kind == TS_AT_FLAGS)
		for (unsigned bit = 0; bit < 12; bit++)
			if (t->from.flags >> bit & 1)
				c->from[FLAG + bit] = true;
	if (t->from.kind != TS_AT_REG && t->from.kind != TS_AT_MEM)
		return;
	if (t->way == TS_WAY_COPY || t->way == TS_WAY_REVERSE) {
		first = t->way == TS_WAY_COPY ? i : n - 1 - i;
		n = 1;
		c->copy = c->n == 1 ? (int)cell_of(&t->from, first, s, l) : -1;
	} else if (t->way == TS_WAY_LANES) {
		first = i / t->unit * t->unit;
		n = t->unit;
	}
	for (unsigned k = first; k < first + n; k++)
		claim_cell(c, cell_of(&t->from, k, s, l));
}

static enum ts_op_happens make_claims(struct live *l)
{
	static uint8_t g[4096], known[4096];
	struct ts_op_state s = state_of(l, g, known);
	enum ts_op_happens happens = ts_operands_happen(&ops, &s);

	memset(claims, 0, sizeof(claims));
	for (unsigned i = 0; i < N_CELLS; i++)
		claims[i].copy = -1;
	for (unsigned k = 0; k < ops.n; k++) {
		const struct ts_transfer *t = &ops.transfers[k];

		if (t->is_conditional && happens == TS_HAPPENS_NOT)
			continue;
		for (unsigned bit = 0; t->to.kind == TS_AT_FLAGS && bit < 12; bit++)
			if (t->to.flags >> bit & 1)
				claim(&claims[FLAG + bit], t, 0, &s, l);
		for (unsigned i = 0; t->to.kind != TS_AT_FLAGS && i < t->to.len; i++) {
			unsigned cell = cell_of(&t->to, i, &s, l);

			if (cell < N_CELLS)
				claim(&claims[cell], t, i, &s, l);
		}
	}
	return happens;
}

/* ------------------------------------------------------------------------------------- checks */

static uint64_t seed = 27;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Numbers of all sizes, doubles and floats near each other, small counts. */
static void fill(struct live *l, unsigned t)
{
	for (unsigned i = 0; i < GPR; i++)
		*byte_of(l, i) = (uint8_t)any();
	for (unsigned i = 0; i < N_GPRS; i++)
		l->gpr[i] = any() >> (t % 2 ? 48 + any() % 16 : 0);
	for (unsigned i = 0; i < MEM; i++)
		l->mem[i] = (uint8_t)any();
	for (unsigned i = 0; t % 3 == 1 && i < N_YMMS * 4 + MEM / 8; i++) {
		double d = (double)(int64_t)any() / 9e15;

		memcpy((uint8_t *)(i < N_YMMS * 4 ? &l->ymm[0][0] + 8 * i : l->mem + 8 * (i - N_YMMS * 4)),
		       &d, 8);
	}
	for (unsigned i = 0; t % 3 == 2 && i < N_YMMS * 8 + MEM / 4; i++) {
		float f = (float)(int32_t)any() / 1e6f;

		memcpy((uint8_t *)(i < N_YMMS * 8 ? &l->ymm[0][0] + 4 * i : l->mem + 4 * (i - N_YMMS * 8)),
		       &f, 4);
	}
	if (t % 4 == 3)
		l->gpr[t % N_GPRS] = l->gpr[1] = 0;
	l->flags = 2 | (any() & status);
}

static char found[400];
static unsigned n_found;

static void report(const char *line, const char *what, unsigned to, unsigned from)
{
	n_found++;
	if (n_found < 200)
		printf("# %s: %s %s %s\n", line, name_of(to), what, from < N_CELLS ? name_of(from) : "");
	if (!*found)
		snprintf(found, sizeof(found), "%s: %s %s %s", line, name_of(to), what,
			 from < N_CELLS ? name_of(from) : "");
}

/* Each line says at most one thing of each kind. */
static bool check_result(const char *line, struct live *before, struct live *after)
{
	for (unsigned i = 0; i < N_CELLS; i++) {
		const struct claim *c = &claims[i];

		if (!is_asked(i))
			continue;
		if (!c->is_written && value_of(before, i) != value_of(after, i)) {
			report(line, "is written, and no transfer says so", i, N_CELLS);
			return false;
		}
		if (c->n == 1 && c->copy >= 0 && c->copy < N_CELLS &&
		    value_of(before, (unsigned)c->copy) != value_of(after, i)) {
			report(line, "is no copy of", i, (unsigned)c->copy);
			return false;
		}
		if (c->is_zero && !is_flag(i) && value_of(after, i)) {
			report(line, "is not zero", i, N_CELLS);
			return false;
		}
	}
	return true;
}

/* Flags that the manual leaves undefined may as well stay. */
static bool leaves_undefined(const char *line)
{
	static const char *const names[] = { "mul", "imul", "bt", "bs",    "tzcnt", "lzcnt", "sh",
					     "sar", "ro",   "rc", "bextr", "bzhi",  "bls" };
	const char *name = strchr(line, ';') + 2;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool check_source(const char *line, unsigned from, struct live *a, struct live *b)
{
	for (unsigned i = 0; i < N_CELLS; i++) {
		const struct claim *c = &claims[i];

		if (!is_asked(i) || value_of(a, i) == value_of(b, i) || c->is_open || c->from[from] ||
		    (!c->is_written && i == from) || (i == from && is_flag(i) && leaves_undefined(line)))
			continue;
		report(line, "is made of", i, from);
		return false;
	}
	return true;
}

/* Of the cells that are named as sources: did changing them change anything that was named to be made of
 * them? */
static bool is_named[N_CELLS], matters[N_CELLS];

static void note_use(unsigned from, struct live *a, struct live *b)
{
	for (unsigned i = 0; i < N_CELLS; i++) {
		if (!is_asked(i) || !claims[i].from[from] || is_flag(i))
			continue;
		is_named[from] = true;
		matters[from] |= value_of(a, i) != value_of(b, i);
	}
}

/* Runs once more with one cell changed, for each cell. */
static bool check_sources(const char *line, struct live *before, struct live *after,
			  enum ts_op_happens happens)
{
	for (unsigned i = 0; i < N_CELLS; i++) {
		static struct live other;
		static uint8_t g[4096], known[4096];
		struct ts_op_state s;

		if (!is_asked(i))
			continue;
		other = *before;
		change(&other, i, (unsigned)(1 + any() % 255));
		s = state_of(&other, g, known);
		if (ts_operands_happen(&ops, &s) != happens)
			continue;
		live_run(&other, code);
		note_use(i, after, &other);
		if (!check_source(line, i, after, &other))
			return false;
	}
	return true;
}

static bool take_line(const char *line)
{
	size_t n = 0;
	unsigned b;

	for (const char *p = line; *p != ';' && sscanf(p, "%2x", &b) == 1 && n < 15; p += p[2] == ' ' ? 3 : 2)
		code[n++] = (uint8_t)b;
	code[n] = 0xc3;
	return ts_decoder_decode(decoder, ts_decoder_mode(decoder), 0x1000, code, n, &ops) && ops.len == n;
}

/* Moves, scalars, shuffles and lea: nothing is named that never matters. */
static bool is_exact(const char *line)
{
	static const char *const names[] = { "mov",      "shuf",    "unpck", "punpck", "pshuf",  "palignr",
					     "blendp",   "pblend",  "addss", "addsd",  "subs",   "mulss",
					     "mulsd",    "divs",    "sqrts", "broad",  "pbroad", "insertf", "inserti",
					     "insertps", "extract", "pextr", "pinsr",  "perm",   "lea",
					     "cvtss2sd", "cvtsi2s", "xadd",  "bswap",  "phadd" };
	const char *name = strchr(line, ';') + 2;

	name += *name == 'v';
	if (strstr(name, "movmsk") || strstr(name, "blendvb"))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static void check_width(const char *line)
{
	for (unsigned i = 0; is_exact(line) && i < N_CELLS; i++) {
		if (is_named[i] && !matters[i]) {
			report(line, "is named in vain", i, N_CELLS);
			return;
		}
	}
}

static sigjmp_buf unknown;

static void leave(int number)
{
	siglongjmp(unknown, number);
}

/* Returns false if this processor does not know the instruction. */
static bool knows(void)
{
	static struct live l;

	if (sigsetjmp(unknown, 1))
		return false;
	fill(&l, 0);
	live_run(&l, code);
	return true;
}

static unsigned n_run;

static void check_line(const char *line)
{
	if (!take_line(line)) {
		report(line, "not decoded", 0, N_CELLS);
		return;
	}
	if (!knows())
		return;
	n_run++;
	memset(is_named, 0, sizeof(is_named));
	memset(matters, 0, sizeof(matters));
	for (unsigned t = 0; t < TRIES; t++) {
		static struct live before, after;
		enum ts_op_happens happens;

		fill(&before, t);
		happens = make_claims(&before);
		after = before;
		live_run(&after, code);
		if (!check_result(line, &before, &after) || !check_sources(line, &before, &after, happens))
			return;
	}
	check_width(line);
}

static bool has_processor(void)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
	       __builtin_cpu_supports("aes");
#else
	return false;
#endif
}

START_TEST(every_source_of_a_byte_is_named)
{
	size_t len;
	uint8_t *data;
	char *lines, *rest;

	if (!has_processor())
		return;
	data = unit_data("operands/x86_64.txt", &len);
	rest = lines = strndup((const char *)data, len);
	signal(SIGILL, leave);
	for (char *line; (line = strsep(&rest, "\n"));) {
		if (!*line || *line == '#')
			continue;
		check_line(line);
	}
	signal(SIGILL, SIG_DFL);
	free(lines);
	free(data);
	ck_assert_uint_ge(n_run, 500);
	ck_assert_msg(!n_found, "%u of %u instructions, first: %s", n_found, n_run, found);
}
END_TEST

UNIT_FIXTURE_SUITE("operands_live", setup, teardown, every_source_of_a_byte_is_named)
