/* SPDX-License-Identifier: MIT */
#include "regview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The register of @all that holds what @name is called: x86's eax is part of rax.  NULL if none is found of
 * @len bytes.
 */
static const struct ts_reg *find_source(const struct ts_regset *all, const char *name, uint32_t len)
{
	int prefix = strncmp(name, "orig_", 5) ? 0 : 5;
	char wide[32];
	int i = ts_regset_find(all, name);

	if (i < 0 && name[prefix] == 'e') {
		snprintf(wide, sizeof(wide), "%.*sr%s", prefix, name, name + prefix + 1);
		i = ts_regset_find(all, wide);
	}
	return i < 0 || all->regs[i].len < len ? NULL : &all->regs[i];
}

static bool has_feature(const struct ts_regset *all, const struct ts_feature_def *f)
{
	for (unsigned i = 0; i < f->n_regs; i++) {
		if (!find_source(all, f->regs[i].name, f->regs[i].bits / 8))
			return false;
	}
	return true;
}

static uint32_t features_of(const struct ts_regset *all, const struct ts_arch *arch)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < arch->n_features; i++)
		mask |= (uint32_t)has_feature(all, &arch->features[i]) << i;
	return mask;
}

bool ts_regview_init(struct ts_regview *v, const struct ts_regset *all, const struct ts_arch *arch,
		     struct ts_error *err)
{
	*v = (struct ts_regview){ 0 };
	if (!ts_regset_init(&v->set, arch, features_of(all, arch), err))
		return false;
	v->from = malloc(v->set.n_regs * sizeof(*v->from));
	if (!v->from) {
		ts_regview_fini(v);
		return ts_no_memory(err, "registers");
	}
	for (unsigned i = 0; i < v->set.n_regs; i++) {
		const struct ts_reg *reg = &v->set.regs[i], *source = find_source(all, reg->name, reg->len);

		v->from[i] = source ? source->off : TS_NO_REG;
		if (source && arch->is_big_endian)
			v->from[i] += source->len - (uint32_t)reg->len;
	}
	if (v->from[v->set.pc] != TS_NO_REG && v->set.g_len <= all->g_len &&
	    arch->is_big_endian == all->arch->is_big_endian)
		return true;
	ts_regview_fini(v);
	return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "registers of %s cannot be shown as those of %s",
		       all->arch->name, arch->name);
}

void ts_regview_fini(struct ts_regview *v)
{
	ts_regset_fini(&v->set);
	free(v->from);
	*v = (struct ts_regview){ 0 };
}

void ts_regview_see(const struct ts_regview *v, const uint8_t *data, const uint8_t *known, uint8_t *seen_data,
		    uint8_t *seen_known)
{
	for (unsigned i = 0; i < v->set.n_regs; i++) {
		const struct ts_reg *reg = &v->set.regs[i];

		if (v->from[i] == TS_NO_REG) {
			memset(seen_data + reg->off, 0, reg->len);
			memset(seen_known + reg->off, 0, reg->len);
		} else {
			memcpy(seen_data + reg->off, data + v->from[i], reg->len);
			memcpy(seen_known + reg->off, known + v->from[i], reg->len);
		}
	}
}
