/* SPDX-License-Identifier: MIT */
#include "step_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/places.h"
#include "src/query/memory_window.h"
#include "src/search/writes.h"

/* Powers of two: of a few rows, and after as many plans as that. */
#define FEW_PLANS  64u
#define N_PLANS    16384u
#define MAX_PLACES 20u

/* The bytes of a longer value that are read for a cell: one more than it shows. */
#define MAX_SHOWN (TS_SHOWN_BYTES + 1)

/* A place of an instruction, and its name as it is printed. */
struct place {
	uint8_t kind; /* enum ts_op_place_kind: REG, FLAGS or MEM */
	uint8_t mem;  /* MEM: the operand */
	uint16_t off, len;
	bool is_one_flag; /* FLAGS: one that has a name of its own */
	uint32_t flags;
	char name[20];    /* REG, FLAGS: "$eax" */
};

/* The places of an instruction, kept by its address and bytes. */
struct plan {
	uint64_t pc;
	uint8_t bytes[TS_MAX_INSN];
	uint8_t len;    /* of the instruction */
	bool is_64;
	bool is_repeated;
	uint8_t n_reads, n_writes;
	struct place places[]; /* those that are read, then those that are written */
};

/* A plan that is being made. */
struct draft {
	uint8_t n_reads, n_writes;
	struct place reads[MAX_PLACES], writes[MAX_PLACES];
};

struct ts_step_places {
	struct ts_query *q;
	struct plan **plans;     /* owned, as each is; n_plans of them, NULL where a plan is not made yet */
	size_t n_plans, n_made;
	uint8_t *room;           /* owned; what before and after point into */
	uint8_t *before, *after; /* registers, then which of their bytes are known */
	struct ts_memory_window *window; /* owned */
	uint64_t after_pos;      /* the position of those after; TS_NO_POS: none were read */
	uint32_t after_thread;
};

struct ts_step_places *ts_step_places_new(struct ts_query *q, struct ts_error *err)
{
	size_t g_len = ts_query_regset(q)->g_len;
	struct ts_step_places *p = calloc(1, sizeof(*p));

	if (p) {
		p->q = q;
		p->n_plans = FEW_PLANS;
		p->plans = calloc(p->n_plans, sizeof(struct plan *));
		p->room = p->before = malloc(4 * g_len + 1);
		p->after = p->before + 2 * g_len;
		p->after_pos = TS_NO_POS;
		p->window = ts_memory_window_new(q, err);
	}
	if (p && p->plans && p->room && p->window)
		return p;
	ts_step_places_free(p);
	return ts_no_memory(err, "places of steps");
}

static void free_plans(struct ts_step_places *p)
{
	for (size_t i = 0; p->plans && i < p->n_plans; i++)
		free(p->plans[i]);
	free(p->plans);
}

void ts_step_places_free(struct ts_step_places *p)
{
	if (!p)
		return;
	free_plans(p);
	ts_memory_window_free(p->window);
	free(p->room);
	free(p);
}

/* --------------------------------------------------------------------------------------------------- plans */

static struct place *add(struct place *list, uint8_t *n, struct place place)
{
	if (*n == MAX_PLACES)
		return NULL;
	list[*n] = place;
	return &list[(*n)++];
}

/* Bytes of a register; those of one register that touch each other are one place. */
static void add_register(const struct ts_regset *set, struct place *list, uint8_t *n, uint16_t off, uint16_t len)
{
	const struct ts_reg *reg = ts_regset_at(set, off);

	for (unsigned i = 0; i < *n && reg; i++) {
		struct place *p = &list[i];
		unsigned end = off + len > p->off + p->len ? off + len : p->off + p->len;

		if (p->kind != TS_AT_REG || ts_regset_at(set, p->off) != reg || off > p->off + p->len ||
		    p->off > off + len)
			continue;
		p->off = off < p->off ? off : p->off;
		p->len = (uint16_t)(end - p->off);
		return;
	}
	if (reg)
		add(list, n, (struct place){ .kind = TS_AT_REG, .off = off, .len = len });
}

