/* SPDX-License-Identifier: MIT */
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/query/paging.h"
#include "src/query/recorded_regs.h"
#include "src/query/snapshot.h"
#include "thumb.h"

#define N_DECODED 8192u /* a power of two */

/* The keys of two entries, and when each was last used: in one line of the processor's cache. */
struct pair {
	uint64_t pc[2], used[2];
	uint32_t process[2];
};

/* The table of brief facts for the steps of a chunk.  It holds more instructions than are decoded at a time. */
#define N_BRIEFS 32768u /* a power of two */
struct brief {
	uint64_t pc;
	uint64_t first_chunk, end_chunk; /* as of the instruction; 0 and 0: the entry is empty */
	struct ts_does does;
	uint32_t process, n_read;
};

/* Memory around the instruction that was decoded last, as it was at a position: the next one is often there, too. */
#define CODE_ALIGN 64u
struct code_window {
	uint64_t at, n_steps; /* the position, and how much of the recording had been read */
	uint64_t addr;
	uint32_t process;
	bool is_there;
	uint8_t data[2 * CODE_ALIGN], known[2 * CODE_ALIGN];
};

struct ts_insns {
	struct ts_decoder *decoder;           /* owned */
	uint8_t *g;                           /* owned; registers that say the mode, and their known flags */
	struct brief briefs[N_BRIEFS];        /* by pc */
	struct pair pairs[N_DECODED / 2];
	struct ts_decoded decoded[N_DECODED]; /* by pc, in pairs: a loop has the same instructions again and again */
	uint64_t clock;
	struct ts_insn_room room;
	struct ts_decoded aside;              /* outside of the cache */
	uint64_t aside_end;                   /* the position after its step; 0: none */
	struct code_window window;
};

bool ts_query_has_operands(const struct ts_query *q)
{
	return ts_decoder_knows(ts_query_regset(q)->arch);
}

void ts_insns_free(struct ts_insns *x)
{
	if (!x)
		return;
	ts_decoder_free(x->decoder);
	free(x->g);
	free(x->room.g);
	free(x);
}

/* ------------------------------------------------------------------------------------------ what changes */

/*
 * The last chunk up to @chunk in which one of @len bytes at @addr may have become another one; TS_NO_CHUNK if
 * none is found.
 */
static uint64_t last_change(const struct ts_query *q, uint32_t process, uint64_t addr, unsigned len,
			    uint64_t chunk)
{
	uint64_t last = addr > UINT64_MAX - len ? UINT64_MAX : addr + len - 1;

	return ts_query_find_access(q, TS_ACCESS_CHANGE | TS_ACCESS_REPLACE, process, addr, last, chunk, TS_BACKWARDS);
}

/*
 * The first chunk >= @first from which on a machine's mode is the same to the end of @chunk; chunk + 1: none.
 */
static uint64_t first_of_mode(const struct ts_query *q, uint64_t first, uint64_t chunk)
{
	uint64_t end = (chunk + 1) * TS_CHUNK_STEPS;

	if (first <= chunk && ts_query_next_mode(q, first * TS_CHUNK_STEPS) < end)
		first = ts_query_next_mode(q, chunk * TS_CHUNK_STEPS) < end ? chunk + 1 : chunk;
	return first;
}

bool ts_query_code_since(struct ts_query *q, uint32_t process, uint64_t pc, unsigned len, uint64_t pos,
			 uint64_t *first, struct ts_error *err)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS, changed;
	struct ts_translation t;

	if (!ts_query_mode(q, pos) || !ts_paging_is_known(q)) { /* addresses are those of the recording */
		changed = last_change(q, process, pc, len, chunk);
		*first = first_of_mode(q, changed == TS_NO_CHUNK ? 0 : changed + 1, chunk);
		return true;
	}
	*first = chunk + 1;
	if (!ts_translate_at(q, pos, process, pc, &t, err))
		return false;
	if (t.mapping != TS_MAPPED || len > t.page_len || (pc & (t.page_len - 1)) > t.page_len - len)
		return true;
	changed = last_change(q, process, t.phys, len, chunk);
	for (unsigned i = 0; i < t.n_entries; i++)
		changed = ts_nearer(changed, last_change(q, process, t.entries[i].addr, t.entry_len, chunk), TS_BACKWARDS);
	*first = first_of_mode(q, changed == TS_NO_CHUNK ? 0 : changed + 1, chunk);
	return true;
}

