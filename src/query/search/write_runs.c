/* SPDX-License-Identifier: MIT */
#include "write_runs.h"

#include <stdlib.h>
#include <string.h>

#include "src/query/code/insns.h"
#include "src/query/paging.h"
#include "scan.h"
#include "src/query/snapshot.h"
#include "src/base/collections/vec.h"

/* A run whose code is another one more often may do anything. */
#define MAX_VERSIONS 8u
static const struct ts_does anything = { UINT64_MAX, UINT32_MAX, true, false };
static const struct ts_insn_brief not_known = { .does = { .lacks_code = true } };

/* The effects of instructions by their bytes, kept because the same bytes occur in many runs. */
#define N_KNOWN 4096u /* a power of two */

struct known_insn {
	uint8_t bytes[TS_MAX_INSN];
	uint8_t len; /* 0: empty */
	struct ts_op_mode mode;
	struct ts_insn_brief brief; /* its len is 0 if the bytes are no instruction */
};

struct ts_write_runs {
	struct ts_operands ops; /* of the instruction that is examined */
	struct ts_does *does;   /* owned; by run: what any of its instructions does */
	uint32_t n;
	size_t cap;
	bool is_done;
	bool lacks_code; /* of any run */
	struct known_insn known[N_KNOWN];
};

void ts_write_runs_free(struct ts_write_runs *f)
{
	if (f)
		free(f->does);
	free(f);
}

void ts_write_runs_refresh(struct ts_query *q)
{
	if (!q->write_runs || !q->write_runs->is_done)
		return;
	ts_write_runs_free(q->write_runs);
	q->write_runs = NULL;
}

bool ts_query_has_write_runs(const struct ts_query *q)
{
	return ts_query_has_operands(q) && (!ts_query_mode(q, 0) || ts_query_next_mode(q, 0) == TS_NO_POS);
}

/* -------------------------------------------------------------------------------------- what a run does */

static void join(struct ts_does *to, const struct ts_does *more)
{
	to->regs |= more->regs;
	to->flags |= more->flags;
	to->is_branch |= more->is_branch;
	to->lacks_code |= more->lacks_code;
}

static uint32_t hash(const uint8_t *bytes, size_t len)
{
	uint64_t h = len;

	for (size_t i = 0; i < len; i++)
		h = (h ^ bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 40) % N_KNOWN;
}

/* Decode the instruction. */
static struct ts_insn_brief decode(struct ts_write_runs *f, struct ts_query *q, struct ts_op_mode mode,
			     const uint8_t *bytes, size_t len)
{
	size_t n = len < TS_MAX_INSN ? len : TS_MAX_INSN;
	struct known_insn *k = &f->known[hash(bytes, n)];

	if (k->len == n && k->mode.is_64 == mode.is_64 && k->mode.is_thumb == mode.is_thumb &&
	    !memcmp(k->bytes, bytes, n))
		return k->brief;
	k->len = (uint8_t)n;
	k->mode = mode;
	memcpy(k->bytes, bytes, n);
	k->brief = not_known;
	if (ts_query_decode(q, mode, 0, bytes, n, &f->ops))
		k->brief = ts_query_brief_of(q, &f->ops);
	return k->brief;
}

/* Add the effects of an instruction; of ARM those in both modes, because the bytes do not determine the mode. */
static struct ts_insn_brief take_insn(struct ts_write_runs *f, struct ts_query *q, struct ts_op_mode mode,
				      const uint8_t *bytes, size_t len, struct ts_does *does)
{
	struct ts_insn_brief brief = decode(f, q, mode, bytes, len);

	join(does, &brief.does);
	if (!ts_query_regset(q)->arch->has_thumb)
		return brief;
	mode.is_thumb = true;
	brief = decode(f, q, mode, bytes, len);
	join(does, &brief.does);
	return not_known;
}

/* Bytes of the run, and of what its last instruction may have if its length is unknown. */
static unsigned len_of(const struct ts_run_facts *run)
{
	uint8_t last = run->lens[run->n - 1];

	return (unsigned)(run->last - run->first) + (last ? last : TS_MAX_INSN);
}

/* The effects of the run's instructions by the bytes in memory in the chunk of @last, which are the same from chunk @first on. */
static bool take_version(struct ts_write_runs *f, struct ts_query *q, const struct ts_run_facts *run, uint64_t first,
			 uint64_t last, struct ts_does *does, struct ts_error *err)
{
	uint64_t pos = last - last % TS_CHUNK_STEPS, pc = run->first;
	uint8_t bytes[TS_MAX_RUN_LEN * UINT8_MAX], known[sizeof(bytes)];
	unsigned len = len_of(run), at = 0;
	struct ts_op_mode mode;

	if (!ts_virtual_mem(q, pos, run->process, run->first, len, bytes, known, err))
		return false;
	if (!ts_query_op_mode(q, pos, &mode)) {
		*does = not_known.does;
		return true;
	}
	for (unsigned i = 0; i < run->n; at += run->lens[i], pc += run->lens[i++]) {
		unsigned n = 0, most = run->lens[i] ? run->lens[i] : TS_MAX_INSN;
		struct ts_insn_brief brief = not_known;

		while (n < most && known[at + n])
			n++;
		if (n)
			brief = take_insn(f, q, mode, bytes + at, n, does);
		else
			does->lacks_code = true;
		if (brief.len && brief.len == run->lens[i] && !ts_query_mode(q, pos))
			ts_query_note_brief(q, run->process, pc, &brief, pos, first);
	}
	return true;
}

/* As above, of an execution, of which step @start is the first, each at its step: the code changes there. */
static bool take_steps(struct ts_query *q, uint64_t start, uint64_t end, struct ts_does *does, struct ts_error *err)
{
	for (uint64_t pos = start; pos < end; pos++) {
		const struct ts_decoded *d = ts_query_code(q, pos, err);

		if (!d)
			return false;
		join(does, &d->does);
	}
	return true;
}