static void add_place(const struct ts_regset *set, struct place *list, uint8_t *n, const struct ts_op_place *at)
{
	switch (at->kind) {
	case TS_AT_REG:
		add_register(set, list, n, at->off, at->len);
		return;
	case TS_AT_FLAGS:
		for (unsigned i = 0; i < *n; i++) {
			if (list[i].kind == TS_AT_FLAGS) {
				list[i].flags |= at->flags;
				return;
			}
		}
		add(list, n, (struct place){ .kind = TS_AT_FLAGS, .flags = at->flags });
		return;
	case TS_AT_MEM:
		for (unsigned i = 0; i < *n; i++) {
			if (list[i].kind == TS_AT_MEM && list[i].mem == at->mem)
				return;
		}
		add(list, n, (struct place){ .kind = TS_AT_MEM, .mem = at->mem });
		return;
	default:
		return;
	}
}

static void add_address(const struct ts_regset *set, struct draft *plan, uint16_t off, unsigned len)
{
	if (off != TS_NO_OFF16)
		add_register(set, plan->reads, &plan->n_reads, off, (uint16_t)len);
}

/* Has the flag a name of its own: "$ZF"?  Else the register is shown. */
static bool has_name(const struct ts_regset *set, uint32_t flag)
{
	char text[20];

	ts_register_text(set, 0, 0, flag, text, sizeof(text));
	return strcmp(text + 1, set->regs[set->flags].name) != 0;
}

/* Flags that are read are places of their own, as far as they have names. */
static void split_flags(const struct ts_regset *set, struct draft *plan)
{
	for (unsigned i = 0; i < plan->n_reads; i++) {
		uint32_t flags = plan->reads[i].flags;

		if (plan->reads[i].kind != TS_AT_FLAGS)
			continue;
		for (unsigned bit = 0; bit < 32 && flags & (flags - 1); bit++) {
			if (!(flags >> bit & 1) || set->flags < 0 || !has_name(set, UINT32_C(1) << bit) ||
			    !add(plan->reads, &plan->n_reads,
				 (struct place){ .kind = TS_AT_FLAGS, .flags = UINT32_C(1) << bit }))
				continue;
			flags &= ~(UINT32_C(1) << bit);
		}
		plan->reads[i].flags = flags;
		break;
	}
}

static void name_places(const struct ts_regset *set, struct place *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		list[i].is_one_flag = list[i].kind == TS_AT_FLAGS && set->flags >= 0 &&
				      !(list[i].flags & (list[i].flags - 1)) && has_name(set, list[i].flags);
		if (list[i].kind == TS_AT_REG || (list[i].kind == TS_AT_FLAGS && set->flags >= 0))
			ts_register_text(set, list[i].off, list[i].len, list[i].flags, list[i].name,
					 sizeof(list[i].name));
	}
}

static void draft_places(const struct ts_regset *set, struct draft *to, const struct ts_operands *ops)
{
	for (unsigned i = 0; i < ops->n; i++) {
		add_place(set, to->reads, &to->n_reads, &ops->transfers[i].from);
		add_place(set, to->writes, &to->n_writes, &ops->transfers[i].to);
	}
	for (unsigned i = 0; i < ops->n_mem; i++) {
		const struct ts_op_mem *m = &ops->mem[i];

		add_address(set, to, m->base, m->base_len);
		add_address(set, to, m->index, m->index_len);
		add_address(set, to, m->extra, m->extra_len);
	}
	split_flags(set, to);
	name_places(set, to->reads, to->n_reads);
	name_places(set, to->writes, to->n_writes);
}

static struct plan *make_plan(const struct ts_regset *set, const struct ts_decoded *d, const struct ts_operands *ops,
			      struct ts_error *err)
{
	struct draft draft;
	struct plan *plan;

