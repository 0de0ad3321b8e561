/* SPDX-License-Identifier: MIT */
/*
 * history, accesses, last-X, next-X and executions, each against a walk over all steps: random questions to
 * random recordings and to those of each format, in chunks of a few steps.
 */
#include "unit.h"

#include "ask_text.h"
#include "naive.h"
#include "sample.h"
#include "src/ask/verbs/places.h"
#include "src/query/code/insn_reads.h"
#include "src/search/writes.h"
#include "twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_STEPS 200u
#define MAX_LEN 40u

static struct script *s;
static struct naive *nv;
static struct ask_text a;
static struct ts_query *beside; /* of the walks: what they decoded is not known where questions are asked */
static struct script_random rnd;
static struct sample sample; /* s is NULL: a random recording is asked */
static uint64_t n_steps;

/* The rows that the naive walk expects: lines of TSV, and where each begins. */
static struct ts_buf wanted;
static size_t *rows, n_rows, cap_rows;

/* Steps that may have rows. */
static uint64_t *may_have_rows;
static size_t n_may;

static void begin_asking(struct ts_recording *rec)
{
	ask_text_init(&a, rec);
	beside = ts_query_new(a.tl, &a.err);
	ck_assert_ptr_nonnull(beside);
}

static void begin(uint64_t seed)
{
	s = script_random_new(seed, N_STEPS);
	ck_assert_ptr_nonnull(s);
	begin_asking(&s->rec);
	nv = naive_new(s, false, false);
	ck_assert_ptr_nonnull(nv);
	n_steps = N_STEPS;
	rnd.state = seed;
}

static void finish(void)
{
	ts_query_free(beside);
	naive_free(nv);
	ask_text_fini(&a);
	script_free(s);
}

static void begin_sample(int i)
{
	sample_open(&sample, sample_names[i]);
	begin_asking(sample.rec);
	s = sample.s;
	nv = sample.nv;
	n_steps = s->steps.n_steps;
	rnd.state = twins_seed((uint64_t)i);
}

static void finish_sample(void)
{
	ts_query_free(beside);
	ask_text_fini(&a);
	sample_close(&sample);
}

/* ------------------------------------------------------------------------------------------- naive values */

/* What a question is about. */
static struct {
	bool is_reg;
	uint32_t process, thread;
	uint64_t addr, len; /* of a register, its offset; of a machine, the physical address */
	uint64_t virt;      /* what is asked for */
	const char *reg;
	bool only_changes;
} what;

/* A value as the contract has it. */
static void put_value(char *to, const uint8_t *data, const bool *known, size_t len, bool is_number)
{
	size_t n_known = 0;
	char *p = to;

	for (size_t i = 0; i < len; i++)
		n_known += known[i];
	*to = 0;
	if (!n_known)
		return;
	if (n_known == len && is_number) {
		bool is_big = s->rec.regs.arch->is_big_endian;
		size_t i = 0;

		while (i + 1 < len && !data[is_big ? i : len - 1 - i])
			i++;
		p += sprintf(p, "0x%x", data[is_big ? i : len - 1 - i]);
		while (++i < len)
			p += sprintf(p, "%02x", data[is_big ? i : len - 1 - i]);
		return;
	}
	for (size_t i = 0; i < len; i++)
		p += known[i] ? sprintf(p, "%s%02x", i ? " " : "", data[i]) : sprintf(p, "%s??", i ? " " : "");
}

/*
 * Registers are recorded before instructions: nothing shows what the last one of a thread writes, once another thread runs.
 * What it writes is asked of the product, as in writes_register().
 */
