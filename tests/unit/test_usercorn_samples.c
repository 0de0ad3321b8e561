/* SPDX-License-Identifier: MIT */
/*
 * Recordings by the real tool against what the emulator itself said: pc and every register at every position,
 * memory at the start and at the end; and readers resumed at every step against one that read on.  The state
 * is replayed here in the plainest way.
 */
#include "unit.h"

#include "ucir_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_LEN 4096u
#define N_BUCKETS 4096u

static const char *const samples[] = { "x64_walk", "x64_nosys", "x64_fpu",    "x64_crash", "x64_lib",
				       "x86_walk", "arm_walk",  "arm64_walk", "mips_walk" };
#define N_SAMPLES ((int)(sizeof(samples) / sizeof(samples[0])))

static struct ucir_trace t;

static void setup(void)
{
	t = (struct ucir_trace){ 0 };
}

static void teardown(void)
{
	ucir_close(&t);
}

static const char *data_name(const char *sample, const char *end)
{
	static char name[128];

	snprintf(name, sizeof(name), "usercorn/%s.%s", sample, end);
	return name;
}

static void open_sample(const char *sample, bool with_exec)
{
	char exec[4096];
	size_t len;
	uint8_t *bytes = unit_data(data_name(sample, "ucir"), &len);
	bool is_nosys = strcmp(sample, "x64_nosys") == 0;

	ts_buf_put(&t.bytes, bytes, len);
	free(bytes);
	snprintf(exec, sizeof(exec), "%s", unit_data_path(data_name(is_nosys ? "x64_walk" : sample, "elf")));
	ck_assert_msg(ucir_open(&t, with_exec ? exec : NULL), "%s: %s", sample, t.err.text);
}

static FILE *open_gz(const char *sample, const char *end)
{
	char command[4400];
	FILE *pipe;

	snprintf(command, sizeof(command), "gzip -dc '%s'", unit_data_path(data_name(sample, end)));
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	return pipe;
}