	draft.n_reads = draft.n_writes = 0;
	draft_places(set, &draft, ops);
	plan = malloc(sizeof(*plan) + (draft.n_reads + (size_t)draft.n_writes) * sizeof(*plan->places));
	if (!plan)
		return ts_no_memory(err, "places of steps");
	plan->pc = d->pc;
	memcpy(plan->bytes, d->bytes, sizeof(plan->bytes));
	plan->len = d->ops.len;
	plan->is_64 = d->mode.is_64;
	plan->is_repeated = d->ops.is_repeated;
	plan->n_reads = draft.n_reads;
	plan->n_writes = draft.n_writes;
	memcpy(plan->places, draft.reads, draft.n_reads * sizeof(*plan->places));
	memcpy(plan->places + draft.n_reads, draft.writes, draft.n_writes * sizeof(*plan->places));
	return plan;
}

/* Allocate the larger table.  If memory is exhausted, the small table remains. */
static void use_more_plans(struct ts_step_places *p)
{
	struct plan **plans = calloc(N_PLANS, sizeof(struct plan *));

	p->n_made = 0;
	if (!plans)
		return;
	free_plans(p);
	p->plans = plans;
	p->n_plans = N_PLANS;
}

static bool is_of(const struct plan *plan, const struct ts_decoded *d)
{
	return plan && plan->pc == d->pc && plan->len == d->ops.len && plan->is_64 == d->mode.is_64 &&
	       !memcmp(plan->bytes, d->bytes, plan->len);
}

/* Two plans share an entry: the one that was used last is the first.  Returns NULL if memory is exhausted. */
static const struct plan *plan_of(struct ts_step_places *p, const struct ts_decoded *d, struct ts_error *err)
{
	struct plan **two, *plan;

	if (p->n_made > p->n_plans && p->n_plans < N_PLANS)
		use_more_plans(p);
	two = &p->plans[2 * ((d->pc ^ d->pc >> 13) % (p->n_plans / 2))];
	if (is_of(two[0], d))
		return two[0];
	plan = two[1];
	if (!is_of(plan, d)) {
		plan = make_plan(ts_query_regset(p->q), d, &d->ops, err);
		if (!plan)
			return NULL;
		free(two[1]);
		p->n_made++;
	}
	two[1] = two[0];
	two[0] = plan;
	return plan;
}

/* -------------------------------------------------------------------------------------------------- values */

static bool is_big_endian(const struct ts_step_places *p)
{
	return ts_query_regset(p->q)->arch->is_big_endian;
}

/* The registers of @thread before the step and, if there is one, after it. */
static bool read_registers(struct ts_step_places *p, uint64_t pos, uint32_t thread, struct ts_error *err)
{
	size_t g_len = ts_query_regset(p->q)->g_len;
	bool is_next = pos && p->after_pos == pos && p->after_thread == thread;

	if (is_next) {
		uint8_t *before = p->before;

		p->before = p->after;
		p->after = before; /* those at pos - 1 */
		is_next = ts_query_regs_follow(p->q, pos - 1, thread, p->after, p->after + g_len) &&
			  ts_query_regs_follow(p->q, pos, thread, p->after, p->after + g_len);
	} else if (!ts_query_regs(p->q, pos, thread, p->before, p->before + g_len, err)) {
		return false;
	}
	p->after_pos = TS_NO_POS;
	if (!is_next && !ts_query_regs(p->q, pos + 1, thread, p->after, p->after + g_len, err))
		return false;
	p->after_pos = pos + 1;
	p->after_thread = thread;
	return true;
}

/* The value of flags: of one its bit, of several the register. */
static void put_flags(struct ts_step_places *p, const uint8_t *g, const struct place *place, struct ts_buf *out)
{
	const struct ts_regset *set = ts_query_regset(p->q);
	const struct ts_reg *r = &set->regs[set->flags];
	const uint8_t *known = g + set->g_len + r->off;
	unsigned bit = (unsigned)__builtin_ctz(place->flags), byte = is_big_endian(p) ? r->len - 1 - bit / 8 : bit / 8;

	if (place->is_one_flag && known[byte])
		ts_buf_putc(out, (uint8_t)('0' + (g[r->off + byte] >> bit % 8 & 1)));
	else if (place->is_one_flag)
		ts_buf_puts(out, "?");
	else
		ts_put_value(out, g + r->off, known, r->len, true, is_big_endian(p));
}

