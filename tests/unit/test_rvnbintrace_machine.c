/* SPDX-License-Identifier: MIT */
/*
 * Real executions of user programs in machines with page tables, recorded as REVEN traces: registers and
 * virtual memory at every position.
 *
 * The executions are those of the Usercorn recordings: registers as a hook in the emulator saw them, memory
 * as it was at the start and as each step wrote it.  A kernel interrupts them now and then and moves one of
 * the program's pages to another frame.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rvn_machine.h"
#include "src/query/paging.h"
#include "src/timeline/timeline.h"
#include "ucir_text.h"

#define MAX_PAGES       256
#define INTERRUPT_EVERY 97

/* As ck_assert, for millions of them: libcheck's own tells the parent process about each. */
#define CHECK(condition)                                \
	do {                                            \
		if (!(condition))                       \
			ck_abort_msg("%s", #condition); \
	} while (0)

struct page {
	uint64_t addr;
	uint8_t data[RVN_PAGE_LEN];
};

/* An execution that is gone through from its start. */
struct program {
	const char *sample;
	bool is_32;
	struct ucir_trace t;
	FILE *positions;
	struct page *pages; /* owned; of the program, as they are now */
	unsigned n_pages;
	uint64_t pos, n_steps;
	struct {
		char name[8]; /* as the trace of the machine has it */
		uint64_t value;
	} regs[32];
	unsigned n_regs;
};

static struct program prog;
static struct rvn_machine m;
static struct ts_buf file;
static uint64_t *events; /* by position of the program: the event before which the machine is there */

/* -------------------------------------------------------------------------------------------- the program */

static struct page *page_of(uint64_t addr)
{
	struct page *pg;

	for (unsigned i = 0; i < prog.n_pages; i++)
		if (prog.pages[i].addr == addr / RVN_PAGE_LEN * RVN_PAGE_LEN)
			return &prog.pages[i];
	CHECK(prog.n_pages < MAX_PAGES);
	pg = &prog.pages[prog.n_pages++];
	memset(pg, 0, sizeof(*pg));
	pg->addr = addr / RVN_PAGE_LEN * RVN_PAGE_LEN;
	return pg;
}

static FILE *open_gz(const char *end)
{
	char command[4400], name[64];
	FILE *pipe;

	snprintf(name, sizeof(name), "usercorn/%s.%s", prog.sample, end);
	snprintf(command, sizeof(command), "gzip -dc '%s'", unit_data_path(name));
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	return pipe;
}

/* Memory at the start: those pages of the regions that are not all zeros. */
static void load_memory(void)
{
	FILE *f = open_gz("mem.gz");
	char *line = NULL;
	size_t cap = 0;

	while (getline(&line, &cap, f) > 0) {
		uint64_t low;
		unsigned byte, when;
		int at;

		CHECK(sscanf(line, "%u %*x %*x %*u %*s %" SCNx64 " %n", &when, &low, &at) == 2);
		for (const char *p = line + at; when == 0 && sscanf(p, "%2x", &byte) == 1; p += 2, low++)
			page_of(low)->data[low % RVN_PAGE_LEN] = (uint8_t)byte;
	}
	free(line);
	pclose(f);
}

static void learn(const char *name, uint64_t value)
{
	bool is_half = *name == 'e' && strcmp(name, "eflags"); /* of a register of the machine */
	char recorded[8];
	unsigned i = 0;

	if (strlen(name) == 2 && name[1] == 's')
		return; /* selectors are the machine's */
	snprintf(recorded, sizeof(recorded), "%s%s", is_half ? "r" : "", is_half ? name + 1 : name);
	while (i < prog.n_regs && strcmp(prog.regs[i].name, recorded))
		i++;
	CHECK(i < 32);
	strcpy(prog.regs[i].name, recorded);
	prog.regs[i].value = value;
	prog.n_regs = i == prog.n_regs ? i + 1 : prog.n_regs;
}

/* The next line of the truth: pc and changed registers. */
static void read_position(void)
{
	char *line = NULL, *save, *word;
	size_t cap = 0;

	CHECK(getline(&line, &cap, prog.positions) > 0);
	strtok_r(line, " \n", &save);
	learn("rip", strtoull(strtok_r(NULL, " \n", &save), NULL, 16));
	while ((word = strtok_r(NULL, " \n", &save))) {
		char *eq = strchr(word, '=');

		*eq = '\0';
		learn(word, strtoull(eq + 1, NULL, 16));
	}
	free(line);
}

static void close_program(void)
{
	ucir_close(&prog.t);
	if (prog.positions)
		pclose(prog.positions);
	prog.positions = NULL;
	prog.n_regs = 0;
}

static void start_program(const char *sample)
{
	char name[64];
	uint8_t *bytes;
	size_t len;

	close_program();
	prog.sample = sample;
	prog.is_32 = !strncmp(sample, "x86_", 4);
	prog.pos = 0;
	for (unsigned i = 0; i < prog.n_pages; i++)
		memset(prog.pages[i].data, 0, RVN_PAGE_LEN);
	load_memory();
	snprintf(name, sizeof(name), "usercorn/%s.ucir", sample);
	bytes = unit_data(name, &len);
	ts_buf_put(&prog.t.bytes, bytes, len);
	free(bytes);
	ck_assert(ucir_open(&prog.t, NULL));
	prog.positions = open_gz("positions.gz");
	read_position();
}

/* What the step wrote, to the program's pages; @write (may be NULL) is told too. */
static void apply_writes(void (*write)(uint64_t addr, const uint8_t *data, uint64_t len))
{
	const struct ts_steps *b = &prog.t.steps;

	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];
		const uint8_t *data = ts_effect_data(b, e);

		if (e->kind != TS_FX_WRITE || !data)
			continue;
		for (uint64_t j = 0; j < e->len; j++)
			page_of(e->addr + j)->data[(e->addr + j) % RVN_PAGE_LEN] = data[j];
		if (write)
			write(e->addr, data, e->len);
	}
}