static bool is_never_shown(uint64_t pos, uint64_t at)
{
	const struct ts_what of = { .kind = TS_WHAT_REG, .off = (uint32_t)what.addr, .len = (uint32_t)what.len };
	struct ts_location loc = ts_what_register_location(&of, &s->rec.regs, what.thread);
	uint64_t last = pos ? naive_prev_step(nv, what.thread, pos - 1) : TS_NO_POS;
	struct ts_error err = { 0 };
	struct ts_written w;

	if (!s->rec.is_before || last == TS_NO_POS || what.thread == naive_thread(nv, pos) ||
	    naive_next_step(nv, what.thread, pos) != TS_NO_POS)
		return false;
	ck_assert(ts_step_writes(beside, last, &loc, false, &w, &err));
	return loc.kind == TS_IN_FLAGS ? w.mask != 0 : w.mask >> (at - loc.base) & 1;
}

static bool byte_at(uint64_t pos, uint64_t at, uint8_t *value)
{
	if (what.is_reg && is_never_shown(pos, at)) {
		*value = 0;
		return false;
	}
	return what.is_reg ? naive_reg(nv, pos, what.thread, (uint32_t)at, value) :
			     naive_mem(nv, pos, what.process, at, value);
}

struct part {
	uint64_t first, last;
	uint8_t old[MAX_LEN], new[MAX_LEN];
	bool old_known[MAX_LEN], new_known[MAX_LEN];
};

static void read_part(struct part *p, uint64_t pos)
{
	for (uint64_t i = 0; i <= p->last - p->first; i++) {
		p->old_known[i] = byte_at(pos, p->first + i, &p->old[i]);
		p->new_known[i] = byte_at(pos + 1, p->first + i, &p->new[i]);
	}
}

static bool is_same(const struct part *p)
{
	for (uint64_t i = 0; i <= p->last - p->first; i++) {
		if (!p->old_known[i] || !p->new_known[i] || p->old[i] != p->new[i])
			return false;
	}
	return true;
}

/* Other bytes are there, or some after a gap, which nothing shows to have been there before it. */
static bool is_unexplained(const struct part *p)
{
	for (uint64_t i = 0; i <= p->last - p->first; i++) {
		if (p->new_known[i] && (!p->old_known[i] ? !what.is_reg : p->old[i] != p->new[i]))
			return true;
	}
	return false;
}

static void add_row(void)
{
	if (n_rows == cap_rows) {
		cap_rows = cap_rows ? 2 * cap_rows : 64;
		rows = realloc(rows, cap_rows * sizeof(*rows));
		ck_assert_ptr_nonnull(rows);
	}
	rows[n_rows++] = wanted.len;
}

static void put_row(uint64_t pos, const char *kind, const struct part *p)
{
	const struct ts_step *st = &s->steps.steps[pos];
	uint64_t len = p->last - p->first + 1;
	bool is_number = what.is_reg || len == 1 || len == 2 || len == 4 || len == 8;
	char old[300], new[300], addr[32] = "", pc[32] = "";

	put_value(old, p->old, p->old_known, len, is_number);
	put_value(new, p->new, p->new_known, len, is_number);
	if (!what.is_reg)
		snprintf(addr, sizeof(addr), "0x%" PRIx64, p->first - what.addr + what.virt);
	if (st->pc != TS_NO_PC)
		snprintf(pc, sizeof(pc), "0x%" PRIx64, st->pc);
	add_row();
	ts_buf_printf(&wanted, "%" PRIu64 "\t%" PRId64 "\t%s\t\t\t\t%s\t%s\t%" PRIu64 "\t%s\t%s\n", pos,
		      a.names.tids[st->thread], pc, kind, addr, len, old, new);
}

/* ------------------------------------------------------------------------------------------- naive walks */

enum did {
	DID_READ,
	DID_WRITE,
	DID_MAP,
	DID_FORGET,
	N_DID,
};

/*
 * Does the step write the register by its instruction's operands?  What these are is tested by test_operands and
 * by the slicer, which has a decoder of its own.
 */
