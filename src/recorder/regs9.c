/* SPDX-License-Identifier: MIT */
/*
 * regs.h for QEMU 9.2 and later: each register is read with the plugin API, by gdb's name of it.
 *
 * x86's flags are not recorded: QEMU keeps the condition codes apart, and the API gives the others only.  Nor
 * are the upper halves of ymm, which have no name.
 */
#include "regs.h"

#include <string.h>

#include "loaders/usercorn/op_write.h"
#include "qemu9.h"

struct reg {
	struct qemu_plugin_register *handle;
	uint16_t num;
	uint8_t len, group;
};

static struct reg regs[TS_MAX_REGS];
static unsigned n_regs;
static const struct ts_guest *guest;

/* -------------------------------------------------------------------------------- finding */

/* Its value in the order of this machine.  Returns whether it is of the length that is recorded. */
static bool read_value(const struct reg *r, const struct ts_values *v, uint8_t bytes[TS_MAX_REG_LEN])
{
	unsigned n = ts_qemu_register_bytes(r->handle, bytes, TS_MAX_REG_LEN);

	for (unsigned i = 0; i < n / 2 && guest->is_big_endian; i++) {
		uint8_t byte = bytes[i];

		bytes[i] = bytes[n - 1 - i];
		bytes[n - 1 - i] = byte;
	}
	if (v && guest->is_arm && r->num == TS_ARM_CPSR)
		ts_regs_put_it(v, bytes);
	return n >= r->len;
}

/* Returns false if one of @range has no name, or another length; none is then recorded. */
static bool add_range(const struct ts_reg_range *range)
{
	uint8_t bytes[TS_MAX_REG_LEN];
	char name[TS_REG_NAME_LEN];
	unsigned before = n_regs;

	if (range->how == TS_BY_FLAGS)
		return false;
	for (unsigned i = 0; i < range->n && n_regs < TS_MAX_REGS; i++) {
		struct reg *r = &regs[n_regs];

		ts_reg_name(range, i, name);
		*r = (struct reg){ .handle = ts_qemu_register(name),
				   .num = (uint16_t)(range->num + i),
				   .len = range->len,
				   .group = range->group };
		if (!r->handle || !read_value(r, NULL, bytes)) {
			n_regs = before;
			return false;
		}
		n_regs++;
	}
	return true;
}

const char *ts_regs_find(const struct ts_guest *g, void *, char *missing, size_t n_missing)
{
	guest = g;
	n_regs = 0;
	*missing = '\0';
	for (size_t i = 0; i < g->n_ranges; i++) {
		if (add_range(&g->ranges[i]))
			continue;
		if (g->ranges[i].how == TS_BY_SEARCH && g->ranges[i].group == TS_GENERAL)
			return "QEMU does not name the general registers to plugins";
		ts_regs_name_missing(&g->ranges[i], missing, n_missing);
	}
	return NULL;
}

/* -------------------------------------------------------------------------------- reading */

static uint8_t *put_value(const struct reg *r, const uint8_t *now, uint8_t *p)
{
	uint64_t val = 0;

	if (r->len > 8)
		return ucir_put_spreg(p, r->num, now, r->len);
	memcpy(&val, now, r->len);
	return ucir_put_reg(p, r->num, val);
}

static uint8_t *take(unsigned i, struct ts_values *v, bool is_all, uint8_t *p, uint32_t *n_ops)
{
	uint8_t now[TS_MAX_REG_LEN] = { 0 };

	read_value(&regs[i], v, now);
	if (!is_all && memcmp(v->of[i], now, regs[i].len) == 0)
		return p;
	memcpy(v->of[i], now, regs[i].len);
	++*n_ops;
	return put_value(&regs[i], now, p);
}

uint8_t *ts_regs_changes(void *, struct ts_values *v, unsigned groups, uint8_t *p, uint32_t *n_ops)
{
	for (unsigned i = 0; i < n_regs; i++) {
		if (regs[i].group == TS_GENERAL || groups >> regs[i].group & 1)
			p = take(i, v, false, p, n_ops);
	}
	return p;
}

uint8_t *ts_regs_all(void *, struct ts_values *v, uint8_t *p, uint32_t *n_ops)
{
	for (unsigned i = 0; i < n_regs; i++)
		p = take(i, v, true, p, n_ops);
	return p;
}

uint64_t ts_regs_get(void *, uint16_t num)
{
	uint8_t bytes[TS_MAX_REG_LEN];
	uint64_t val = 0;

	for (unsigned i = 0; i < n_regs; i++) {
		if (regs[i].num == num && regs[i].len <= 8 && read_value(&regs[i], NULL, bytes))
			memcpy(&val, bytes, regs[i].len);
	}
	return val;
}

uint64_t ts_regs_last(const struct ts_values *v, uint16_t num)
{
	uint64_t val = 0;

	for (unsigned i = 0; i < n_regs; i++) {
		if (regs[i].num == num && regs[i].len <= 8)
			memcpy(&val, v->of[i], regs[i].len);
	}
	return val;
}