/* The memory of an operand whose value in the step is needed. */
struct range {
	uint64_t addr, len;
	bool is_write;    /* the value after the step, not before it */
	bool is_recorded; /* the address is one of an effect: in the recording of a machine a physical one */
};

static bool is_physical(const struct ts_step_places *p, const struct range *r)
{
	return r->is_recorded && ts_query_facts(p->q)->is_physical;
}

/* Returns the recorded bytes of the access; NULL if the step does not have all of them. */
static const uint8_t *find_shown(struct ts_step_places *p, uint64_t pos, const struct range *r, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(p->q, pos, &b, err);

	if (!st || (ts_query_facts(p->q)->is_physical && !r->is_recorded))
		return NULL;
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			break;
		if (ts_effect_is_access(e, r->is_write) && r->addr >= e->addr &&
		    r->addr - e->addr < e->len && r->len <= e->len - (r->addr - e->addr) && ts_effect_data(b, e))
			return ts_effect_data(b, e) + (r->addr - e->addr);
	}
	return NULL;
}

static bool put_memory(struct ts_step_places *p, uint64_t pos, const struct range *r, struct ts_buf *out, struct ts_error *err)
{
	size_t n = r->len < MAX_SHOWN ? (size_t)r->len : MAX_SHOWN;
	uint8_t data[MAX_SHOWN], known[MAX_SHOWN];
	const uint8_t *shown = find_shown(p, pos, r, err);
	bool is_number = r->len == 1 || r->len == 2 || r->len == 4 || r->len == 8;
	uint32_t process = ts_query_process(p->q, ts_query_thread(p->q, pos));

	memset(known, 1, n);
	if (shown)
		memcpy(data, shown, n);
	else if (err->code != TS_OK || !(is_physical(p, r) ? ts_query_mem(p->q, pos + r->is_write, process, r->addr, n, data, known, err) :
							     ts_memory_window_read(p->window, pos + r->is_write, process, r->addr, n, data, known, err)))
		return false;
	ts_put_value(out, data, known, n, is_number, is_big_endian(p));
	return true;
}

static struct ts_op_state state_before(const struct ts_step_places *p)
{
	const struct ts_regset *set = ts_query_regset(p->q);
	struct ts_op_state state = { .arch = set->arch, .g = p->before, .known = p->before + set->g_len };

	state.flags_off = set->flags < 0 ? TS_NO_OFF16 : (uint16_t)set->regs[set->flags].off;
	return state;
}

static bool find_address(struct ts_step_places *p, const struct ts_operands *ops, unsigned i, uint64_t *addr)
{
	struct ts_op_state state = state_before(p);

	return ts_operands_addr(ops, i, &state, addr);
}

bool ts_step_places_value(struct ts_step_places *p, uint64_t pos, const struct ts_operands *ops,
			  const struct ts_op_place *place, struct ts_buf *out, struct ts_error *err)
{
	uint32_t g_len = ts_query_regset(p->q)->g_len;
	struct range r = { .len = place->len };

	if (!read_registers(p, pos, ts_query_thread(p->q, pos), err))
		return false;
	if (place->kind == TS_AT_REG)
		ts_put_value(out, p->before + place->off, p->before + g_len + place->off, place->len, true,
			     is_big_endian(p));
	if (place->kind != TS_AT_MEM || !find_address(p, ops, place->mem, &r.addr))
		return true;
	r.addr += place->off;
	return put_memory(p, pos, &r, out, err);
}

/* ----------------------------------------------------------------------------------------------- one list */

/* One list of the row that is being made. */
struct list {
	struct ts_row *row;
	unsigned column;
	bool is_write;
	uint64_t pos;
	uint32_t thread;
};