/* Go on by a step; false at the end. */
static bool step_program(void (*write)(uint64_t addr, const uint8_t *data, uint64_t len))
{
	ts_steps_reset(&prog.t.steps);
	if (prog.t.reader->ops->next(prog.t.reader, &prog.t.steps, &prog.t.err) != TS_ITEM)
		return false;
	apply_writes(write);
	read_position();
	prog.pos++;
	return true;
}

/* -------------------------------------------------------------------------------------------- the machine */

#define SCRATCH 0x7f0000 /* a page that comes and goes */

static uint64_t kernel_base(void)
{
	return m.paging == RVN_PAGING_OFF ? 0 : prog.is_32 ? 0xc0000000 : UINT64_C(0xffffffff80000000);
}

static void show_program(void)
{
	for (unsigned i = 0; i < prog.n_regs; i++)
		rvn_machine_set(&m, prog.regs[i].name, prog.regs[i].value);
	rvn_machine_enter(&m, false);
}

static void write_program(uint64_t addr, const uint8_t *data, uint64_t len)
{
	rvn_machine_write_virtual(&m, addr, data, (size_t)len);
}

/* One of the program's pages goes to another frame; the frame that it leaves is the next one's. */
static void move_page(uint64_t *spare, unsigned which)
{
	const struct page *pg = &prog.pages[which % prog.n_pages];
	uint64_t phys, to = *spare;

	CHECK(rvn_machine_find(&m, pg->addr, &phys));
	rvn_machine_write(&m, to, rvn_machine_bytes(&m, phys), RVN_PAGE_LEN);
	rvn_machine_map(&m, pg->addr, to, RVN_PAGE_LEN);
	rvn_machine_write(&m, phys, "gone", 4);
	*spare = phys;
}

