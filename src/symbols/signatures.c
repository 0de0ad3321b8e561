/* SPDX-License-Identifier: MIT */
#include "signatures.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/vec.h"

void ts_signatures_fini(struct ts_signatures *s)
{
	for (size_t i = 0; i < s->n; i++) {
		ts_source_close(s->files[i].src);
		ts_prototypes_free(s->files[i].functions);
	}
	free(s->files);
	*s = (struct ts_signatures){ 0 };
}

bool ts_signatures_add_file(struct ts_signatures *s, const struct ts_source *src, uint64_t bias, uint64_t first,
			    uint64_t last)
{
	struct ts_error ignored = { 0 };
	struct ts_source *dup;

	if (!ts_vec_reserve(&s->files, s->n, &s->cap, 1, sizeof(*s->files)))
		return false;
	dup = ts_source_dup(src, &ignored);
	if (!dup)
		return false;
	s->files[s->n++] = (struct ts_signature_file){ dup, NULL, bias, first, last };
	memset(s->recent, 0, sizeof(s->recent)); /* the file may have what no other had */
	return true;
}

static const struct ts_prototype *look(struct ts_signatures *s, uint64_t addr)
{
	const struct ts_prototype *found = NULL;

	for (size_t i = 0; i < s->n && !found; i++) {
		struct ts_signature_file *f = &s->files[i];

		if (addr < f->first || addr > f->last)
			continue;
		if (f->src) {
			f->functions = ts_prototypes_new(f->src);
			f->src = NULL;
		}
		if (f->functions)
			found = ts_prototypes_find(f->functions, addr - f->bias);
	}
	return found;
}

const struct ts_prototype *ts_signatures_find(struct ts_signatures *s, uint64_t addr)
{
	size_t i = ts_hash(addr, 0) & (TS_N_SIGNATURES - 1);

	if (s->recent[i].addr != addr || !addr) {
		s->recent[i].addr = addr;
		s->recent[i].found = look(s, addr);
	}
	return s->recent[i].found;
}