/*
 * The first chunk after @chunk in which one of @len bytes of code at @pc may become another one, which they are not
 * before it.  Of a machine, page tables may change: that is the next chunk.
 */
static uint64_t code_until(const struct ts_query *q, uint32_t process, uint64_t pc, unsigned len, uint64_t pos)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS + 1, last = pc > UINT64_MAX - len ? UINT64_MAX : pc + len - 1;

	if (ts_query_mode(q, pos))
		return chunk;
	return ts_query_find_access(q, TS_ACCESS_CHANGE | TS_ACCESS_REPLACE, process, pc, last, chunk, TS_FORWARDS);
}

/* ------------------------------------------------------------------------------------------- instructions */

bool ts_query_op_mode(struct ts_query *q, uint64_t pos, struct ts_op_mode *op_mode)
{
	const struct ts_mode *mode = ts_query_mode(q, pos);
	enum ts_code_size size = mode ? ts_mode_code_size(mode) : TS_CODE_UNKNOWN;

	*op_mode = (struct ts_op_mode){ .is_64 = ts_query_regset(q)->arch->addr_bits == 64 };
	if (size != TS_CODE_UNKNOWN)
		op_mode->is_64 = size == TS_CODE_64;
	return size != TS_CODE_16;
}

static bool need_insns(struct ts_query *q, struct ts_error *err)
{
	struct ts_insns *x = q->insns;

	if (x)
		return true;
	x = calloc(1, sizeof(*x));
	if (!x)
		return ts_no_memory(err, "instructions");
	x->g = malloc(2 * (size_t)ts_query_regset(q)->g_len + 1);
	x->room.g = malloc(2 * (size_t)ts_query_regset(q)->g_len + 1);
	x->decoder = ts_decoder_new(ts_query_regset(q), err);
	if (x->g && x->room.g && x->decoder) {
		q->insns = x;
		return true;
	}
	ts_insns_free(x);
	return ts_no_memory(err, "instructions");
}

struct ts_insn_room *ts_query_insn_room(struct ts_query *q, struct ts_error *err)
{
	return need_insns(q, err) ? &q->insns->room : NULL;
}

bool ts_query_decode(struct ts_query *q, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		     struct ts_operands *ops)
{
	struct ts_error ignored = { 0 };

	return need_insns(q, &ignored) && ts_decoder_decode(q->insns->decoder, mode, pc, bytes, len, ops);
}

/* ------------------------------------------------------------------------------------------- ARM's modes */

/* The longest block of an IT instruction, itself included, before its last instruction. */
#define MAX_BLOCK 14u

/* Which condition the IT instruction with the low byte @it gives its instruction @i, from 0; 16: it has fewer. */
static unsigned block_condition(unsigned it, unsigned i)
{
	unsigned n = 4 - (unsigned)__builtin_ctz(it & 15);

	return i >= n ? 16 : !i ? it >> 4 : (it >> 4 & 14) | (it >> (4 - i) & 1);
}

/*
 * Did the instruction at @it run before step @pos of @thread, with nothing but up to @n instructions of its block
 * between them?  What only looks like an IT instruction, such as the end of a longer one or data, did not.  A step that the
 * recording lacks, or that ran while another thread did, may have.
 */
static bool ran_before(struct ts_query *q, uint64_t pos, const struct ts_decoded *d, uint32_t thread, uint64_t it,
		       unsigned n, bool *ran, struct ts_error *err)
{
	*ran = true;
	for (unsigned i = 1; i <= n + 1 && i <= pos; i++) {
		const struct ts_steps *b;
		const struct ts_step *st = ts_query_step(q, pos - i, &b, err);

		if (!st)
			return false;
		if (st->thread != thread || st->pc == it)
			return true;
		if (st->pc < it || st->pc >= d->pc) {
			*ran = false;
			return true;
		}
	}
	*ran = n + 1 > pos;
	return true;
}

/*
 * The condition that the IT instruction which ends before byte @it of the @len bytes before @d's instruction gives it; 16:
 * it gives none.  *n becomes the number of instructions between them.
 */
static unsigned condition_from(const uint8_t *code, unsigned len, unsigned it, unsigned *n)
{
	unsigned at = it;

	if (code[it - 1] != 0xbf || !(code[it - 2] & 15))
		return 16;
	for (*n = 0; at < len && *n < 4; ++*n)
		at += at + 1 < len && code[at + 1] >= 0xe8 ? 4 : 2;
	return at == len ? block_condition(code[it - 2], *n) : 16;
}