/* An interrupt, what the kernel does, and the way back. */
static void interrupt(uint64_t *spare, unsigned which)
{
	uint64_t base = kernel_base(), flags = rvn_machine_get(&m, "eflags");

	rvn_machine_enter(&m, true);
	rvn_machine_set(&m, "rip", base + 0x1000);
	rvn_machine_set(&m, "rsp", base + 0x8000 - 40);
	rvn_machine_set(&m, "eflags", flags & ~UINT64_C(0x300));
	rvn_machine_write(&m, 0x8000 - 40, "the interrupted program's rip and so on.", 40);
	rvn_machine_end_event(&m, "hw interrupt 32");
	if (m.paging != RVN_PAGING_OFF) {
		move_page(spare, which);
		if (which % 2)
			rvn_machine_map(&m, SCRATCH, 0x2000, RVN_PAGE_LEN);
		else
			rvn_machine_unmap(&m, SCRATCH);
	}
	rvn_machine_set(&m, "rip", base + 0x1002);
	rvn_machine_end_event(&m, NULL);
	show_program();
	rvn_machine_end_event(&m, NULL);
}

/* All pages that the program will ever touch are there from the start. */
static void map_program(void)
{
	for (unsigned i = 0; i < prog.n_pages; i++) {
		const struct page *pg = &prog.pages[i];
		uint64_t frame;

		if (m.paging == RVN_PAGING_OFF) {
			rvn_machine_ram(&m, pg->addr, RVN_PAGE_LEN);
			frame = pg->addr;
		} else {
			frame = rvn_machine_frame(&m);
			rvn_machine_map(&m, pg->addr, frame, RVN_PAGE_LEN);
		}
		rvn_machine_write(&m, frame, pg->data, RVN_PAGE_LEN);
	}
}

static void map_large_pages(void)
{
	static const uint64_t above_4g = UINT64_C(0x100000000);

	rvn_machine_write(&m, 0x1000, "\x0f\x0b code of the kernel", 22);
	if (m.paging == RVN_PAGING_OFF)
		return;
	rvn_machine_map(&m, kernel_base(), 0, m.paging == RVN_PAGING_32 ? 0x400000 : 0x200000);
	rvn_machine_ram(&m, above_4g, RVN_PAGE_LEN);
	rvn_machine_write(&m, above_4g, "above", 6);
	if (m.paging == RVN_PAGING_32)
		rvn_machine_map(&m, 0xd0000000, above_4g, 0x400000);
	else
		rvn_machine_map(&m, 0xd0000000, above_4g, 0x200000);
	if (m.paging >= RVN_PAGING_4_LEVEL)
		rvn_machine_map(&m, UINT64_C(0xffff888000000000), above_4g, 0x40000000);
	if (m.paging == RVN_PAGING_5_LEVEL)
		rvn_machine_map(&m, UINT64_C(0xff10000000000000), 0x1000, RVN_PAGE_LEN);
}

/* Record the whole execution; events[k] is where position k of the program is. */
static void record(const char *sample, enum rvn_paging paging, enum rvn_recorder recorder)
{
	uint64_t spare = 0;
	unsigned n_interrupts = 0;

	start_program(sample);
	while (step_program(NULL)) /* which pages are there? */
		;
	prog.n_steps = prog.pos;
	start_program(sample);
	rvn_machine_init(&m, paging, recorder);
	map_program();
	map_large_pages();
	if (paging != RVN_PAGING_OFF)
		spare = rvn_machine_frame(&m);
	if (paging != RVN_PAGING_OFF)
		rvn_machine_map(&m, SCRATCH, 0x2000, RVN_PAGE_LEN);
	show_program();
	rvn_machine_start(&m);
	events = calloc((size_t)prog.n_steps + 1, sizeof(*events));
	while (step_program(write_program)) {
		show_program();
		rvn_machine_end_event(&m, NULL);
		if (prog.pos % INTERRUPT_EVERY == 0)
			interrupt(&spare, n_interrupts++);
		events[prog.pos] = m.n_events;
	}
	rvn_machine_finish(&m, &file);
}

/* ------------------------------------------------------------------------------------------ what is asked */

struct opened {
	struct ts_source *src;
	struct ts_recording *rec;
	struct ts_timeline *tl;
	struct ts_query *q;
};

static struct opened o;
static struct ts_error err;