static bool writes_register(uint64_t pos, bool *is_decoded, bool *is_unexplained)
{
	const struct ts_decoded *d;
	struct ts_written w;
	struct ts_what of;
	struct ts_location loc;
	struct ts_error err = { 0 };

	d = ts_query_insn(beside, pos, &err);
	ck_assert_ptr_nonnull(d);
	*is_decoded = d->is_insn;
	if (!d->is_insn)
		return false;
	of = (struct ts_what){ .kind = TS_WHAT_REG, .off = (uint32_t)what.addr, .len = (uint32_t)what.len };
	loc = ts_what_register_location(&of, &s->rec.regs, what.thread);
	ck_assert(ts_step_writes(beside, pos, &loc, false, &w, &err));
	*is_unexplained = w.mask && w.kind == TS_WRITER_UNEXPLAINED;
	return w.mask && !*is_unexplained;
}

/* Is a system call or a signal of the register's thread an event of the step, which is another thread's? */
static bool is_by_system(uint64_t pos)
{
	const struct ts_step *st = &s->steps.steps[pos];
	uint32_t thread = st->thread;
	bool is_event = false, is_lost = false;

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];

		is_lost |= e->kind == TS_FX_FORGET_REGS;
		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		else if (e->kind == TS_FX_EVENT && thread == what.thread)
			is_event |= s->steps.events[e->item].kind == TS_EV_SYSCALL || s->steps.events[e->item].kind == TS_EV_SIGNAL;
	}
	return what.is_reg && st->thread != what.thread && is_event && !is_lost;
}

/* How the step did what effect @e shows of registers; -1: as the values at both sides of it say. */
static int how_of_register(const struct ts_step *st, const struct ts_effect *e, bool is_decoded)
{
	if (st->thread == what.thread)
		return is_decoded ? -1 : DID_WRITE;
	return ts_effect_data(&s->steps, e) ? -1 : DID_FORGET;
}

/* Which bytes of WHAT a step touched, and how. */
static void look_at_step(uint64_t pos, bool did[N_DID][MAX_LEN])
{
	const struct ts_step *st = &s->steps.steps[pos];
	uint32_t thread = st->thread;
	bool is_decoded = false, is_changed = false;

	memset(did, 0, N_DID * sizeof(did[0]));
	if (what.is_reg && writes_register(pos, &is_decoded, &is_changed))
		memset(did[DID_WRITE], 1, what.len);
	if (is_changed)
		memset(did[DID_FORGET], 1, what.len);
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];
		int how = -1;

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (what.is_reg && e->kind == TS_FX_FORGET_REGS)
			memset(did[DID_FORGET], 1, what.len);
		else if (what.is_reg)
			how = thread == what.thread && e->kind == TS_FX_REG_WRITE ? how_of_register(st, e, is_decoded) : -1;
		else if (s->rec.threads[thread].process != what.process)
			how = -1;
		else if (e->kind == TS_FX_READ)
			how = e->is_hidden ? -1 : DID_READ;
		else if (e->kind == TS_FX_WRITE)
			how = e->is_inferred ? DID_FORGET : DID_WRITE; /* known from here on: nobody knows why */
		else if (e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP)
			how = DID_MAP;
		else if (e->kind == TS_FX_FORGET)
			how = DID_FORGET;
		for (uint64_t k = 0; how >= 0 && k < what.len; k++)
			did[how][k] |= what.addr + k - e->addr < e->len;
	}
}

static bool touches(uint64_t pos)
{
	const struct ts_step *st = &s->steps.steps[pos];

	if (what.is_reg && ts_query_has_operands(a.q))
		return true;
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];

		if (e->addr <= what.addr + (what.len - 1) && (!e->len || e->addr + (e->len - 1) >= what.addr))
			return true;
	}
	return st->pc - what.virt < what.len;
}

