/* SPDX-License-Identifier: MIT */
/*
 * The machine description and the initial registers.
 *
 *      architecture ("x641"), u8 bytes of a physical address (P)
 *      u32 regions: start (P), length (P)
 *      u32 registers: u16 id, u16 length, name
 *      u32 operations: u8 id, u16 register, u8 kind, operand (as long as the register)
 *      u32 static registers: name, u8 length, value
 *
 * A name is a length byte and that many bytes.  Registers and operations share one space of ids.
 */
#include "regs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct name {
	const uint8_t *p;
	uint64_t off; /* of its length in the file */
	uint8_t len;
};

static struct name take_name(struct ts_cursor *c)
{
	struct name n = { .off = c->off };

	n.len = ts_u8(c);
	n.p = ts_take(c, n.len);
	if (!n.p)
		n.len = 0;
	return n;
}

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int diff = x->len != y->len ? x->len - y->len : memcmp(x->p, y->p, x->len);

	return diff ? diff : (x->off > y->off) - (x->off < y->off);
}

/* Check that no two names are equal; sorts them. */
static bool check_names(struct name *names, size_t n, const char *what, struct ts_error *err)
{
	qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 1; i < n; i++)
		if (names[i].len == names[i - 1].len && !memcmp(names[i].p, names[i - 1].p, names[i].len))
			return ts_fail(err, TS_ECORRUPT, names[i].off,
				       "machine description: there are two %s \"%.*s\"", what,
				       (int)names[i].len, (const char *)names[i].p);
	return true;
}

/* An array for @n items, or a failure at the cursor. */
static void *items(struct ts_cursor *c, uint64_t n, size_t item_len)
{
	void *p = calloc(n ? (size_t)n : 1, item_len);

	if (!p)
		ts_no_memory(c->err, "the machine description");
	return p;
}

/* ------------------------------------------------------------------------------------------------ regions */