static void open_file(void)
{
	enum ts_next grow;

	ts_error_reset(&err);
	o.src = ts_source_from_memory(file.data, file.len, "machine", &err);
	o.rec = ts_loader_open(ts_loader_find("rvnbintrace"), o.src, &(struct ts_loader_options){ 0 }, &err);
	ck_assert_msg(o.rec != NULL, "%s", err.text);
	o.tl = ts_timeline_new(o.rec, NULL, &err);
	do {
		grow = ts_timeline_grow(o.tl, 1 << 16, &err);
	} while (grow == TS_MORE);
	ck_assert_msg(grow == TS_END && o.tl->damage.code == TS_OK, "%s%s", err.text,
		      o.tl->damage.text);
	ck_assert_uint_eq(o.tl->n_steps, m.n_events);
	o.q = ts_query_new(o.tl, &err);
}

static void setup(void)
{
	prog = (struct program){ .pages = calloc(MAX_PAGES, sizeof(struct page)) };
	events = NULL;
	o = (struct opened){ 0 };
	ts_buf_init(&file);
}

static void teardown(void)
{
	ts_query_free(o.q);
	ts_timeline_free(o.tl);
	ts_recording_close(o.rec);
	ts_source_close(o.src);
	rvn_machine_fini(&m);
	close_program();
	free(prog.pages);
	free(events);
	ts_buf_fini(&file);
}

static void check_registers(uint64_t pos)
{
	const struct ts_regset *set = &o.rec->regs;
	static uint8_t data[4096], known[4096];

	CHECK(ts_query_regs(o.q, pos, 0, data, known, &err));
	for (unsigned i = 0; i < prog.n_regs; i++) {
		const struct ts_reg *r = &set->regs[ts_regset_find(set, prog.regs[i].name)];

		if (memchr(known + r->off, 0, r->len) ||
		    ts_arch_get(set->arch, data + r->off, r->len) != prog.regs[i].value)
			ck_abort_msg("position %" PRIu64 ": %s is %" PRIx64 ", not %" PRIx64, pos, r->name,
				     ts_arch_get(set->arch, data + r->off, r->len), prog.regs[i].value);
	}
}

static void check_bytes(uint64_t pos, uint64_t addr, const uint8_t *bytes, size_t len)
{
	static uint8_t data[RVN_PAGE_LEN], known[RVN_PAGE_LEN];

	CHECK(len <= RVN_PAGE_LEN && ts_virtual_mem(o.q, pos, 0, addr, len, data, known, &err));
	for (size_t i = 0; i < len; i++)
		if (!known[i] || data[i] != bytes[i])
			ck_abort_msg("position %" PRIu64 ": 0x%" PRIx64 " is %s %02x, not %02x", pos,
				     addr + i, known[i] ? "known as" : "unknown,", data[i], bytes[i]);
}

static void check_unmapped(uint64_t pos, uint64_t addr)
{
	struct ts_translation t;

	CHECK(ts_translate_at(o.q, pos, 0, addr, &t, &err));
	if (t.mapping != TS_UNMAPPED)
		ck_abort_msg("position %" PRIu64 ": 0x%" PRIx64 " is mapped to 0x%" PRIx64, pos, addr,
			     t.phys);
}

/* What the step before wrote, and its surroundings. */
static void check_written(uint64_t pos)
{
	for (uint32_t i = 0; i < prog.t.steps.n_effects; i++) {
		const struct ts_effect *e = &prog.t.steps.effects[i];
		uint64_t from = e->addr & ~UINT64_C(63);

		if (e->kind == TS_FX_WRITE)
			check_bytes(pos, from, page_of(e->addr)->data + from % RVN_PAGE_LEN, 64);
	}
}

static void check_pages(uint64_t pos)
{
	uint64_t behind, phys;

	for (unsigned i = 0; i < prog.n_pages; i++) {
		check_bytes(pos, prog.pages[i].addr, prog.pages[i].data, RVN_PAGE_LEN);
		behind = prog.pages[i].addr + RVN_PAGE_LEN;
		if (m.paging != RVN_PAGING_OFF && !rvn_machine_find(&m, behind, &phys))
			check_unmapped(pos, behind);
	}
	check_bytes(pos, kernel_base() + 0x1000, (const uint8_t *)"\x0f\x0b code of the kernel", 22);
	if (m.paging != RVN_PAGING_OFF)
		check_bytes(pos, 0xd0000000, (const uint8_t *)"above", 6);
	if (m.paging >= RVN_PAGING_4_LEVEL) {
		check_bytes(pos, UINT64_C(0xffff888000000000), (const uint8_t *)"above", 6);
		check_unmapped(pos, UINT64_C(0x0000888000000000)); /* not canonical with four levels */
	}
	if (m.paging == RVN_PAGING_5_LEVEL)
		check_bytes(pos, UINT64_C(0xff10000000000000), (const uint8_t *)"\x0f\x0b", 2);
}