/* What touches no byte of WHAT changes none, unless the step after it shows a change. */
static void list_steps(void)
{
	bool is_next = false;

	may_have_rows = realloc(may_have_rows, n_steps * sizeof(*may_have_rows));
	ck_assert_ptr_nonnull(may_have_rows);
	n_may = 0;
	for (uint64_t pos = n_steps; pos-- > 0;) {
		bool is_touched = touches(pos);

		if (is_touched || is_next)
			may_have_rows[n_may++] = pos;
		is_next = is_touched;
	}
}

static bool any(const bool *did)
{
	return memchr(did, 1, what.len) != NULL;
}

/* WHAT as one thing: a row a step. */
static void walk_whole(uint64_t pos)
{
	struct part p = { .first = what.addr, .last = what.addr + what.len - 1 };
	bool did[N_DID][MAX_LEN];

	look_at_step(pos, did);
	read_part(&p, pos);
	if (any(did[DID_WRITE])) {
		if (!what.only_changes || !is_same(&p))
			put_row(pos, "write", &p);
	} else if (any(did[DID_MAP])) {
		if (!is_same(&p))
			put_row(pos, "map", &p);
	} else if (any(did[DID_FORGET]) || is_unexplained(&p)) {
		put_row(pos, is_by_system(pos) ? "write" : "unexplained", &p);
	}
}

/* The next run of bytes that are set, from *first on. */
static bool next_part(const bool *did, struct part *p, uint64_t *from)
{
	while (*from < what.len && !did[*from])
		++*from;
	if (*from == what.len)
		return false;
	p->first = what.addr + *from;
	while (*from < what.len && did[*from])
		++*from;
	p->last = what.addr + *from - 1;
	return true;
}

/* What the reads of a step saw: the values that it has, else what was known before it. */
static void read_seen(struct part *p, uint64_t pos)
{
	const struct ts_step *st = &s->steps.steps[pos];
	uint32_t thread = st->thread;
	bool is_seen[MAX_LEN] = { 0 };

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (e->kind != TS_FX_READ || e->is_hidden || e->data == TS_NO_DATA ||
		    s->rec.threads[thread].process != what.process)
			continue;
		for (uint64_t k = 0; k <= p->last - p->first; k++) {
			if (p->first + k - e->addr >= e->len || is_seen[k])
				continue;
			is_seen[k] = p->old_known[k] = true;
			p->old[k] = s->steps.data[e->data + (p->first + k - e->addr)];
		}
	}
	memcpy(p->new, p->old, sizeof(p->old));
	memcpy(p->new_known, p->old_known, sizeof(p->old_known));
}

/*
 * The addresses of instructions are virtual.  Where the format has no lengths, they are those of the code, which a walk over
 * the steps does not have: e2e/code_lengths compares them with objdump's.
 */
static void walk_exec(uint64_t pos)
{
	const struct ts_step *st = &s->steps.steps[pos];
	struct ts_error err = { 0 };
	uint16_t len;

	if (s->rec.threads[st->thread].process != what.process || st->pc == TS_NO_PC || st->pc < what.virt ||
	    st->pc - what.virt >= what.len)
		return;
	add_row();
	ts_buf_printf(&wanted, "%" PRIu64 "\t%" PRId64 "\t0x%" PRIx64 "\t\t\t\texec\t0x%" PRIx64 "\t", pos,
		      a.names.tids[st->thread], st->pc, st->pc);
	ck_assert_msg(ts_query_insn_len(a.q, pos, st->insn_len, &len, &err), "%s", err.text);
	if (len)
		ts_buf_printf(&wanted, "%u", len);
	ts_buf_puts(&wanted, "\t\t\n");
}

static void walk_accesses(uint64_t pos, const char *kinds)
{
	bool did[N_DID][MAX_LEN];
	struct part p = { 0 };
	uint64_t from = 0;

	look_at_step(pos, did);
	while (strchr(kinds, 'r') && next_part(did[DID_READ], &p, &from)) {
		read_part(&p, pos);
		read_seen(&p, pos);
		put_row(pos, "read", &p);
	}
	for (from = 0; strchr(kinds, 'w') && next_part(did[DID_WRITE], &p, &from);) {
		read_part(&p, pos);
		if (!what.only_changes || !is_same(&p))
			put_row(pos, "write", &p);
	}
	if (strchr(kinds, 'x'))
		walk_exec(pos);
}