static int compare_spans(const void *a, const void *b)
{
	const struct rvn_span *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Make the list of the ranges that the regions cover, in order and without overlap. */
static bool make_spans(struct rvn *rec, struct ts_cursor *c)
{
	struct rvn_span *spans = items(c, rec->n_regions, sizeof(*spans));
	uint32_t n = 0;

	rec->spans = spans;
	if (!spans)
		return false;
	for (uint32_t i = 0; i < rec->n_regions; i++)
		if (rec->regions[i].len)
			spans[n++] = (struct rvn_span){ rec->regions[i].start,
							rec->regions[i].start + (rec->regions[i].len - 1) };
	qsort(spans, n, sizeof(*spans), compare_spans);
	for (uint32_t i = 0; i < n; i++) {
		struct rvn_span *last = rec->n_spans ? &spans[rec->n_spans - 1] : NULL;

		if (!last || (spans[i].first > last->last && spans[i].first - last->last > 1))
			spans[rec->n_spans++] = spans[i];
		else if (spans[i].last > last->last)
			last->last = spans[i].last;
	}
	return true;
}

static bool read_region(struct rvn *rec, struct ts_cursor *c, struct rvn_region *r)
{
	uint64_t max = UINT64_MAX >> (64 - 8 * rec->addr_len), off = c->off;
	const uint8_t *p = ts_take(c, 2u * rec->addr_len);

	if (!p)
		return false;
	r->start = rvn_le(p, rec->addr_len);
	r->len = rvn_le(p + rec->addr_len, rec->addr_len);
	if (r->len && r->len - 1 > max - r->start)
		return ts_fail(c->err, TS_ECORRUPT, off,
			       "machine description: a region of %" PRIu64 " bytes at 0x%" PRIx64
			       " passes the last address 0x%" PRIx64,
			       r->len, r->start, max);
	return ts_add(rec->memory_len, r->len, &rec->memory_len) ||
	       ts_fail(c->err, TS_ECORRUPT, off,
		       "machine description: the regions have more than 2^64 bytes together");
}

static bool read_regions(struct rvn *rec, struct ts_cursor *c)
{
	uint64_t n = ts_count(c, ts_u32le(c), 2u * rec->addr_len);

	if (n > RVN_MAX_REGIONS)
		return ts_fail(c->err, TS_ELIMIT, c->off - 4,
			       "machine description: %" PRIu64 " regions, %u is the limit", n,
			       RVN_MAX_REGIONS);
	rec->regions = items(c, n, sizeof(*rec->regions));
	if (!rec->regions || !ts_ok(c))
		return false;
	for (; rec->n_regions < n; rec->n_regions++)
		if (!read_region(rec, c, &rec->regions[rec->n_regions]))
			return false;
	return make_spans(rec, c);
}

/* ---------------------------------------------------------------------------------------------- registers */

static bool read_register(struct rvn *rec, struct ts_cursor *c, struct name *name)
{
	struct rvn_reg *r = &rec->regs[rec->n_regs];
	uint64_t off = c->off;

	r->kept = RVN_NOT_KEPT;
	r->id = ts_u16le(c);
	r->len = ts_u16le(c);
	*name = take_name(c);
	if (!ts_ok(c))
		return false;
	r->name = name->p;
	r->name_len = name->len;
	if (!r->name_len)
		ts_recording_warn(&rec->base, "a register has no name");
	if (!r->len)
		return ts_fail(c->err, TS_ECORRUPT, off, "machine description: register %u has a length of 0",
			       r->id);
	if (r->len > RVN_MAX_REG_LEN)
		return ts_fail(c->err, TS_ELIMIT, off,
			       "machine description: register %u has %u bytes, %u is the limit", r->id,
			       r->len, RVN_MAX_REG_LEN);
	if (rec->reg_of_id[r->id] != RVN_NO_REG)
		return ts_fail(c->err, TS_ECORRUPT, off,
			       "machine description: there are two registers of id %u", r->id);
	rec->reg_of_id[r->id] = (uint16_t)rec->n_regs++;
	return true;
}

static bool read_register_list(struct rvn *rec, struct ts_cursor *c)
{
	uint64_t off = c->off, n = ts_count(c, ts_u32le(c), 5);
	struct name *names;
	bool done;

	if (n > UINT16_MAX)
		return ts_fail(c->err, TS_ELIMIT, off,
			       "machine description: %" PRIu64 " registers, %u is the limit", n, UINT16_MAX);
	rec->regs = items(c, n, sizeof(*rec->regs));
	rec->reg_of_id = items(c, UINT16_MAX + 1, sizeof(*rec->reg_of_id));
	names = items(c, n, sizeof(*names));
	done = rec->regs && rec->reg_of_id && names && ts_ok(c);
	if (done)
		memset(rec->reg_of_id, 0xff, (UINT16_MAX + 1) * sizeof(*rec->reg_of_id)); /* RVN_NO_REG */
	while (done && rec->n_regs < n)
		done = read_register(rec, c, &names[rec->n_regs]);
	done = done && check_names(names, (size_t)n, "registers", c->err);
	free(names);
	return done;
}

/* --------------------------------------------------------------------------------------------- operations */

static bool read_operation(struct rvn *rec, struct ts_cursor *c)
{
	uint64_t off = c->off;
	uint8_t id = ts_u8(c);
	uint16_t target = rec->reg_of_id[ts_u16le(c)];
	struct rvn_op *op = &rec->ops[id];

	if (ts_ok(c) && id == RVN_LONG_ID)
		return ts_fail(
			c->err, TS_ECORRUPT, off,
			"machine description: an operation has the id 255, which is reserved for ids of two bytes");
	if (ts_ok(c) && (op->reg != RVN_NO_REG || rec->reg_of_id[id] != RVN_NO_REG))
		return ts_fail(c->err, TS_ECORRUPT, off,
			       "machine description: the id %u of an operation is that of another %s", id,
			       op->reg != RVN_NO_REG ? "one" : "register");
	if (ts_ok(c) && target == RVN_NO_REG)
		return ts_fail(c->err, TS_ECORRUPT, off,
			       "machine description: operation %u is on an unknown register", id);
	op->kind = ts_u8(c);
	if (ts_ok(c) && op->kind > RVN_OR)
		return ts_fail(c->err, TS_ECORRUPT, off,
			       "machine description: operation %u is of kind %u, 0 to 3 are known", id,
			       op->kind);
	if (!ts_ok(c))
		return false;
	op->operand = ts_take(c, rec->regs[target].len);
	op->reg = target;
	rec->regs[target].is_op_target = true;
	return ts_ok(c);
}

static bool read_operations(struct rvn *rec, struct ts_cursor *c)
{
	uint64_t n = ts_count(c, ts_u32le(c), 5);

	for (unsigned i = 0; i < 256; i++)
		rec->ops[i].reg = RVN_NO_REG;
	while (n--)
		if (!read_operation(rec, c))
			return false;
	return ts_ok(c);
}

/* --------------------------------------------------------------------------------------- static registers */

static bool is_name(const struct name *n, const char *text)
{
	return n->len == strlen(text) && !memcmp(n->p, text, n->len);
}

static bool read_static_registers(struct rvn *rec, struct ts_cursor *c)
{
	uint64_t n = ts_count(c, ts_u32le(c), 2);
	struct name *names = items(c, n, sizeof(*names));
	bool done = names != NULL;

	for (uint64_t i = 0; done && i < n; i++) {
		const uint8_t *p;
		uint8_t len;

		names[i] = take_name(c);
		len = ts_u8(c);
		p = ts_take(c, len);
		done = ts_ok(c);
		if (done && len && is_name(&names[i], "cpuid_max_phy_addr"))
			rec->base.phys_bits = *p < 52 ? *p : 52;
	}
	done = done && check_names(names, (size_t)n, "static registers", c->err);
	free(names);
	return done;
}

bool rvn_read_machine(struct rvn *rec, struct ts_cursor *c)
{
	const uint8_t *arch = ts_take(c, 4);
	uint64_t off = c->off;

	rec->addr_len = ts_u8(c);
	if (!ts_ok(c))
		return false;
	for (unsigned i = 0; i < 4; i++)
		rec->arch[i] = (char)(arch[i] >= ' ' && arch[i] < 0x7f ? arch[i] : '?');
	if (strcmp(rec->arch, "x641") && strcmp(rec->arch, "arm1"))
		return ts_fail(c->err, TS_EUNSUPPORTED, off - 4,
			       "machine description: architecture \"%s\", x641 and arm1 are known",
			       rec->arch);
	if (rec->addr_len < 1 || rec->addr_len > 8)
		return ts_fail(c->err, TS_ECORRUPT, off,
			       "machine description: physical addresses of %u bytes; 1 to 8 are possible",
			       rec->addr_len);
	return read_regions(rec, c) && read_register_list(rec, c) && read_operations(rec, c) &&
	       read_static_registers(rec, c);
}

/* -------------------------------------------------------------------------------------- initial registers */

static void tell_initial_x87(struct rvn *rec)
{
	uint8_t x87[RVN_X87_LEN];

	rvn_make_x87(rec, rec->kept, x87);
	for (unsigned i = 0; i < RVN_N_ST; i++) {
		uint32_t len, at = rvn_x87_at(i, &len);

		if (rvn_has_x87(rec, i))
			ts_steps_value(&rec->base.initial, TS_FX_REG_WRITE, rec->x87_off + at, x87 + at, len);
	}
}

static bool read_initial(struct rvn *rec, struct ts_cursor *c, uint8_t *seen)
{
	uint64_t off = c->off;
	uint16_t id = ts_u16le(c), i = rec->reg_of_id[id];
	const struct rvn_reg *r;
	const uint8_t *value;

	if (!ts_ok(c))
		return false;
	if (i == RVN_NO_REG)
		return ts_fail(c->err, TS_ECORRUPT, off, "initial registers: unknown register id %u",
			       id);
	r = &rec->regs[i];
	if (seen[i]++)
		return ts_fail(c->err, TS_ECORRUPT, off,
			       "initial registers: register \"%.*s\" is listed twice", r->name_len,
			       (const char *)r->name);
	value = ts_take(c, r->len);
	if (!value)
		return false;
	rvn_append_register(r, value, &rec->base.initial);
	if (r->kept != RVN_NOT_KEPT)
		memcpy(rec->kept + r->kept, value, r->len);
	return true;
}

static bool check_all_seen(const struct rvn *rec, const struct ts_cursor *c, const uint8_t *seen)
{
	for (uint32_t i = 0; i < rec->n_regs; i++)
		if (!seen[i])
			return ts_fail(c->err, TS_ECORRUPT, c->off,
				       "initial registers: register \"%.*s\" is missing",
				       rec->regs[i].name_len, (const char *)rec->regs[i].name);
	return true;
}

bool rvn_read_registers(struct rvn *rec, struct ts_cursor *c)
{
	uint64_t n = ts_count(c, ts_u32le(c), 3);
	uint8_t *seen = items(c, rec->n_regs, 1);
	bool done = seen && ts_ok(c);

	while (done && n--)
		done = read_initial(rec, c, seen);
	done = done && check_all_seen(rec, c, seen);
	free(seen);
	if (!done)
		return false;
	tell_initial_x87(rec);
	return !rec->base.initial.is_failed || ts_no_memory(c->err, "the initial registers");
}