static bool take_run(struct ts_write_runs *f, struct ts_query *q, uint32_t i, const struct ts_run_facts *run,
		     struct ts_does *does, struct ts_error *err)
{
	uint64_t pos = q->snap.n_steps - 1, start, first;

	for (unsigned n = 0; (start = ts_query_prev_start(q, i, pos, 0)) != TS_NO_POS; n++) {
		uint64_t end = start + run->n <= pos ? start + run->n : pos + 1;

		if (n == MAX_VERSIONS) {
			*does = anything;
			return true;
		}
		if (!ts_query_code_since(q, run->process, run->first, len_of(run), pos, &first, err))
			return false;
		if (first * TS_CHUNK_STEPS > start && end <= pos) {
			pos = end - 1; /* it is not that code which was executed */
			if (!ts_query_code_since(q, run->process, run->first, len_of(run), pos, &first, err))
				return false;
		}
		if (first * TS_CHUNK_STEPS > start) {
			first = start;
			if (!take_steps(q, start, end, does, err))
				return false;
		} else {
			if (!take_version(f, q, run, first, pos, does, err))
				return false;
			first *= TS_CHUNK_STEPS;
		}
		if (!first)
			break;
		pos = first - 1;
	}
	return true;
}

static struct ts_write_runs *need_write_runs(struct ts_query *q)
{
	if (!q->write_runs)
		q->write_runs = calloc(1, sizeof(*q->write_runs));
	return q->write_runs;
}

enum ts_next ts_query_need_write_runs(struct ts_query *q, unsigned n_runs, struct ts_error *err)
{
	struct ts_write_runs *f = need_write_runs(q);
	struct ts_run_facts run;

	while (f && !f->is_done) {
		struct ts_does does = { 0 };

		f->is_done = !ts_query_run(q, f->n, &run);
		if (f->is_done)
			break;
		if (!n_runs--)
			return TS_MORE;
		if (!take_run(f, q, f->n, &run, &does, err))
			return TS_FAIL;
		f->lacks_code |= does.lacks_code;
		if (!TS_PUSH(f->does, f->n, f->cap, does)) {
			f = NULL;
			break;
		}
	}
	if (f)
		return TS_END;
	ts_no_memory(err, "what instructions do");
	return TS_FAIL;
}

bool ts_query_knows_write_runs(const struct ts_query *q)
{
	return q->write_runs && q->write_runs->is_done;
}

bool ts_query_lacks_code(const struct ts_query *q)
{
	return !q->write_runs || !q->write_runs->is_done || q->write_runs->lacks_code;
}

/* ----------------------------------------------------------------------------------------------- a search */

bool ts_run_search_init(struct ts_run_search *s, const struct ts_query *q, const struct ts_does *does,
			struct ts_error *err)
{
	const struct ts_write_runs *f = q->write_runs;
	uint32_t n = ts_query_n_runs(q);

	*s = (struct ts_run_search){ .best = TS_NO_POS };
	s->runs = malloc((n + (size_t)1) * sizeof(*s->runs));
	if (!s->runs)
		return ts_no_memory(err, "what instructions do");
	for (uint32_t i = 0; i < n; i++) {
		if (!f || i >= f->n || ts_does_share(&f->does[i], does))
			s->runs[s->n++] = (struct ts_write_run){ .run = i, .start = TS_NO_POS };
	}
	return true;
}

void ts_run_search_fini(struct ts_run_search *s)
{
	free(s->runs);
	*s = (struct ts_run_search){ 0 };
}

static void take_best(struct ts_run_search *s, const struct ts_write_run *r)
{
	if (s->best != TS_NO_POS && r->start <= s->best)
		return;
	s->best = r->start;
	s->best_run = r->run;
}

/* The last start that is known, at @pos or before. */
static void take_known(struct ts_run_search *s, uint64_t pos)
{
	s->best = TS_NO_POS;
	for (size_t i = 0; i < s->n; i++) {
		if (s->runs[i].is_exact && s->runs[i].start <= pos)
			take_best(s, &s->runs[i]);
	}
}

/*
 * Look for the run's last start at @pos or before, if it can be after the best one so far.  Returns false if
 * none is found at all.
 */
static bool look_up(struct ts_run_search *s, struct ts_write_run *r, const struct ts_query *q, uint64_t pos)
{
	uint64_t found = ts_query_prev_start(q, r->run, pos, s->best == TS_NO_POS ? 0 : s->best);

	if (found == TS_NO_POS && s->best == TS_NO_POS)
		return false;
	r->is_exact = found != TS_NO_POS;
	r->start = r->is_exact ? found : s->best;
	if (r->is_exact)
		take_best(s, r);
	return true;
}

bool ts_run_search_prev(struct ts_run_search *s, const struct ts_query *q, uint64_t pos, unsigned n_looks,
			uint64_t *first, uint64_t *end)
{
	struct ts_run_facts run;

	if (!s->at)
		take_known(s, pos);
	while (s->at < s->n) {
		struct ts_write_run *r = &s->runs[s->at];
		uint64_t top = r->start < pos ? r->start : pos;

		if ((r->is_exact && r->start <= pos) || (s->best != TS_NO_POS && top <= s->best)) {
			s->at++;
			continue;
		}
		if (!n_looks--)
			return false;
		if (look_up(s, r, q, top))
			s->at++;
		else
			*r = s->runs[--s->n];
	}
	s->at = 0;
	*first = s->best;
	*end = s->best != TS_NO_POS && ts_query_run(q, s->best_run, &run) ? s->best + run.n : s->best;
	return true;
}
