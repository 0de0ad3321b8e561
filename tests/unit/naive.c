/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "settle.h"

/* Ordinal of a byte among those of the script, -1 if it is not one. */
static long byte_ordinal(const struct naive *nv, uint64_t addr)
{
	const uint64_t *bytes = nv->s->bytes;
	size_t lo = 0, hi = nv->s->n_bytes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (bytes[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nv->s->n_bytes && bytes[lo] == addr ? (long)lo : -1;
}

bool naive_is_tracked(const struct naive *nv, uint64_t addr)
{
	return byte_ordinal(nv, addr) >= 0;
}

static size_t mem_index(const struct naive *nv, uint32_t process, uint64_t addr)
{
	return process * nv->s->n_bytes + (size_t)byte_ordinal(nv, addr);
}

static struct naive_log *mem_log(const struct naive *nv, uint32_t process, uint64_t addr)
{
	return &nv->mem[mem_index(nv, process, addr)];
}

static struct naive_log *reg_log(const struct naive *nv, uint32_t thread, uint64_t off)
{
	return &nv->regs[thread * nv->s->rec.regs.g_len + off];
}

static struct naive_entry *add_entry(struct naive_log *log, uint32_t seq, enum naive_kind kind, uint8_t value)
{
	if (log->n == log->cap) {
		log->cap = log->cap ? log->cap * 2 : 4;
		log->items = realloc(log->items, log->cap * sizeof(*log->items));
		assert(log->items);
	}
	log->items[log->n] = (struct naive_entry){ .seq = seq, .kind = (uint8_t)kind, .value = value };
	return &log->items[log->n++];
}

/* How many entries of the log happened before effect @seq. */
static uint32_t entries_before(const struct naive_log *log, uint32_t seq)
{
	uint32_t lo = 0, hi = log->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (log->items[mid].seq < seq)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * What the recording shows of a byte before effect @seq.  Nothing since it started afresh: then what happens
 * to it next shows it, if that is a read, and there was no gap in between.
 */
static bool shown_before(const struct naive_log *log, uint32_t seq, uint8_t *value)
{
	uint32_t n = entries_before(log, seq);
	const struct naive_entry *e = n ? &log->items[n - 1] : NULL;

	if (e && e->kind != NAIVE_UNKNOWN) {
		*value = e->value;
		return true;
	}
	*value = n < log->n ? log->items[n].value : 0;
	return n < log->n && log->items[n].kind == NAIVE_SEEN && !log->items[n].is_sudden;
}

/*
 * Everything that an instruction read was there when it began.  What the step at @pos does first to a byte is
 * a read: that value is the byte's at @pos.
 */
static bool seen_by_step(const struct naive *nv, const struct naive_log *log, uint64_t pos, uint8_t *value)
{
	uint32_t n = entries_before(log, nv->first_seq[pos]);

	if (pos == nv->n_steps || n == log->n || log->items[n].seq >= nv->first_seq[pos + 1] ||
	    log->items[n].kind != NAIVE_SEEN)
		return false;
	*value = log->items[n].value;
	return true;
}

/* What a byte of memory holds before effect @seq: what is shown, else what files say. */
static bool mem_before(const struct naive *nv, uint32_t process, uint64_t addr, uint32_t seq, uint8_t *value)
{
	const struct naive_log *log = mem_log(nv, process, addr);
	uint32_t n = entries_before(log, seq);

	if (shown_before(log, seq, value))
		return true;
	*value = 0;
	if (n && log->items[n - 1].has_file) {
		*value = log->items[n - 1].file_value;
		return true;
	}
	if ((n && log->items[n - 1].seq >= nv->first_seq[0]) || !nv->has_image || addr < NAIVE_IMAGE_ADDR ||
	    addr - NAIVE_IMAGE_ADDR >= NAIVE_IMAGE_LEN)
		return false;
	*value = naive_image_byte(addr - NAIVE_IMAGE_ADDR);
	return true;
}

/* ---------------------------------------------------------------------------------------------- listening */

static bool is_in(const struct ts_effect *e, uint64_t addr)
{
	return addr >= e->addr && addr - e->addr < e->len;
}

/* The log of a byte that an access of @thread touches. */
static struct naive_log *log_of(const struct naive *nv, const struct ts_effect *e, uint32_t thread,
				uint64_t i)
{
	if (e->kind == TS_FX_REG_READ || e->kind == TS_FX_REG_WRITE)
		return reg_log(nv, thread, e->addr + i);
	return mem_log(nv, nv->s->process_of[thread], e->addr + i);
}

/* Were there unseen changes since something unknown was written to the byte?  They leave registers alone. */
static bool is_over_gap(const struct naive *nv, const struct ts_effect *e, const struct naive_log *log)
{
	const struct naive_entry *last = log->n ? &log->items[log->n - 1] : NULL;

	return e->kind == TS_FX_READ && last && last->kind == NAIVE_UNKNOWN && last->is_lost &&
	       last->seq < nv->gap_seq;
}

/* A read that shows values: count what it infers, and whether it contradicts. */
static void listen_see(struct naive *nv, const struct ts_effect *e, uint32_t seq, uint32_t thread,
		       const uint8_t *value)
{
	bool is_contradiction = false;

	for (uint64_t i = 0; i < e->len; i++) {
		struct naive_log *log = log_of(nv, e, thread, i);
		uint8_t before;

		bool is_sudden = is_over_gap(nv, e, log);

		if (!shown_before(log, seq, &before))
			nv->n_inferred += !is_sudden;
		else if (before != value[i])
			is_contradiction = true;
		add_entry(log, seq, NAIVE_SEEN, value[i])->is_sudden = is_sudden;
	}
	nv->n_unexplained += is_contradiction;
}

/* A read or write, of memory or registers. */
static void listen_access(struct naive *nv, const struct ts_effect *e, uint32_t seq, uint32_t thread,
			  const uint8_t *value)
{
	bool is_write = e->kind == TS_FX_WRITE || e->kind == TS_FX_REG_WRITE;

	if (!is_write && value)
		listen_see(nv, e, seq, thread, value);
	for (uint64_t i = 0; is_write && i < e->len; i++) {
		struct naive_entry *entry = add_entry(log_of(nv, e, thread, i), seq,
						      value ? NAIVE_WRITTEN : NAIVE_UNKNOWN, value ? value[i] : 0);

		entry->is_lost = !value;
	}
}

static void add_mapping(struct naive_mappings *list, const struct naive_mapping *m)
{
	if (list->n == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 4;
		list->items = realloc(list->items, list->cap * sizeof(*list->items));
		assert(list->items);
	}
	list->items[list->n++] = *m;
}

static void listen_mapping(struct naive *nv, const struct ts_steps *b, const struct ts_effect *e,
			   uint32_t seq, uint32_t process, uint64_t addr)
{
	struct naive_mappings *list = &nv->mappings[mem_index(nv, process, addr)];
	struct naive_mapping m = { .seq = seq };

	if (e->kind == TS_FX_MAP) {
		const struct ts_map *x = &b->maps[e->item];

		m = (struct naive_mapping){ seq, true, x->prot, x->file_off + (addr - x->addr),
					    ts_steps_text(b, x->desc), ts_steps_text(b, x->file) };
	} else if (e->kind == TS_FX_PROTECT) {
		if (!list->n || !list->items[list->n - 1].is_mapped)
			return;
		m = list->items[list->n - 1];
		m.seq = seq;
		m.prot = e->item;
	}
	add_mapping(list, &m);
}

/* A map, unmap, protect or forget, as one byte sees it. */
static void listen_fill(struct naive *nv, const struct ts_steps *b, const struct ts_effect *e, uint32_t seq,
			uint32_t process, uint64_t addr, bool has_file)
{
	const struct ts_map *m = e->kind == TS_FX_MAP ? &b->maps[e->item] : NULL;
	uint64_t off = m ? m->file_off + (addr - m->addr) : 0;
	struct naive_entry *entry;

	if (e->kind != TS_FX_FORGET)
		listen_mapping(nv, b, e, seq, process, addr);
	if (e->kind == TS_FX_PROTECT)
		return;
	entry = add_entry(mem_log(nv, process, addr), seq,
			  m && m->fill == TS_FILL_ZERO ? NAIVE_ZERO : NAIVE_UNKNOWN, 0);
	if (has_file && m && m->fill == TS_FILL_UNKNOWN && m->file != TS_NO_DATA &&
	    !strcmp(ts_steps_text(b, m->file), "/" SCRIPT_FILE) && off >= m->file_off &&
	    off < SCRIPT_FILE_LEN) {
		entry->has_file = true;
		entry->file_value = script_file_byte(off);
	}
}

/* A module appears where others may have been; or (@file is NULL) it only goes. */
static void listen_module(struct naive *nv, const struct ts_effect *e, uint32_t seq, uint32_t process,
			  const char *file)
{
	uint64_t last = e->addr + (e->len - 1);

	for (uint32_t i = 0; i < nv->n_modules; i++) {
		struct naive_module *m = &nv->modules[i];

		if (m->until == UINT32_MAX && m->process == process && m->first <= last && m->last >= e->addr)
			m->until = seq;
	}
	if (!file)
		return;
	if (nv->n_modules == nv->cap_modules) {
		nv->cap_modules = nv->cap_modules ? nv->cap_modules * 2 : 16;
		nv->modules = realloc(nv->modules, nv->cap_modules * sizeof(*nv->modules));
		assert(nv->modules);
	}
	nv->modules[nv->n_modules++] = (struct naive_module){ seq, UINT32_MAX, process, e->addr, last, file };
}

static void forget_regs(struct naive *nv, uint32_t seq)
{
	for (uint32_t i = 0; i < SCRIPT_MAX_THREADS * nv->s->rec.regs.g_len; i++)
		add_entry(&nv->regs[i], seq, NAIVE_UNKNOWN, 0);
}

static void listen(struct naive *nv, const struct ts_steps *b, const struct ts_effect *e, uint32_t seq,
		   uint32_t thread, bool has_file)
{
	uint32_t process = nv->s->process_of[thread];

	if (e->kind <= TS_FX_READ) {
		listen_access(nv, e, seq, thread, ts_effect_data(b, e));
		return;
	}
	if (e->kind == TS_FX_LOAD || e->kind == TS_FX_UNLOAD)
		listen_module(nv, e, seq, process,
			      e->kind == TS_FX_LOAD ? ts_steps_text(b, b->modules[e->item].file) : NULL);
	if (e->kind == TS_FX_FORGET_REGS)
		forget_regs(nv, seq);
	if (e->kind < TS_FX_MAP || e->kind > TS_FX_FORGET)
		return;
	for (size_t i = 0; i < nv->s->n_bytes; i++) {
		if (is_in(e, nv->s->bytes[i]))
			listen_fill(nv, b, e, seq, process, nv->s->bytes[i], has_file);
	}
}

static void listen_all(struct naive *nv, const struct ts_steps *b, uint32_t first, uint32_t n,
		       uint32_t thread, uint32_t *seq, bool has_file)
{
	bool is_unseen = false;

	for (uint32_t i = first; i < first + n; i++) {
		is_unseen |= b->effects[i].kind == TS_FX_UNSEEN;
		if (b->effects[i].kind == TS_FX_THREAD)
			thread = b->effects[i].item;
		listen(nv, b, &b->effects[i], (*seq)++, thread, has_file);
	}
	if (is_unseen)
		nv->gap_seq = *seq;
}

/* Bytes that are left in the trace are known from position 0 on, where nothing else is said of them. */
static void listen_memory(struct naive *nv, uint32_t seq)
{
	for (size_t i = 0; i < SCRIPT_MAX_PROCESSES * nv->s->n_bytes && nv->s->rec.memory.n_ranges; i++) {
		struct naive_log *log = &nv->mem[i];
		uint8_t value, is_known = 0;

		ts_image_fill(&nv->s->rec.memory, 0, nv->s->bytes[i % nv->s->n_bytes], 1, &value, &is_known);
		if (is_known && (!log->n || log->items[log->n - 1].kind == NAIVE_UNKNOWN))
			add_entry(log, seq, NAIVE_WRITTEN, value);
	}
}

static void *zeroed(size_t n, size_t item_len)
{
	void *p = calloc(n, item_len);

	assert(p);
	return p;
}

struct naive *naive_new(const struct script *s, bool has_image, bool has_file)
{
	struct naive *nv = zeroed(1, sizeof(*nv));
	uint32_t seq = 0;

	nv->s = s;
	nv->n_inferred = settle(s, &nv->steps);
	nv->n_steps = s->steps.n_steps;
	nv->has_image = has_image;
	nv->first_seq = zeroed(nv->n_steps + 1, sizeof(*nv->first_seq));
	nv->mem = zeroed(SCRIPT_MAX_PROCESSES * s->n_bytes, sizeof(*nv->mem));
	nv->regs = zeroed((size_t)SCRIPT_MAX_THREADS * s->rec.regs.g_len, sizeof(*nv->regs));
	nv->mappings = zeroed(SCRIPT_MAX_PROCESSES * s->n_bytes, sizeof(*nv->mappings));
	listen_all(nv, &s->rec.initial, 0, s->rec.initial.n_effects, 0, &seq, has_file);
	listen_memory(nv, seq++);
	nv->first_seq[0] = seq;
	for (uint32_t i = 0; i < nv->steps.n_steps; i++) {
		const struct ts_step *st = &nv->steps.steps[i];

		listen_all(nv, &nv->steps, st->first, st->n_effects, st->thread, &seq, has_file);
		nv->first_seq[i + 1] = seq;
	}
	return nv;
}

void naive_free(struct naive *nv)
{
	for (size_t i = 0; i < SCRIPT_MAX_PROCESSES * nv->s->n_bytes; i++) {
		free(nv->mem[i].items);
		free(nv->mappings[i].items);
	}
	for (size_t i = 0; i < (size_t)SCRIPT_MAX_THREADS * nv->s->rec.regs.g_len; i++)
		free(nv->regs[i].items);
	free(nv->mem);
	free(nv->regs);
	free(nv->mappings);
	free(nv->modules);
	free(nv->first_seq);
	ts_steps_fini(&nv->steps);
	free(nv);
}

/* ------------------------------------------------------------------------------------------------ state */

bool naive_mem(const struct naive *nv, uint64_t pos, uint32_t process, uint64_t addr, uint8_t *value)
{
	return seen_by_step(nv, mem_log(nv, process, addr), pos, value) ||
	       mem_before(nv, process, addr, nv->first_seq[pos], value);
}

/* The step of effect @seq, which is one of a step. */
static uint64_t step_of(const struct naive *nv, uint32_t seq)
{
	uint64_t lo = 0, hi = nv->n_steps;

	while (hi - lo > 1) {
		uint64_t mid = (lo + hi) / 2;

		if (nv->first_seq[mid] <= seq)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* What a step writes shows after it, what it reads at its position. */
uint64_t naive_next_change(const struct naive *nv, uint64_t pos, uint32_t process, uint64_t addr)
{
	const struct naive_log *log = mem_log(nv, process, addr);
	uint32_t n = entries_before(log, nv->first_seq[pos]);
	uint64_t step;

	if (n == log->n)
		return nv->n_steps + 1;
	step = step_of(nv, log->items[n].seq);
	return step > pos ? step : step + 1;
}

/*
 * Of a thread that waits, where registers are recorded before instructions: what it has when it goes on.  No instruction of
 * it runs until then.  Changes of a register that its last instruction does not write do not count: samples have none.
 */
static uint64_t shown_at(const struct naive *nv, uint64_t pos, uint32_t thread)
{
	uint64_t next = naive_next_step(nv, thread, pos);

	if (!nv->s->rec.is_before || !pos || thread == naive_thread(nv, pos) || naive_prev_step(nv, thread, pos - 1) == TS_NO_POS)
		return pos;
	return next == TS_NO_POS ? pos : next;
}

/* The program counter is what the steps say, not what the registers' effects say. */
bool naive_reg(const struct naive *nv, uint64_t pos, uint32_t thread, uint32_t off, uint8_t *value)
{
	const struct ts_regset *set = &nv->s->rec.regs;
	const struct ts_reg *pc_reg = &set->regs[set->pc];
	uint64_t pc = 0;
	bool is_known;

	if (off < pc_reg->off || off >= pc_reg->off + pc_reg->len) {
		pos = shown_at(nv, pos, thread);
		is_known = seen_by_step(nv, reg_log(nv, thread, off), pos, value) ||
			   shown_before(reg_log(nv, thread, off), nv->first_seq[pos], value);
	} else {
		unsigned byte = off - pc_reg->off;

		is_known = naive_pc(nv, pos, thread, &pc);
		*value = (uint8_t)(pc >> 8 * (set->arch->is_big_endian ? pc_reg->len - 1 - byte : byte));
	}
	if (!is_known)
		*value = 0;
	return is_known;
}

static const struct ts_step *step_at(const struct naive *nv, uint64_t pos)
{
	return &nv->steps.steps[pos];
}

uint32_t naive_thread(const struct naive *nv, uint64_t pos)
{
	return step_at(nv, pos < nv->n_steps ? pos : nv->n_steps - 1)->thread;
}

/* The pc at position N: what the reader says of the end, else behind the last instruction. */
static uint64_t end_pc(const struct naive *nv)
{
	const struct ts_step *last = step_at(nv, nv->n_steps - 1);
	uint64_t pc = last->pc + last->insn_len;

	if (nv->s->end.has_pc)
		return nv->s->end.pc;
	if (last->pc == TS_NO_PC)
		return TS_NO_PC;
	return nv->s->rec.regs.arch->addr_bits == 32 ? (uint32_t)pc : pc;
}

bool naive_pc(const struct naive *nv, uint64_t pos, uint32_t thread, uint64_t *pc)
{
	uint64_t step = naive_next_step(nv, thread, pos);

	*pc = 0;
	if (step != TS_NO_POS)
		*pc = step_at(nv, step)->pc;
	else if (thread == naive_thread(nv, nv->n_steps))
		*pc = end_pc(nv);
	else
		return false;
	return *pc != TS_NO_PC;
}

/* Does the step end this thread, with the thread itself or its process? */
static bool is_end_of(const struct naive *nv, uint64_t step, uint32_t thread)
{
	const struct ts_step *st = step_at(nv, step);
	uint32_t whose = st->thread;

	for (uint32_t i = st->first; i < st->first + st->n_effects; i++) {
		const struct ts_effect *e = &nv->steps.effects[i];

		if (e->kind == TS_FX_THREAD)
			whose = e->item;
		if (e->kind != TS_FX_EVENT)
			continue;
		if (nv->steps.events[e->item].kind == TS_EV_THREAD_END && whose == thread)
			return true;
		if (nv->steps.events[e->item].kind == TS_EV_EXIT &&
		    nv->s->process_of[whose] == nv->s->process_of[thread])
			return true;
	}
	return false;
}

/* A thread lives from its first step until it is ended; one that runs after that had not ended. */
bool naive_is_alive(const struct naive *nv, uint64_t pos, uint32_t thread)
{
	if (thread == naive_thread(nv, pos))
		return true;
	if (naive_prev_step(nv, thread, pos) == TS_NO_POS)
		return false;
	if (naive_next_step(nv, thread, pos) != TS_NO_POS)
		return true;
	for (uint64_t step = naive_prev_step(nv, thread, pos); step < pos; step++) {
		if (is_end_of(nv, step, thread))
			return false;
	}
	return true;
}

const struct naive_mapping *naive_mapping(const struct naive *nv, uint64_t pos, uint32_t process,
					  uint64_t addr)
{
	const struct naive_mappings *list = &nv->mappings[mem_index(nv, process, addr)];
	uint32_t n = list->n;

	while (n && list->items[n - 1].seq >= nv->first_seq[pos])
		n--;
	return n && list->items[n - 1].is_mapped ? &list->items[n - 1] : NULL;
}

/* ------------------------------------------------------------------------------------------- step by step */

static bool is_exec(const struct naive *nv, uint64_t pos, uint32_t process, uint64_t first, uint64_t last)
{
	const struct ts_step *st = step_at(nv, pos);

	return nv->s->process_of[st->thread] == process && st->pc != TS_NO_PC && st->pc >= first &&
	       st->pc <= last;
}

uint64_t naive_next_exec(const struct naive *nv, uint32_t process, uint64_t first, uint64_t last,
			 uint64_t pos)
{
	for (; pos < nv->n_steps; pos++) {
		if (is_exec(nv, pos, process, first, last))
			return pos;
	}
	return TS_NO_POS;
}

uint64_t naive_prev_exec(const struct naive *nv, uint32_t process, uint64_t first, uint64_t last,
			 uint64_t pos)
{
	for (pos = pos < nv->n_steps ? pos + 1 : nv->n_steps; pos-- > 0;) {
		if (is_exec(nv, pos, process, first, last))
			return pos;
	}
	return TS_NO_POS;
}

uint64_t naive_next_step(const struct naive *nv, uint32_t thread, uint64_t pos)
{
	for (; pos < nv->n_steps; pos++) {
		if (step_at(nv, pos)->thread == thread)
			return pos;
	}
	return TS_NO_POS;
}

uint64_t naive_prev_step(const struct naive *nv, uint32_t thread, uint64_t pos)
{
	for (pos = pos < nv->n_steps ? pos + 1 : nv->n_steps; pos-- > 0;) {
		if (step_at(nv, pos)->thread == thread)
			return pos;
	}
	return TS_NO_POS;
}

/* The first (last) event of the kind in a step that @is_wanted, which may be NULL, accepts. */
static const struct ts_event *event_of(const struct naive *nv, uint64_t step, enum ts_event_kind kind,
				       bool is_last,
				       bool (*is_wanted)(const struct ts_stops *, const struct ts_event *),
				       const struct ts_stops *stops, uint32_t *thread)
{
	const struct ts_step *st = step_at(nv, step);
	const struct ts_event *found = NULL;
	uint32_t whose = st->thread;

	for (uint32_t i = st->first; i < st->first + st->n_effects; i++) {
		const struct ts_effect *e = &nv->steps.effects[i];
		const struct ts_event *ev = &nv->steps.events[e->item];

		if (e->kind == TS_FX_THREAD)
			whose = e->item;
		if (e->kind != TS_FX_EVENT || ev->kind != kind || (is_wanted && !is_wanted(stops, ev)) ||
		    (found && !is_last))
			continue;
		found = ev;
		*thread = whose;
	}
	return found;
}

const struct ts_event *naive_next_event(const struct naive *nv, enum ts_event_kind kind, uint64_t pos,
					uint64_t *step, uint32_t *thread)
{
	for (*step = pos; *step < nv->n_steps; ++*step) {
		const struct ts_event *ev = event_of(nv, *step, kind, false, NULL, NULL, thread);

		if (ev)
			return ev;
	}
	return NULL;
}

const struct ts_event *naive_prev_event(const struct naive *nv, enum ts_event_kind kind, uint64_t pos,
					uint64_t *step, uint32_t *thread)
{
	for (*step = pos < nv->n_steps ? pos + 1 : nv->n_steps; (*step)-- > 0;) {
		const struct ts_event *ev = event_of(nv, *step, kind, true, NULL, NULL, thread);

		if (ev)
			return ev;
	}
	return NULL;
}

/* ------------------------------------------------------------------------------------------------ stops */

/* Is what effect @seq, one of step @step, does to the byte the first thing that the step does to it? */
static bool is_first_in_step(const struct naive *nv, uint32_t process, uint64_t addr, uint64_t step,
			     uint32_t seq)
{
	const struct naive_log *log = mem_log(nv, process, addr);

	return entries_before(log, seq) == entries_before(log, nv->first_seq[step]);
}

/*
 * Is one of the bytes of [lo, hi] changed by the value, as far as one can know?  A value that a step
 * @is_sight saw first was there when the step began; others it changed itself.
 */
static bool changes(const struct naive *nv, uint32_t process, const struct ts_effect *e, const uint8_t *value,
		    uint64_t step, uint32_t seq, uint64_t lo, uint64_t hi, bool is_sight)
{
	for (uint64_t addr = lo;; addr++) {
		uint8_t before;

		if (is_sight == (e->kind == TS_FX_READ && is_first_in_step(nv, process, addr, step, seq)) &&
		    (!mem_before(nv, process, addr, seq, &before) || before != value[addr - e->addr]))
			return true;
		if (addr == hi)
			return false;
	}
}

/*
 * A write watchpoint triggers on what changes a byte, or may; a read watchpoint on reads; an access
 * watchpoint on both, changed or not.  Hidden accesses are none: they count for what they change.
 */
static bool triggers(const struct naive *nv, const struct ts_watch *w, const struct ts_effect *e,
		     uint64_t step, uint32_t seq, uint64_t lo, uint64_t hi)
{
	const uint8_t *value = ts_effect_data(&nv->steps, e);
	bool is_access = !e->is_hidden && (e->kind == TS_FX_READ || w->kind == TS_WATCH_ACCESS);

	if (w->kind != TS_WATCH_WRITE && is_access)
		return true;
	if (w->kind == TS_WATCH_READ)
		return false;
	if (!value)
		return e->kind == TS_FX_WRITE;
	return changes(nv, w->process, e, value, step, seq, lo, hi, false);
}

/* Nobody wrote it, but the step saw when it began that it was changed since the position before. */
static bool shows_change(const struct naive *nv, const struct ts_watch *w, const struct ts_effect *e,
			 uint64_t step, uint32_t seq, uint64_t lo, uint64_t hi)
{
	const uint8_t *value = ts_effect_data(&nv->steps, e);

	return w->kind != TS_WATCH_READ && value &&
	       changes(nv, w->process, e, value, step, seq, lo, hi, true);
}

static bool watch_effects(const struct naive *nv, const struct ts_stops *stops, uint64_t step,
			  bool (*is_stop)(const struct naive *nv, const struct ts_watch *w,
			  const struct ts_effect *e, uint64_t step, uint32_t seq, uint64_t lo,
			  uint64_t hi),
			  struct ts_found *found)
{
	const struct ts_step *st = step_at(nv, step);
	uint32_t thread = st->thread;

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &nv->steps.effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (e->kind != TS_FX_READ && e->kind != TS_FX_WRITE)
			continue;
		for (size_t j = 0; j < stops->n_watches; j++) {
			const struct ts_watch *w = &stops->watches[j];
			uint64_t w_last = w->addr + (w->len - 1), e_last = e->addr + (e->len - 1);
			uint64_t lo = w->addr > e->addr ? w->addr : e->addr,
				 hi = w_last < e_last ? w_last : e_last;

			if (nv->s->process_of[thread] != w->process || lo > hi ||
			    !is_stop(nv, w, e, step, nv->first_seq[step] + i, lo, hi))
				continue;
			*found = (struct ts_found){
				.kind = TS_STOP_WATCH, .watch = j, .addr = lo, .thread = thread
			};
			return true;
		}
	}
	return false;
}

/*
 * A step triggers by what it does, and by what the next one sees when it begins: position step + 1 shows
 * that, and position step does not.
 */
static bool watch_step(const struct naive *nv, const struct ts_stops *stops, uint64_t step,
		       struct ts_found *found)
{
	return watch_effects(nv, stops, step, triggers, found) ||
	       (step + 1 < nv->n_steps && watch_effects(nv, stops, step + 1, shows_change, found));
}

static bool break_at(const struct naive *nv, const struct ts_stops *stops, uint64_t pos,
		     struct ts_found *found)
{
	uint32_t thread = naive_thread(nv, pos);
	uint64_t pc = pos < nv->n_steps ? step_at(nv, pos)->pc : end_pc(nv);

	for (size_t i = 0; i < stops->n_breaks && pc != TS_NO_PC; i++) {
		if (stops->breaks[i].addr == pc && stops->breaks[i].process == nv->s->process_of[thread]) {
			*found = (struct ts_found){ .kind = TS_STOP_BREAK, .thread = thread };
			return true;
		}
	}
	return false;
}

static bool is_caught(const struct ts_stops *stops, const struct ts_event *ev)
{
	for (size_t i = 0; i < stops->n_syscalls; i++) {
		if (stops->syscalls[i] == ev->number)
			return true;
	}
	return !stops->n_syscalls;
}

static bool has_returned(const struct ts_stops *stops, const struct ts_event *ev)
{
	return ev->has_ret && is_caught(stops, ev);
}

/* A system call is entered at its step's position and has returned at the next. */
static bool syscall_at(const struct naive *nv, const struct ts_stops *stops, uint64_t pos, bool is_entry,
		       bool is_last, struct ts_found *found)
{
	const struct ts_event *ev = NULL;
	uint32_t thread;

	if (is_entry && pos < nv->n_steps)
		ev = event_of(nv, pos, TS_EV_SYSCALL, is_last, is_caught, stops, &thread);
	else if (!is_entry && pos > 0)
		ev = event_of(nv, pos - 1, TS_EV_SYSCALL, is_last, has_returned, stops, &thread);
	if (ev)
		*found = (struct ts_found){ .kind = is_entry ? TS_STOP_SYSCALL_ENTRY : TS_STOP_SYSCALL_RETURN,
					    .thread = thread,
					    .number = ev->number };
	return ev != NULL;
}

/* Does one who arrives at @pos, having done or undone the step @step, stop there? */
static bool stops_at(const struct naive *nv, const struct ts_stops *stops, uint64_t pos, uint64_t step,
		     bool is_reverse, struct ts_found *found)
{
	if (watch_step(nv, stops, step, found) || break_at(nv, stops, pos, found))
		return true;
	return stops->has_syscalls && (syscall_at(nv, stops, pos, is_reverse, is_reverse, found) ||
				       syscall_at(nv, stops, pos, !is_reverse, is_reverse, found));
}

void naive_search(const struct naive *nv, const struct ts_stops *stops, uint64_t from, uint64_t limit,
		  struct ts_found *found)
{
	bool is_reverse = limit < from;

	for (uint64_t pos = from; pos != limit;) {
		uint64_t step = is_reverse ? pos - 1 : pos;

		pos = is_reverse ? pos - 1 : pos + 1;
		if (stops_at(nv, stops, pos, step, is_reverse, found)) {
			found->pos = pos;
			return;
		}
	}
	*found = (struct ts_found){ .pos = limit, .kind = TS_STOP_END, .thread = naive_thread(nv, limit) };
}