/* ------------------------------------------------------------------------------------------- comparing */

/* The rows of positions [from, to); @step: only those of the first (1), last (-1) step that has any. */
static void find_rows(uint64_t from, uint64_t to, const char *kinds, int step)
{
	n_rows = 0;
	ts_buf_reset(&wanted);
	for (size_t i = 0; i < n_may && !(step && n_rows); i++) {
		uint64_t pos = may_have_rows[step < 0 ? i : n_may - 1 - i];

		if (pos < from || pos >= to)
			continue;
		if (*kinds == 'h')
			walk_whole(pos);
		else
			walk_accesses(pos, kinds);
	}
	add_row(); /* where the last one ends */
	n_rows--;
}

/* The rows that were found, bounded. */
static void expect(const char *question, unsigned first, unsigned last)
{
	size_t lo = 0, hi = n_rows;
	const char *got;

	if (first && hi > first)
		hi = first;
	if (last && hi > last)
		lo = hi - last;
	wanted.len = rows[hi];
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	got = strchr(ts_buf_text(&a.out), '\n') + 1;
	twins_check_rows(question, got, ts_buf_text(&wanted) + rows[lo]);
}

/* A question of the verb, with random words. */
static void ask_any(const char *verb, const char *text, const char *kinds, int step)
{
	uint64_t from, to, at, phys;
	unsigned first = 0, last = 0;
	char question[300], words[200] = "";

	if (s == sample.s && strchr(kinds, 'r') && ts_query_infers_reads(a.q))
		return; /* a walk over effects has no reads then: e2e/inferred_reads asks */
	sample_range(&rnd, n_steps, &from, &to, words);
	at = script_below(&rnd, n_steps + 1);
	sprintf(words + strlen(words), " at %" PRIu64, at);
	if (script_chance(&rnd, 20) && !step) {
		first = 1 + (unsigned)script_below(&rnd, 5);
		sprintf(words + strlen(words), " first %u", first);
	} else if (script_chance(&rnd, 30) && !step) {
		last = 1 + (unsigned)script_below(&rnd, 5);
		sprintf(words + strlen(words), " last %u", last);
	}
	if (what.only_changes && (!step || strcmp(verb + 5, "change")))
		strcat(words, " --changes");
	if (step < 0 && at < to)
		to = at;
	if (step > 0 && at + (*kinds == 'x') > from)
		from = at + (*kinds == 'x');
	if (to < from)
		to = from;
	if (s == sample.s && !what.is_reg &&
	    (!sample_physical(&sample, at, what.virt, &phys) || phys != what.addr))
		return;
	/* the process is that of the thread at the position asked from */
	what.process = s->rec.threads[naive_thread(nv, at)].process;
	if (what.is_reg && !strchr(text, ' '))
		what.thread = naive_thread(nv, at);
	find_rows(from, to, kinds, step);
	snprintf(question, sizeof(question), "%s %s%s%s", verb, text, strcmp(verb, "accesses") ? "" : kinds, words);
	if (!strcmp(verb, "accesses"))
		snprintf(question, sizeof(question), "%s %s %s%s", verb, text, kinds, words);
	expect(question, first, last);
}

static void ask_each_memory(const char *name)
{
	static const char *const kinds[] = { "r", "w", "rw" };

	what.is_reg = false;
	what.only_changes = script_chance(&rnd, 30);
	list_steps();
	ask_any("history", name, "h", 0);
	ask_any("last-write", name, "h", -1);
	ask_any("next-write", name, "h", 1);
	ask_any("accesses", name, kinds[script_below(&rnd, 3)], 0);
	ask_any("last-read", name, "r", -1);
	ask_any("next-read", name, "r", 1);
	ask_any("last-access", name, "rw", -1);
	ask_any("next-access", name, "rw", 1);
	what.only_changes = true;
	ask_any("last-change", name, "h", -1);
	ask_any("next-change", name, "h", 1);
}