/* Is the instruction, of which @code are the @len bytes before it, in the block of an IT instruction among these? */
static bool find_it(struct ts_decoded *d, struct ts_query *q, uint64_t pos, const uint8_t *code, unsigned len,
		    struct ts_error *err)
{
	uint32_t thread = ts_query_thread(q, pos);

	d->mode.it = 0;
	for (unsigned it = len; it >= 2; it -= 2) {
		unsigned n, condition = condition_from(code, len, it, &n);
		bool ran;

		if (condition == 16)
			continue;
		if (!ran_before(q, pos, d, thread, d->pc - len + it - 2, n, &ran, err))
			return false;
		if (!ran)
			continue;
		d->mode.it = (uint8_t)(condition + 1);
		return true;
	}
	return true;
}

/*
 * Is the status register of the running @thread known at @pos?  Then *is_thumb becomes what it says.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
static bool read_status(struct ts_query *q, uint64_t pos, uint32_t thread, bool *is_known, bool *is_thumb, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(q);
	const struct ts_reg *status = set->flags < 0 ? NULL : &set->regs[set->flags];
	uint8_t *g = q->insns->g, *known = g + set->g_len;

	*is_known = false;
	if (!status)
		return true;
	if (!ts_recorded_regs(q, pos, thread, status->off + status->len, g, known, err) || !ts_query_finish_question(q, err))
		return false;
	*is_known = known[status->off] && known[status->off + 3];
	*is_thumb = *is_known && g[status->off] & TS_THUMB_BIT;
	return true;
}

/* Is it Thumb?  By the status register, or, if it is unknown, by the lengths of instructions (thumb.h). */
static bool find_arm_mode(struct ts_decoded *d, struct ts_query *q, uint64_t pos, uint64_t at, struct ts_error *err)
{
	uint32_t thread = ts_query_thread(q, pos);
	uint8_t code[MAX_BLOCK], known[MAX_BLOCK];
	bool is_known;

	if (!ts_query_regset(q)->arch->has_thumb)
		return true;
	if (!read_status(q, pos, thread, &is_known, &d->mode.is_thumb, err) ||
	    (!is_known && !ts_thumb_at(q, pos, thread, &d->mode.is_thumb, err)))
		return false;
	if (!d->mode.is_thumb || d->pc < MAX_BLOCK)
		return true;
	if (!ts_virtual_mem(q, at, d->process, d->pc - MAX_BLOCK, MAX_BLOCK, code, known, err))
		return false;
	for (unsigned i = 0; i < MAX_BLOCK; i++)
		code[i] = known[i] ? code[i] : 0;
	return find_it(d, q, pos, code, MAX_BLOCK, err);
}

/*
 * Memory at an instruction: ts_virtual_mem() of TS_MAX_INSN bytes.  Bytes of an image cost one read of its
 * file, however many they are.  Therefore more bytes than needed are read at the beginning of a chunk.
 */
static bool read_code(struct ts_query *q, uint64_t at, uint32_t process, uint64_t pc, uint8_t *bytes, uint8_t *known,
		      struct ts_error *err)
{
	struct code_window *w = &q->insns->window;
	uint64_t addr = pc - pc % CODE_ALIGN, n_steps = ts_query_n_steps(q);

	if (at % TS_CHUNK_STEPS || addr > UINT64_MAX - sizeof(w->data))
		return ts_virtual_mem(q, at, process, pc, TS_MAX_INSN, bytes, known, err);
	if (!w->is_there || w->at != at || w->n_steps != n_steps || w->process != process || w->addr != addr) {
		*w = (struct code_window){ .at = at, .n_steps = n_steps, .addr = addr, .process = process };
		if (!ts_virtual_mem(q, at, process, addr, sizeof(w->data), w->data, w->known, err))
			return false;
		w->is_there = true;
	}
	memcpy(bytes, w->data + (pc - addr), TS_MAX_INSN);
	memcpy(known, w->known + (pc - addr), TS_MAX_INSN);
	return true;
}