static void put_register(struct ts_step_places *p, const struct list *l, const struct place *place)
{
	const uint8_t *g = l->is_write ? p->after : p->before;
	size_t g_len = ts_query_regset(p->q)->g_len;
	struct ts_buf *out = &l->row->texts;

	ts_buf_puts(out, place->name);
	ts_buf_putc(out, '=');
	if (place->kind == TS_AT_FLAGS)
		put_flags(p, g, place, out);
	else
		ts_put_value(out, g + place->off, g + g_len + place->off, place->len, true, is_big_endian(p));
	ts_row_list_end(l->row, l->column);
}

static bool put_range(struct ts_step_places *p, const struct list *l, const struct range *r, struct ts_error *err)
{
	struct ts_buf *out = &l->row->texts;

	if (is_physical(p, r))
		ts_buf_puts(out, "phys:");
	ts_put_hex(out, r->addr);
	ts_buf_putc(out, ',');
	ts_put_decimal(out, r->len);
	ts_buf_putc(out, '=');
	if (!put_memory(p, l->pos, r, out, err))
		return false;
	ts_row_list_end(l->row, l->column);
	return true;
}

/* The accesses of memory that the recording shows. */
static bool put_recorded_memory(struct ts_step_places *p, const struct list *l, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(p->q, l->pos, &b, err);
	uint32_t n = st ? st->n_effects : 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ts_effect *e;

		st = ts_query_step(p->q, l->pos, &b, err); /* reading a value may end the loan */
		if (!st)
			return false;
		e = &b->effects[st->first + i];
		if (e->kind == TS_FX_THREAD)
			break;
		if (!ts_effect_is_access(e, l->is_write) || (!l->is_write && st->pc - e->addr < e->len))
			continue;
		if (!put_range(p, l, &(struct range){ e->addr, e->len, l->is_write, true }, err))
			return false;
	}
	return st != NULL;
}

static bool put_places(struct ts_step_places *p, const struct list *l, const struct plan *plan,
		       const struct ts_operands *ops, struct ts_error *err)
{
	const struct place *list = plan->places + (l->is_write ? plan->n_reads : 0);
	unsigned n = l->is_write ? plan->n_writes : plan->n_reads;
	struct range r = { .is_write = l->is_write };
	bool is_unplaced = false;

	for (unsigned i = 0; i < n; i++) {
		if (list[i].kind != TS_AT_MEM)
			put_register(p, l, &list[i]);
		else if (plan->is_repeated || !find_address(p, ops, list[i].mem, &r.addr))
			is_unplaced = true;
		else {
			r.len = ops->mem[list[i].mem].size;
			if (!put_range(p, l, &r, err))
				return false;
		}
	}
	return !is_unplaced || put_recorded_memory(p, l, err);
}

/* A register of which the recording shows that the step read or wrote it. */
static void put_recorded_register(struct ts_step_places *p, const struct list *l, const struct ts_reg *r)
{
	size_t g_len = ts_query_regset(p->q)->g_len;
	struct place place = { .kind = TS_AT_REG, .off = (uint16_t)r->off, .len = (uint16_t)r->len };

	if (l->is_write && !memchr(p->before + g_len + r->off, 0, r->len) &&
	    !memcmp(p->before + r->off, p->after + r->off, r->len))
		return;
	snprintf(place.name, sizeof(place.name), "$%s", r->name);
	put_register(p, l, &place);
}

static bool shows(const struct ts_steps *b, const struct ts_step *st, bool is_write, const struct ts_reg *r)
{
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			break;
		if (e->kind == (is_write ? TS_FX_REG_WRITE : TS_FX_REG_READ) && e->addr < r->off + r->len &&
		    e->addr + e->len > r->off)
			return true;
	}
	return false;
}

static bool put_recorded(struct ts_step_places *p, const struct list *l, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(p->q);
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(p->q, l->pos, &b, err);

	for (unsigned i = 0; st && i < set->n_regs; i++) {
		if ((int)i != set->pc && shows(b, st, l->is_write, &set->regs[i]))
			put_recorded_register(p, l, &set->regs[i]);
	}
	return st && put_recorded_memory(p, l, err);
}

