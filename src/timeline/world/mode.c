/* SPDX-License-Identifier: MIT */
#include "mode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"

void ts_modes_fini(struct ts_modes *m)
{
	free(m->modes);
	free(m->changes);
	*m = (struct ts_modes){ 0 };
}

size_t ts_modes_change_at(const struct ts_modes *m, uint64_t pos)
{
	size_t at = 1;

	assert(m->n_changes);
	TS_BISECT(at, m->n_changes, i, m->changes[i].pos <= pos);
	return at - 1;
}

uint64_t ts_filter_next(const struct ts_filter *f, const struct ts_modes *m, uint64_t pos)
{
	for (size_t i = ts_modes_change_at(m, pos); i < m->n_changes; i++) {
		const struct ts_mode_change *c = &m->changes[i];

		if (ts_filter_admits(f, &m->modes[c->mode]))
			return c->pos > pos ? c->pos : pos;
	}
	return UINT64_MAX;
}

uint64_t ts_filter_prev(const struct ts_filter *f, const struct ts_modes *m, uint64_t pos)
{
	size_t at = ts_modes_change_at(m, pos);

	for (size_t i = at + 1; i-- > 0;) {
		if (ts_filter_admits(f, &m->modes[m->changes[i].mode]))
			return i == at ? pos : m->changes[i + 1].pos - 1;
	}
	return UINT64_MAX;
}