/* See ts_decoded: the number of bytes, or any if the instruction is repeated or reads what no transfer names. */
static uint32_t count_read(const struct ts_operands *ops)
{
	uint32_t counted = 0, named = 0, n = 0;
	bool has_unnamed;

	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_op_place *from = &ops->transfers[i].from, *to = &ops->transfers[i].to;

		if (to->kind == TS_AT_MEM)
			named |= UINT32_C(1) << to->mem;
		if (from->kind != TS_AT_MEM || counted >> from->mem & 1)
			continue;
		counted |= UINT32_C(1) << from->mem;
		n += ops->mem[from->mem].size;
	}
	named |= counted;
	has_unnamed = ops->reads_unnamed && named != (UINT64_C(1) << ops->n_mem) - 1;
	if ((ops->is_repeated || !n) && (counted || has_unnamed))
		return 1;
	return n;
}

/*
 * The bytes at the instruction in memory of position @at, as far as they are known, in the mode of step @pos.
 */
static bool decode(struct ts_decoded *d, struct ts_query *q, uint64_t pos, uint64_t at, struct ts_error *err)
{
	uint8_t known[TS_MAX_INSN];

	if (!read_code(q, at, d->process, d->pc, d->bytes, known, err))
		return false;
	for (d->len = 0; d->len < sizeof(known) && known[d->len];)
		d->len++;
	d->is_insn = ts_query_op_mode(q, pos, &d->mode);
	if (d->is_insn && !find_arm_mode(d, q, pos, at, err))
		return false;
	d->is_insn = d->is_insn && ts_query_decode(q, d->mode, d->pc, d->bytes, d->len, &d->ops);
	d->n_read = d->is_insn ? count_read(&d->ops) : 0;
	d->does = d->is_insn ? ts_does_of_operands(ts_query_regset(q), &d->ops) : (struct ts_does){ .lacks_code = true };
	*d->text = 0;
	return true;
}

static size_t pair_of(uint64_t pc)
{
	return (pc ^ pc >> 10) % N_DECODED / 2;
}

/*
 * The entry of the instruction at @pc if it was decoded, else the entry to replace: the less recently used of
 * two.
 */
static struct ts_decoded *find_decoded(struct ts_insns *x, uint64_t pc, uint32_t process)
{
	size_t i = pair_of(pc);
	struct pair *two = &x->pairs[i];
	unsigned k = two->used[1] < two->used[0];

	if (two->pc[!k] == pc && two->process[!k] == process)
		k = !k;
	two->pc[k] = pc;
	two->process[k] = process;
	two->used[k] = ++x->clock;
	return &x->decoded[2 * i + k];
}

const struct ts_decoded *ts_query_known_code(struct ts_query *q, uint64_t chunk, const struct ts_step *st)
{
	size_t i = pair_of(st->pc);
	uint32_t process = ts_query_process(q, st->thread);

	for (unsigned k = 0; q->insns && k < 2; k++) {
		const struct ts_decoded *d = &q->insns->decoded[2 * i + k];

		if (d->pc == st->pc && d->process == process && chunk >= d->first_chunk && chunk < d->end_chunk)
			return d;
	}
	return NULL;
}

static size_t brief_of(uint64_t pc)
{
	return (pc ^ pc >> 15) % N_BRIEFS;
}

/* Two instructions may have one entry: the one that was asked for last has it. */
static void put_brief(struct ts_insns *x, const struct ts_decoded *d)
{
	struct brief *e = &x->briefs[brief_of(d->pc)];

	if (d->is_insn && d->ops.flow != TS_OP_SYSCALL)
		*e = (struct brief){ d->pc, d->first_chunk, d->end_chunk, d->does, d->process, d->n_read };
}

struct ts_insn_brief ts_query_brief_of(const struct ts_query *q, const struct ts_operands *ops)
{
	return (struct ts_insn_brief){ .does = ts_does_of_operands(ts_query_regset(q), ops),
				       .n_read = count_read(ops),
				       .len = ops->len,
				       .is_syscall = ops->flow == TS_OP_SYSCALL };
}

void ts_query_note_brief(struct ts_query *q, uint32_t process, uint64_t pc, const struct ts_insn_brief *brief, uint64_t pos,
			 uint64_t first_chunk)
{
	struct ts_error ignored = { 0 };
	struct brief *e = need_insns(q, &ignored) ? &q->insns->briefs[brief_of(pc)] : NULL;

	if (e && !e->end_chunk && !brief->is_syscall)
		*e = (struct brief){ pc, first_chunk, pos / TS_CHUNK_STEPS + 1, brief->does, process, brief->n_read };
}

/*
 * What was decoded before is used again where its bytes cannot have changed.  Memory at the beginning of a
 * chunk is read without replaying steps of it.
 */