/* A list without places is null. */
static void end_list(const struct list *l)
{
	if (!l->row->cells[l->column].number)
		l->row->cells[l->column] = (struct ts_cell){ .kind = TS_CELL_NULL };
}

static bool put_lists(struct ts_step_places *p, uint64_t pos, const struct plan *plan, const struct ts_operands *ops,
		      struct ts_row *row, unsigned reads, unsigned writes, struct ts_error *err)
{
	bool done = true;

	for (unsigned is_write = 0; done && is_write < 2; is_write++) {
		struct list l = { row, is_write ? writes : reads, is_write, pos, ts_query_thread(p->q, pos) };

		ts_row_list(row, l.column);
		done = plan ? put_places(p, &l, plan, ops, err) : put_recorded(p, &l, err);
		end_list(&l);
	}
	return done;
}

/* The places of @ops, which are those of @d or a part of them. */
static bool put_part(struct ts_step_places *p, uint64_t pos, const struct ts_decoded *d, const struct ts_operands *ops,
		     struct ts_row *row, unsigned reads, unsigned writes, struct ts_error *err)
{
	struct plan *plan = make_plan(ts_query_regset(p->q), d, ops, err);
	bool done = plan && put_lists(p, pos, plan, ops, row, reads, writes, err);

	free(plan);
	return done;
}

/*
 * For an instruction whose condition does not hold: the remaining places, and the count or the source that is
 * zero.
 */
static bool put_rest(struct ts_step_places *p, uint64_t pos, const struct ts_decoded *d, struct ts_row *row, unsigned reads,
		     unsigned writes, struct ts_error *err)
{
	struct ts_operands rest = d->ops;

	ts_operands_leave_out(&rest);
	if (rest.condition == TS_IF_COUNT && rest.n < TS_MAX_TRANSFERS)
		rest.transfers[rest.n++] = (struct ts_transfer){
			.from = { .kind = TS_AT_REG, .off = rest.cond_off, .len = rest.cond_len } };
	return put_part(p, pos, d, &rest, row, reads, writes, err);
}

/* For a system call without a result: of its result registers, only those that changed in the recording. */
static bool put_call(struct ts_step_places *p, uint64_t pos, const struct ts_decoded *d, struct ts_row *row, unsigned reads,
		     unsigned writes, struct ts_error *err)
{
	size_t g_len = ts_query_regset(p->q)->g_len; /* then whether each byte is known */
	struct ts_operands rest = d->ops;
	unsigned n = 0;

	for (unsigned i = 0; i < rest.n; i++) {
		const struct ts_transfer *t = &rest.transfers[i];
		bool is_result = (t->way == TS_WAY_SYSTEM || t->way == TS_WAY_SYSCALL) && t->to.kind == TS_AT_REG;
		const uint8_t *before = p->before + t->to.off, *after = p->after + t->to.off;

		if (!is_result || memcmp(before, after, t->to.len) != 0 || memcmp(before + g_len, after + g_len, t->to.len) != 0)
			rest.transfers[n++] = *t;
	}
	rest.n = (uint8_t)n;
	return put_part(p, pos, d, &rest, row, reads, writes, err);
}

bool ts_step_places_put(struct ts_step_places *p, uint64_t pos, const struct ts_decoded *d, struct ts_row *row,
			unsigned reads, unsigned writes, struct ts_error *err)
{
	const struct plan *plan = d->is_insn ? plan_of(p, d, err) : NULL;
	struct ts_op_state state;
	unsigned omits = 0;

	if ((d->is_insn && !plan) || !read_registers(p, pos, ts_query_thread(p->q, pos), err))
		return false;
	state = state_before(p);
	if (d->is_insn && !ts_step_omits(p->q, pos, d, &state, &omits, err))
		return false;
	if (omits & TS_OMITS_CONDITIONAL)
		return put_rest(p, pos, d, row, reads, writes, err);
	if (omits & TS_OMITS_RESULT)
		return put_call(p, pos, d, row, reads, writes, err);
	return put_lists(p, pos, plan, &d->ops, row, reads, writes, err);
}