/* As ck_assert, for millions of them: libcheck's own tells the parent process about each. */
#define CHECK(condition)                                \
	do {                                            \
		if (!(condition))                       \
			ck_abort_msg("%s", #condition); \
	} while (0)

/* --------------------------------------------------------------------------------------------- plain replay */

struct page {
	struct page *next;
	uint64_t addr;
	bool is_known[PAGE_LEN];
	bool is_excused[PAGE_LEN]; /* the trace need not know this byte */
	uint8_t data[PAGE_LEN];
};

/* A region as it was mapped (with zeros) or unmapped; the last one over an address counts. */
struct span {
	uint64_t addr, len;
	bool is_mapped;
};

static struct page *pages[N_BUCKETS]; /* those with more than what their span says */
static struct span spans[256];
static unsigned n_spans;
static unsigned n_unknown; /* bytes of regions */
static uint8_t regs[4096];
static bool is_reg_known[4096];

static void forget_all(void)
{
	for (size_t i = 0; i < N_BUCKETS; i++)
		while (pages[i]) {
			struct page *p = pages[i];

			pages[i] = p->next;
			free(p);
		}
	n_spans = 0;
	memset(is_reg_known, 0, sizeof(is_reg_known));
}

static bool is_mapped(uint64_t addr)
{
	for (unsigned i = n_spans; i-- > 0;)
		if (addr >= spans[i].addr && addr - spans[i].addr < spans[i].len)
			return spans[i].is_mapped;
	return false;
}

static struct page *find_page(uint64_t addr)
{
	struct page *p = pages[addr / PAGE_LEN % N_BUCKETS];

	while (p && p->addr != addr / PAGE_LEN * PAGE_LEN)
		p = p->next;
	return p;
}

static struct page *page_of(uint64_t addr)
{
	struct page **bucket = &pages[addr / PAGE_LEN % N_BUCKETS], *p = find_page(addr);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	CHECK(p);
	p->addr = addr / PAGE_LEN * PAGE_LEN;
	memset(p->is_known, is_mapped(addr), PAGE_LEN);
	p->next = *bucket;
	*bucket = p;
	return p;
}

static uint8_t byte_at(uint64_t addr)
{
	const struct page *p = find_page(addr);

	return p ? p->data[addr % PAGE_LEN] : 0;
}

static void set_byte(uint64_t addr, uint8_t value)
{
	struct page *p = page_of(addr);

	p->data[addr % PAGE_LEN] = value;
	p->is_known[addr % PAGE_LEN] = true;
	p->is_excused[addr % PAGE_LEN] = false;
}

static void map(uint64_t addr, uint64_t len, bool mapped)
{
	ck_assert_uint_eq(addr % PAGE_LEN, 0);
	ck_assert_uint_eq(len % PAGE_LEN, 0);
	ck_assert_uint_lt(n_spans, sizeof(spans) / sizeof(spans[0]));
	spans[n_spans++] = (struct span){ addr, len, mapped };
	for (uint64_t i = 0; i < len; i += PAGE_LEN) {
		struct page *p = find_page(addr + i);

		if (!p)
			continue;
		memset(p->data, 0, PAGE_LEN);
		memset(p->is_known, mapped, PAGE_LEN);
		memset(p->is_excused, 0, PAGE_LEN);
	}
}

static void apply(const struct ts_steps *b, const struct ts_effect *e)
{
	const uint8_t *data = ts_effect_data(b, e);

	switch (e->kind) {
	case TS_FX_REG_WRITE:
		memcpy(regs + e->addr, data, e->len);
		memset(is_reg_known + e->addr, 1, e->len);
		break;
	case TS_FX_WRITE:
		for (uint64_t i = 0; i < e->len; i++)
			if (data)
				set_byte(e->addr + i, data[i]);
			else
				page_of(e->addr + i)->is_known[(e->addr + i) % PAGE_LEN] = false;
		break;
	case TS_FX_MAP:
		CHECK(b->maps[e->item].fill == TS_FILL_ZERO);
		map(e->addr, e->len, true);
		break;
	case TS_FX_UNMAP:
		map(e->addr, e->len, false);
		break;
	default:
		break;
	}
}

static uint64_t reg_value(const char *name)
{
	const struct ts_reg *r = &t.rec->regs.regs[ts_regset_find(&t.rec->regs, name)];

	return ts_arch_get(t.rec->regs.arch, regs + r->off, r->len);
}

/*
 * The recorder does not see x87 stores of 80 bits, at most their lower 8 bytes: the others are unknown.  The
 * instruction is "db /7" with an operand (rsp), (rbp) or (rdi) and a distance in these programs.
 */
static void excuse_x87(const struct ts_step *s)
{
	static const char *const bases[8] = { [4] = "rsp", [5] = "rbp", [7] = "rdi" };
	uint8_t modrm = byte_at(s->pc + 1), mod = modrm >> 6, rm = modrm & 7;
	uint64_t at = s->pc + (rm == 4 ? 3 : 2), addr;

	if (strcmp(t.rec->regs.arch->name, "x86_64") != 0 || byte_at(s->pc) != 0xdb ||
	    (modrm >> 3 & 7) != 7 || mod == 3)
		return;
	CHECK(bases[rm] &&
	      (rm != 4 || byte_at(s->pc + 2) == 0x24)); /* no operand that this test does not know */
	addr = reg_value(bases[rm]);
	if (mod == 1)
		addr += (uint64_t)(int8_t)byte_at(at);
	for (int i = 0; mod == 2 && i < 4; i++)
		addr += (uint64_t)byte_at(at + (unsigned)i) << 8 * i;
	for (uint64_t i = 0; i < 10; i++)
		page_of(addr + i)->is_excused[(addr + i) % PAGE_LEN] = true;
}

static void begin(void)
{
	for (uint32_t i = 0; i < t.rec->initial.n_effects; i++)
		apply(&t.rec->initial, &t.rec->initial.effects[i]);
}

/* ------------------------------------------------------------------------------------------ the truth */

/* gdb's name for a register of the oracle. */
static const char *gdb_name(const char *name)
{
	static const char *const mips[] = { "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3",
					    "t0",   "t1", "t2", "t3", "t4", "t5", "t6", "t7",
					    "s0",   "s1", "s2", "s3", "s4", "s5", "s6", "s7",
					    "t8",   "t9", "k0", "k1", "gp", "sp", "s8", "ra" };
	static char text[8];

	if (strcmp(t.rec->regs.arch->name, "aarch64") == 0 && strcmp(name, "fp") == 0)
		return "x29";
	if (strcmp(t.rec->regs.arch->name, "aarch64") == 0 && strcmp(name, "lr") == 0)
		return "x30";
	for (unsigned i = 0; i < 32 && strcmp(t.rec->regs.arch->name, "mipsel") == 0; i++)
		if (strcmp(name, mips[i]) == 0) {
			snprintf(text, sizeof(text), "r%u", i);
			return text;
		}
	return name;
}

/* Registers that the recorder did not write down. */
static bool is_extra(const char *name)
{
	const char *arch = t.rec->regs.arch->name;

	return (strcmp(arch, "x86_64") == 0 && strcmp(name, "eflags") == 0) ||
	       (strcmp(arch, "arm") == 0 && strcmp(name, "cpsr") == 0);
}

static struct {
	int reg; /* index in the set */
	uint64_t value;
} truth[64];
static unsigned n_truth;

static void learn(const char *name, uint64_t value)
{
	int reg = ts_regset_find(&t.rec->regs, gdb_name(name));
	unsigned i = 0;

	if (is_extra(name))
		return;
	if (reg < 0)
		ck_abort_msg("no register %s", name);
	while (i < n_truth && truth[i].reg != reg)
		i++;
	CHECK(i < 64);
	truth[i].reg = reg;
	truth[i].value = value;
	n_truth = i == n_truth ? n_truth + 1 : n_truth;
}

static void check_regs(const char *sample, uint64_t pos)
{
	for (unsigned i = 0; i < n_truth; i++) {
		const struct ts_reg *r = &t.rec->regs.regs[truth[i].reg];

		if (memchr(is_reg_known + r->off, 0, r->len))
			ck_abort_msg("%s, position %" PRIu64 ": %s is unknown", sample, pos, r->name);
		if (ts_arch_get(t.rec->regs.arch, regs + r->off, r->len) != truth[i].value)
			ck_abort_msg("%s, position %" PRIu64 ": %s is %" PRIx64 ", not %" PRIx64, sample, pos,
				     r->name, ts_arch_get(t.rec->regs.arch, regs + r->off, r->len),
				     truth[i].value);
	}
}

/* Parse "t pc name=hex ..." or "END pc ...": *pc gets the pc, the registers are learnt. */
static void parse_position(char *line, uint64_t pos, bool *is_end, uint64_t *pc)
{
	char *save, *word = strtok_r(line, " \n", &save);

	*is_end = strcmp(word, "END") == 0;
	CHECK(*is_end || strtoull(word, NULL, 10) == pos);
	*pc = strtoull(strtok_r(NULL, " \n", &save), NULL, 16);
	while ((word = strtok_r(NULL, " \n", &save))) {
		char *eq = strchr(word, '=');

		*eq = '\0';
		learn(word, strtoull(eq + 1, NULL, 16));
	}
}

static int hex_digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Check a page of a region whose bytes from @low on are the @n of the text @bytes, and zero elsewhere. */
static void check_page(const char *sample, unsigned when, uint64_t addr, uint64_t low, uint64_t n,
		       const char *bytes)
{
	const struct page *p = find_page(addr);

	if (!is_mapped(addr))
		ck_abort_msg("%s, %s: page %" PRIx64 " is not mapped", sample, when ? "end" : "start", addr);
	if (!p && (addr + PAGE_LEN <= low || addr >= low + n))
		return;
	for (uint64_t i = 0; i < PAGE_LEN; i++) {
		uint64_t at = addr + i - low;
		int want = at < n ? hex_digit(bytes[2 * at]) << 4 | hex_digit(bytes[2 * at + 1]) : 0;

		if (p && !p->is_known[i]) {
			n_unknown++;
			if (!p->is_excused[i])
				ck_abort_msg("%s, %s: byte at %" PRIx64 " is unknown", sample,
					     when ? "end" : "start", addr + i);
		} else if (byte_at(addr + i) != want)
			ck_abort_msg("%s, %s: byte at %" PRIx64 " is %02x, not %02x", sample,
				     when ? "end" : "start", addr + i, byte_at(addr + i), (unsigned)want);
	}
}

/* Check the region that a line of the truth about memory describes. */
static void check_region(const char *sample, char *line, unsigned when)
{
	char *save, *word = strtok_r(line, " \n", &save), *bytes;
	uint64_t start, len, low, n;

	if (strtoul(word, NULL, 10) != when)
		return;
	start = strtoull(strtok_r(NULL, " ", &save), NULL, 16);
	len = strtoull(strtok_r(NULL, " ", &save), NULL, 16);
	strtok_r(NULL, " ", &save);
	strtok_r(NULL, " ", &save);
	low = strtoull(strtok_r(NULL, " ", &save), NULL, 16);
	bytes = strtok_r(NULL, " \n", &save);
	n = strcmp(bytes, "-") ? strlen(bytes) / 2 : 0;
	for (uint64_t i = 0; i < len; i += PAGE_LEN)
		check_page(sample, when, start + i, low, n, bytes);
}

static void check_memory(const char *sample, unsigned when)
{
	static char line[2 << 20];
	FILE *file = open_gz(sample, "mem.gz");
	unsigned n = 0;

	for (; fgets(line, sizeof(line), file); n++)
		check_region(sample, line, when);
	ck_assert_uint_gt(n, 0);
	ck_assert_int_eq(pclose(file), 0);
}

/* Walk through a sample beside the truth.  Returns the number of steps. */
static uint64_t walk(const char *sample)
{
	static char line[8192];
	FILE *file = open_gz(sample, "positions.gz");
	uint64_t pos = 0, pc;
	bool is_end = false;
	enum ts_next next = TS_ITEM;

	n_truth = 0;
	begin();
	check_memory(sample, 0);
	while (!is_end && fgets(line, sizeof(line), file)) {
		parse_position(line, pos, &is_end, &pc);
		check_regs(sample, pos);
		ts_steps_reset(&t.steps);
		next = t.reader->ops->next(t.reader, &t.steps, &t.err);
		if (next != (is_end ? TS_END : TS_ITEM))
			ck_abort_msg("%s, position %" PRIu64 ": %s", sample, pos, t.err.text);
		if (next != TS_ITEM)
			break;
		if (t.steps.steps[0].pc != pc)
			ck_abort_msg("%s, position %" PRIu64 ": pc %" PRIx64 ", not %" PRIx64, sample, pos,
				     t.steps.steps[0].pc, pc);
		excuse_x87(&t.steps.steps[0]);
		for (uint32_t i = 0; i < t.steps.n_effects; i++)
			apply(&t.steps, &t.steps.effects[i]);
		pos++;
	}
	ck_assert(is_end);
	ck_assert_int_eq(pclose(file), 0);
	ck_assert(t.reader->end.has_pc);
	ck_assert_uint_eq(t.reader->end.pc, pc);
	n_unknown = 0;
	check_memory(sample, 1);
	ck_assert_uint_le(n_unknown, strcmp(sample, "x64_lib") ? 0 : 6 * 10); /* x87 stores */
	forget_all();
	return pos;
}

START_TEST(every_position_of_a_recording_agrees_with_the_emulator)
{
	static const uint64_t n_steps[] = { 7480, 7480, 2055, 159, 211384, 7357, 3026, 3305, 3973 };

	open_sample(samples[_i], true);
	ck_assert_uint_eq(walk(samples[_i]), n_steps[_i]);
	ck_assert(t.reader->end.has_exit);
	ck_assert(t.reader->end.is_fault == (strcmp(samples[_i], "x64_crash") == 0));
	ck_assert_uint_eq(t.rec->n_warnings, 0);
	ck_assert_uint_eq(t.rec->n_threads, 1);
}
END_TEST

/*
 * Only x64_fpu has a region of which nothing but the program's file tells where its contents belong: floats
 * that no load shows.
 */
START_TEST(a_recording_alone_tells_where_its_contents_belong)
{
	open_sample(samples[_i], false);
	if (strcmp(samples[_i], "x64_fpu") == 0) {
		ck_assert_uint_eq(t.rec->n_warnings, 1);
		ck_assert_uint_eq(ucir_warned(t.rec, "0x403000 of exe are uncertain"), 1);
	} else {
		walk(samples[_i]);
		ck_assert_uint_eq(t.rec->n_warnings, 0);
	}
}
END_TEST

START_TEST(command_line_and_auxiliary_vector_come_from_the_stack)
{
	const struct ts_arch *arch;
	uint64_t word, entry = 0, last = 1;

	open_sample(samples[_i], false);
	arch = t.rec->regs.arch;
	word = arch->addr_bits / 8;
	ck_assert_str_eq(t.rec->exec_path, "./prog");
	ck_assert_uint_eq(t.rec->cmdline.len, 15);
	ck_assert_mem_eq(t.rec->cmdline.data, "./prog\0one\0two", 15);
	ck_assert_uint_gt(t.rec->auxv_len, 0);
	ck_assert_uint_eq(t.rec->auxv_len % (2 * word), 0);
	for (size_t i = 0; i < t.rec->auxv_len; i += 2 * word) {
		last = ts_arch_get(arch, t.rec->auxv + i, word);
		if (last == 9) /* AT_ENTRY */
			entry = ts_arch_get(arch, t.rec->auxv + i + word, word);
	}
	ck_assert_uint_eq(last, 0);
	ck_assert_int_eq(t.reader->ops->next(t.reader, &t.steps, &t.err), TS_ITEM);
	ck_assert_uint_eq(entry, t.steps.steps[0].pc);
}
END_TEST

START_TEST(system_calls_are_events_of_their_instruction)
{
	unsigned n = 0;

	open_sample("x64_walk", false);
	while (t.reader->ops->next(t.reader, &t.steps, &t.err) == TS_ITEM) {
		for (uint32_t i = 0; i < t.steps.n_events; i++)
			if (t.steps.events[i].kind == TS_EV_SYSCALL) {
				CHECK(t.steps.steps[0].pc ==
				      0x401038); /* the program's one syscall instruction */
				CHECK(t.steps.steps[0].insn_len == 2);
				n++;
			}
		ts_steps_reset(&t.steps);
	}
	ck_assert_uint_eq(n, 8); /* brk, brk, five writes, exit */
}
END_TEST

START_TEST(blocks_without_instructions_are_refused)
{
	size_t len;
	uint8_t *bytes = unit_data("usercorn/x64_blocks.ucir", &len);

	ts_buf_put(&t.bytes, bytes, len);
	free(bytes);
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_int_eq(t.err.code, TS_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(t.err.text, "basic blocks"));
}
END_TEST

/* -------------------------------------------------------------------------------------------- decode points */

/*
 * Every step of a small recording, every 499th of the large one: one step read from there is the one that
 * came there.
 */
START_TEST(a_reader_resumed_anywhere_gives_the_step_that_comes_there)
{
	struct ts_buf points, lines, line;
	size_t cap = 220000, n = 0, stride;
	size_t *point_at = malloc(cap * sizeof(*point_at)), *line_at = malloc(cap * sizeof(*line_at));
	enum ts_next next;

	ck_assert(point_at && line_at);
	ts_buf_init(&points);
	ts_buf_init(&lines);
	ts_buf_init(&line);
	open_sample(samples[_i], true);
	do {
		CHECK(n < cap - 1);
		point_at[n] = points.len;
		line_at[n++] = lines.len;
		ts_reader_save(t.reader, &points);
		ts_steps_reset(&t.steps);
		next = t.reader->ops->next(t.reader, &t.steps, &t.err);
		if (next == TS_ITEM)
			ucir_describe(&lines, t.rec, &t.steps, 0);
	} while (next == TS_ITEM);
	ck_assert_int_eq(next, TS_END);
	point_at[n] = points.len;
	stride = n < 10000 ? 1 : 499;
	ck_assert_uint_lt(points.len / n, 112); /* compact: few numbers, and x86's general registers */
	for (size_t i = (n - 1) / stride * stride;; i -= stride) {
		CHECK(ts_reader_resume(t.reader, points.data + point_at[i],
					    point_at[i + 1] - point_at[i], &t.err));
		ts_steps_reset(&t.steps);
		ts_buf_reset(&line);
		next = t.reader->ops->next(t.reader, &t.steps, &t.err);
		CHECK(next == (i == n - 1 ? TS_END : TS_ITEM));
		if (next == TS_ITEM) {
			ucir_describe(&line, t.rec, &t.steps, 0);
			CHECK(line.len == line_at[i + 1] - line_at[i]);
			CHECK(memcmp(line.data, lines.data + line_at[i], line.len) == 0);
		}
		if (i == 0)
			break;
	}
	ts_buf_fini(&points);
	ts_buf_fini(&lines);
	ts_buf_fini(&line);
	free(point_at);
	free(line_at);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("usercorn_samples");
	TCase *tcase = tcase_create("usercorn_samples");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, every_position_of_a_recording_agrees_with_the_emulator, 0, N_SAMPLES);
	tcase_add_loop_test(tcase, a_recording_alone_tells_where_its_contents_belong, 0, N_SAMPLES);
	tcase_add_loop_test(tcase, command_line_and_auxiliary_vector_come_from_the_stack, 0, N_SAMPLES);
	tcase_add_loop_test(tcase, a_reader_resumed_anywhere_gives_the_step_that_comes_there, 0, N_SAMPLES);
	tcase_add_test(tcase, system_calls_are_events_of_their_instruction);
	tcase_add_test(tcase, blocks_without_instructions_are_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}