static void ask_memory(void)
{
	char name[64];

	script_range(&rnd, 16, &what.addr, &what.len);
	if (what.addr + (what.len - 1) > ts_arch_addr_mask(s->rec.regs.arch))
		return;
	what.virt = what.addr;
	snprintf(name, sizeof(name), "0x%" PRIx64 ",%" PRIu64, what.addr, what.len);
	ask_each_memory(name);
}

static void ask_each_register(const char *name)
{
	what.is_reg = true;
	what.only_changes = script_chance(&rnd, 30);
	list_steps();
	ask_any("history", name, "h", 0);
	ask_any("last-write", name, "h", -1);
	ask_any("next-write", name, "h", 1);
	what.only_changes = true;
	ask_any("last-change", name, "h", -1);
	ask_any("next-change", name, "h", 1);
}

/* Any register but the pc, or a part of one. */
static void ask_register(void)
{
	static const struct {
		const char *name, *whole;
		unsigned off, len;
	} parts[] = { { "eax", "rax", 0, 4 }, { "ah", "rax", 1, 1 },  { "r8w", "r8", 0, 2 }, { "bpl", "rbp", 0, 1 },
		      { "ch", "ecx", 1, 1 },  { "dx", "edx", 0, 2 },  { "bl", "ebx", 0, 1 }, { "di", "rdi", 0, 2 } };
	const struct ts_regset *set = &s->rec.regs;
	size_t i = script_below(&rnd, sizeof(parts) / sizeof(parts[0]));
	int whole = ts_regset_find(set, parts[i].whole);
	bool is_part = whole >= 0 && ts_regset_find(set, "eflags") >= 0 && script_chance(&rnd, 20);
	const struct ts_reg *r = &set->regs[is_part ? (uint64_t)whole : script_below(&rnd, set->n_regs)];
	char name[64];

	if (r == &set->regs[set->pc] || r->len > MAX_LEN)
		return;
	/* random bytes of memory are instructions, too, but no step does what they say; samples are asked this */
	if (!sample.s && ts_query_has_operands(a.q))
		return;
	what.addr = r->off + (is_part ? parts[i].off : 0);
	what.len = is_part ? parts[i].len : r->len;
	snprintf(name, sizeof(name), "$%s", is_part ? parts[i].name : r->name);
	ask_each_register(name);
}

START_TEST(any_question_is_answered_like_a_walk_over_all_steps)
{
	begin((uint64_t)_i);
	for (unsigned i = 0; i < 40; i++) {
		ask_memory();
		ask_register();
	}
	finish();
}
END_TEST

/* Memory that the sample touches. */
static void ask_sample_memory(void)
{
	uint64_t n_left;
	char name[64];

	script_bytes(s, &rnd, 16, &what.addr, &what.len);
	if (!sample_virtual(&sample, 0, what.addr, &what.virt, &n_left))
		return;
	what.len = n_left < what.len ? n_left : what.len;
	snprintf(name, sizeof(name), "0x%" PRIx64 ",%" PRIu64, what.virt, what.len);
	ask_each_memory(name);
}

static void ask_sample_code(void)
{
	uint64_t pc = s->steps.steps[script_below(&rnd, n_steps)].pc, n_left;
	char name[64];

	what.is_reg = what.only_changes = false;
	what.virt = pc - script_below(&rnd, 4);
	what.len = 1 + script_below(&rnd, 30);
	if (pc == TS_NO_PC || pc < 4 || !sample_physical(&sample, 0, what.virt, &what.addr) ||
	    !sample_virtual(&sample, 0, what.addr, &what.virt, &n_left))
		return;
	what.len = n_left < what.len ? n_left : what.len;
	list_steps();
	snprintf(name, sizeof(name), "0x%" PRIx64 ",%" PRIu64, what.virt, what.len);
	ask_any("accesses", name, "x", 0);
	ask_any("last-exec", name, "x", -1);
	ask_any("next-exec", name, "x", 1);
	ask_any("accesses", name, "rwx", 0);
}

