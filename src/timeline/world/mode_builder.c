/* SPDX-License-Identifier: MIT */
#include "mode_builder.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/vec.h"
#include "src/index/index_write.h"

/* How many of the newest modes are looked through for one that is the same. */
#define RECENT 32

bool ts_modes_builder_init(struct ts_modes_builder *b, struct ts_modes *modes, const struct ts_regset *set)
{
	static const char *const names[TS_N_MODE_REGS] = {
		[TS_MODE_CR0] = "cr0",   [TS_MODE_CR3] = "cr3", [TS_MODE_CR4] = "cr4",
		[TS_MODE_EFER] = "efer", [TS_MODE_CS] = "cs",   [TS_MODE_CS_SHADOW] = "cs_shadow",
	};

	*b = (struct ts_modes_builder){ .modes = modes, .arch = set->arch, .first_off = UINT32_MAX };
	for (unsigned i = 0; i < TS_N_MODE_REGS; i++) {
		int reg = ts_regset_find(set, names[i]);

		if (reg < 0 || set->regs[reg].len > sizeof(b->bytes[i]))
			continue;
		b->reg_off[i] = set->regs[reg].off;
		b->reg_len[i] = set->regs[reg].len;
		if (b->reg_off[i] < b->first_off)
			b->first_off = b->reg_off[i];
	}
	modes->modes = calloc(1, sizeof(*modes->modes));
	modes->changes = calloc(1, sizeof(*modes->changes));
	if (!modes->modes || !modes->changes) {
		ts_modes_fini(modes);
		return false;
	}
	modes->n_modes = b->cap_modes = modes->n_changes = b->cap_changes = 1;
	return true;
}

static bool is_same(const struct ts_mode *a, const struct ts_mode *b)
{
	return a->known == b->known && !memcmp(a->regs, b->regs, sizeof(a->regs));
}

/* Ordinal of the mode, which is added if it is not among the newest. */
static uint32_t intern(struct ts_modes_builder *b, const struct ts_mode *mode)
{
	struct ts_modes *m = b->modes;

	for (size_t i = m->n_modes; i-- > 0 && i + RECENT >= m->n_modes;) {
		if (is_same(&m->modes[i], mode))
			return (uint32_t)i;
	}
	if (TS_PUSH(m->modes, m->n_modes, b->cap_modes, *mode))
		return (uint32_t)m->n_modes - 1;
	b->is_failed = true;
	return 0;
}

/* The mode that the bytes make up. */
static struct ts_mode now(const struct ts_modes_builder *b)
{
	struct ts_mode mode = { 0 };

	for (unsigned i = 0; i < TS_N_MODE_REGS; i++) {
		if (!b->reg_len[i] || memchr(b->known[i], 0, b->reg_len[i]))
			continue;
		mode.regs[i] = ts_arch_get(b->arch, b->bytes[i], b->reg_len[i]);
		mode.known |= 1u << i;
	}
	return mode;
}

/* From @pos on the mode is another one; several registers may change at once. */
static void add_change(struct ts_modes_builder *b, uint64_t pos, const struct ts_mode *mode)
{
	struct ts_modes *m = b->modes;

	if (m->changes[m->n_changes - 1].pos == pos && pos)
		m->n_changes--;
	if (m->changes[m->n_changes - 1].pos == pos) {
		m->changes[m->n_changes - 1].mode = intern(b, mode);
		return;
	}
	if (is_same(&m->modes[m->changes[m->n_changes - 1].mode], mode))
		return;
	b->is_failed |= !TS_PUSH(m->changes, m->n_changes, b->cap_changes, (struct ts_mode_change){ pos, intern(b, mode), 0 });
}

/* What of the register @reg lies in [off, off + len).  Returns whether a byte of it changed. */
static bool take_reg(struct ts_modes_builder *b, unsigned reg, uint64_t off, uint64_t len,
		     const uint8_t *data)
{
	uint64_t start = b->reg_off[reg];
	bool is_changed = false;

	for (uint32_t i = 0; i < b->reg_len[reg]; i++) {
		uint8_t *byte = &b->bytes[reg][i], *known = &b->known[reg][i];

		if (start + i < off || start + i - off >= len)
			continue;
		is_changed |= *known != (data != NULL) || (data && *byte != data[start + i - off]);
		*known = data != NULL;
		*byte = data ? data[start + i - off] : 0;
	}
	return is_changed;
}

void ts_modes_take(struct ts_modes_builder *b, uint64_t pos, uint64_t off, uint64_t len, const uint8_t *data)
{
	bool is_changed = false;

	for (unsigned i = 0; i < TS_N_MODE_REGS; i++) {
		if (b->reg_off[i] < off + len && off < (uint64_t)b->reg_off[i] + b->reg_len[i])
			is_changed |= take_reg(b, i, off, len, data);
	}
	if (is_changed) {
		struct ts_mode mode = now(b);

		add_change(b, pos, &mode);
	}
}

/* -------------------------------------------------------------------------------------------- index files */

void ts_modes_set_clean(struct ts_modes_builder *b)
{
	const struct ts_modes *m = b->modes;

	b->n_saved_modes = m->n_modes;
	b->n_saved_changes = m->n_changes;
}

void ts_modes_save(struct ts_modes_builder *b, struct ts_index_file *f)
{
	const struct ts_modes *m = b->modes;

	ts_index_put(f, m->modes + b->n_saved_modes, m->n_modes - b->n_saved_modes, sizeof(*m->modes));
	ts_index_put(f, m->changes + b->n_saved_changes, m->n_changes - b->n_saved_changes,
		     sizeof(*m->changes));
	ts_index_put(f, b->bytes, 1, sizeof(b->bytes));
	ts_index_put(f, b->known, 1, sizeof(b->known));
	ts_modes_set_clean(b);
}

bool ts_modes_load(struct ts_modes_builder *b, struct ts_index_arrays *a, uint64_t end)
{
	struct ts_modes *m = b->modes;
	size_t n_modes, n_changes;
	const struct ts_mode *modes = ts_index_take(a, sizeof(*modes), &n_modes);
	const struct ts_mode_change *changes = ts_index_take(a, sizeof(*changes), &n_changes);
	const void *bytes = ts_index_take_n(a, sizeof(b->bytes), 1),
		   *known = ts_index_take_n(a, sizeof(b->known), 1);

	if (a->is_bad)
		return false;
	for (size_t i = 0; i < n_modes; i++) {
		if (!TS_PUSH(m->modes, m->n_modes, b->cap_modes, modes[i]))
			return false;
	}
	for (size_t i = 0; i < n_changes; i++) {
		if (changes[i].mode >= m->n_modes || changes[i].pos > end ||
		    changes[i].pos <= m->changes[m->n_changes - 1].pos ||
		    !TS_PUSH(m->changes, m->n_changes, b->cap_changes, changes[i]))
			return false;
	}
	memcpy(b->bytes, bytes, sizeof(b->bytes));
	memcpy(b->known, known, sizeof(b->known));
	ts_modes_set_clean(b);
	return true;
}