/* The page that the kernel maps and unmaps in turns, after the n-th interrupt. */
static void check_scratch(uint64_t pos, unsigned n)
{
	if (m.paging == RVN_PAGING_OFF)
		return;
	if (n % 2)
		check_unmapped(pos, SCRATCH);
	else
		check_bytes(pos, SCRATCH, rvn_machine_bytes(&m, 0x2000), RVN_PAGE_LEN);
}

/* Interrupts are where they were put, and the kernel runs there. */
static void check_interrupts(void)
{
	const struct ts_regset *set = &o.rec->regs;
	const struct ts_reg *cs = &set->regs[ts_regset_find(set, "cs")];
	static uint8_t data[4096], known[4096];
	uint64_t step = 0;

	for (uint64_t pos = INTERRUPT_EVERY; pos <= prog.n_steps; pos += INTERRUPT_EVERY, step++) {
		const struct ts_event_at *h = ts_world_find_event(&o.tl->world, TS_EV_INTERRUPT, step, false);

		ck_assert_ptr_nonnull(h);
		step = h->step;
		ck_assert_str_eq(h->event.text, "hw interrupt 32");
		ck_assert_uint_eq(step + 3, events[pos]);
		CHECK(ts_query_regs(o.q, step + 1, 0, data, known, &err));
		ck_assert_uint_eq(data[cs->off], 0x10);
		CHECK(ts_query_regs(o.q, step, 0, data, known, &err));
		ck_assert_uint_eq(data[cs->off], prog.is_32 ? 0x23 : 0x33);
	}
	ck_assert_ptr_null(ts_world_find_event(&o.tl->world, TS_EV_INTERRUPT, step, false));
}

static void compare(void)
{
	start_program(prog.sample);
	do {
		uint64_t pos = events[prog.pos];

		check_registers(pos);
		check_written(pos);
		if (prog.pos % 500 == 0 || prog.pos == prog.n_steps)
			check_pages(pos);
		if (prog.pos % 50 == 0)
			check_scratch(pos, (unsigned)(prog.pos / INTERRUPT_EVERY));
	} while (step_program(NULL));
	check_interrupts();
}

static void exam(const char *sample, enum rvn_paging paging, enum rvn_recorder recorder)
{
	record(sample, paging, recorder);
	open_file();
	compare();
}

START_TEST(a_program_without_paging)
{
	exam("x86_walk", RVN_PAGING_OFF, RVN_PANDA);
}
END_TEST

START_TEST(a_program_in_two_levels)
{
	exam("x86_walk", RVN_PAGING_32, RVN_BOCHS);
}
END_TEST

START_TEST(a_program_in_three_levels)
{
	exam("x86_walk", RVN_PAGING_PAE, RVN_PANDA);
}
END_TEST

START_TEST(a_program_in_four_levels)
{
	exam("x64_walk", RVN_PAGING_4_LEVEL, RVN_BOCHS);
}
END_TEST

START_TEST(a_program_in_five_levels)
{
	exam("x64_walk", RVN_PAGING_5_LEVEL, RVN_PANDA);
}
END_TEST

START_TEST(a_program_that_crashes)
{
	exam("x64_crash", RVN_PAGING_4_LEVEL, RVN_PANDA);
}
END_TEST

START_TEST(a_program_that_computes)
{
	exam("x64_fpu", RVN_PAGING_4_LEVEL, RVN_PANDA);
}
END_TEST

UNIT_FIXTURE_SUITE("rvnbintrace_machine", setup, teardown, a_program_without_paging, a_program_in_two_levels,
		   a_program_in_three_levels, a_program_in_four_levels, a_program_in_five_levels,
		   a_program_that_crashes, a_program_that_computes)