struct ts_decoded *ts_query_code(struct ts_query *q, uint64_t pos, struct ts_error *err)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS, first;
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, pos, &b, err);
	struct ts_decoded *d;
	uint32_t process;

	if (!st || !need_insns(q, err))
		return NULL;
	process = ts_query_process(q, st->thread);
	d = find_decoded(q->insns, st->pc, process);
	if (d->pc == st->pc && d->process == process && chunk >= d->first_chunk && chunk < d->end_chunk) {
		put_brief(q->insns, d);
		return d;
	}
	d->pc = st->pc;
	d->process = process;
	d->first_chunk = d->end_chunk = 0;
	d->serial = ++q->n_decoded;
	if (!ts_query_code_since(q, process, d->pc, TS_MAX_INSN, pos, &first, err) ||
	    !decode(d, q, pos, first <= chunk ? chunk * TS_CHUNK_STEPS : pos, err))
		return NULL;
	d->first_chunk = first;
	d->end_chunk = first <= chunk ? code_until(q, process, d->pc, TS_MAX_INSN, pos) : chunk + 1;
	put_brief(q->insns, d);
	return d;
}

const struct ts_decoded *ts_query_code_aside(struct ts_query *q, uint64_t pos, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, pos, &b, err);
	struct ts_decoded *d;

	if (!st || !need_insns(q, err))
		return NULL;
	d = &q->insns->aside;
	if (q->insns->aside_end == pos + 1)
		return d;
	q->insns->aside_end = 0;
	*d = (struct ts_decoded){ .pc = st->pc, .process = ts_query_process(q, st->thread) };
	if (!decode(d, q, pos, pos, err))
		return NULL;
	q->insns->aside_end = pos + 1;
	return d;
}

/* Did something else than what the instruction does happen in the step, or may it have? */
static bool has_event(const struct ts_steps *b, const struct ts_step *st)
{
	if (st->is_undone)
		return true;
	for (unsigned k = 0; b->n_events && k < st->n_effects; k++) {
		if (b->effects[st->first + k].kind == TS_FX_EVENT)
			return true;
	}
	return false;
}

static const struct brief *find_brief(const struct ts_query *q, uint64_t chunk, const struct ts_steps *b,
				      const struct ts_step *st)
{
	const struct brief *e = q->insns ? &q->insns->briefs[brief_of(st->pc)] : NULL;

	if (!e || e->pc != st->pc || chunk < e->first_chunk || chunk >= e->end_chunk ||
	    e->process != ts_query_process(q, st->thread) || has_event(b, st))
		return NULL;
	return e;
}

bool ts_query_known_does(const struct ts_query *q, uint64_t chunk, const struct ts_steps *b, const struct ts_step *st,
			 struct ts_does *does)
{
	const struct brief *e = find_brief(q, chunk, b, st);

	if (e)
		*does = e->does;
	return e;
}

bool ts_query_reads_are_recorded(const struct ts_query *q, uint64_t chunk, const struct ts_steps *b, const struct ts_step *st)
{
	const struct brief *e = find_brief(q, chunk, b, st);
	uint64_t n = 0;

	for (uint32_t i = 0; e && e->n_read && i < st->n_effects; i++) {
		const struct ts_effect *fx = &b->effects[st->first + i];

		if (fx->kind == TS_FX_THREAD)
			break;
		n += fx->kind == TS_FX_READ && !fx->is_hidden ? fx->len : 0;
	}
	return e && (!e->n_read || (ts_query_facts(q)->has_reads && n >= e->n_read));
}

bool ts_query_insn_len(struct ts_query *q, uint64_t pos, uint16_t recorded, uint16_t *len, struct ts_error *err)
{
	const struct ts_decoded *d;

	*len = recorded;
	if (!ts_query_facts(q)->guesses_lengths || !ts_query_has_operands(q))
		return true;
	d = ts_query_code(q, pos, err);
	if (!d)
		return false;
	*len = d->is_insn ? d->ops.len : 0;
	return true;
}

const char *ts_decoded_text(struct ts_query *q, struct ts_decoded *d)
{
	if (!*d->text && (!d->is_insn || d->is_stopped || !ts_decoder_text(q->insns->decoder, d->mode, d->pc, d->bytes, d->len,
							  d->text, sizeof(d->text))))
		*d->text = 0;
	return d->text;
}