START_TEST(any_question_to_a_sample_is_answered_like_a_walk)
{
	unsigned n = sample_n_questions(_i, 12);

	begin_sample(_i);
	for (unsigned i = 0; i < n; i++) {
		ask_sample_memory();
		ask_sample_code();
		ask_register();
	}
	ck_assert_msg(a.n_answers >= 4 * n, "%" PRIu64 " answers", a.n_answers); /* some places have no name */
	finish_sample();
}
END_TEST

/* The question begins in the chunk of the end, which has no step then. */
START_TEST(the_last_writes_are_found_before_an_end_that_begins_a_chunk)
{
	const struct ts_reg *r;

	begin_sample(0);
	ck_assert_uint_eq(n_steps % TS_CHUNK_STEPS, 0);
	r = &s->rec.regs.regs[ts_regset_find(&s->rec.regs, "r10")];
	what.addr = r->off;
	what.len = r->len;
	what.is_reg = true;
	what.only_changes = false;
	what.thread = naive_thread(nv, n_steps);
	list_steps();
	find_rows(0, n_steps, "h", 0);
	ck_assert_uint_gt(n_rows, 3);
	expect("history $r10 last 3", 0, 3);
	finish_sample();
}
END_TEST

/* Executions of a range: every step whose pc is in it. */
START_TEST(executions_are_those_of_a_walk)
{
	begin((uint64_t)_i);
	for (unsigned i = 0; i < 60; i++) {
		uint64_t pos = script_below(&rnd, N_STEPS), at = script_below(&rnd, N_STEPS + 1);
		uint64_t addr = s->steps.steps[pos].pc, len = 1 + script_below(&rnd, 30), n = 0;
		uint64_t first = 1 + script_below(&rnd, 4);
		char question[128], end[64];
		const char *found;

		if (addr > ts_arch_addr_mask(s->rec.regs.arch) ||
		    len - 1 > ts_arch_addr_mask(s->rec.regs.arch) - addr)
			continue;
		what.process = s->rec.threads[naive_thread(nv, at)].process;
		for (uint64_t k = 0; k < N_STEPS; k++) {
			const struct ts_step *st = &s->steps.steps[k];

			n += s->rec.threads[st->thread].process == what.process &&
			     st->pc != TS_NO_PC && st->pc - addr < len;
		}
		snprintf(question, sizeof(question),
			 "executions 0x%" PRIx64 ",%" PRIu64 " first %" PRIu64 " at %" PRIu64, addr, len,
			 first, at);
		ck_assert_msg(ask_text(&a, TS_FORM_JSON, question), "%s", a.err.text);
		/* a note about the instruction at which the recording ends may follow */
		snprintf(end, sizeof(end), "\"rows\":%" PRIu64 ",\"total\":%" PRIu64, n < first ? n : first, n);
		found = strstr(ts_buf_text(&a.out), end);
		ck_assert_msg(found && strchr(",}", found[strlen(end)]), "%s: %s, not %s", question,
			      ts_buf_text(&a.out), end);
	}
	finish();
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_access");
	TCase *c = tcase_create("ask_access");

	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, any_question_is_answered_like_a_walk_over_all_steps, 1, 240);
	tcase_add_loop_test(c, executions_are_those_of_a_walk, 1, 20);
	suite_add_tcase(suite, c);
	tcase_add_test(c, the_last_writes_are_found_before_an_end_that_begins_a_chunk);
	suite_add_tcase(suite, sample_case(any_question_to_a_sample_is_answered_like_a_walk));
	return suite;
}
