/* SPDX-License-Identifier: MIT */
#include "signatures.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"

void ts_signatures_fini(struct ts_signatures *s)
{
	for (size_t i = 0; i < s->n; i++) {
		ts_source_close(s->files[i].src);
		ts_source_close(s->files[i].frames);
		ts_prototypes_free(s->files[i].functions);
	}
	free(s->files);
	*s = (struct ts_signatures){ 0 };
}

bool ts_signatures_add_file(struct ts_signatures *s, const struct ts_source *src, const struct ts_source *debug, uint64_t bias,
			    uint64_t first, uint64_t last, bool is_own)
{
	struct ts_signature_file f = { .bias = bias, .first = first, .last = last, .is_own = is_own };
	struct ts_error ignored = { 0 };

	if (!ts_vec_reserve(&s->files, s->n, &s->cap, 1, sizeof(*s->files)))
		return false;
	f.src = ts_source_dup(debug ? debug : src, &ignored);
	f.frames = debug && f.src ? ts_source_dup(src, &ignored) : NULL;
	if (!f.src || (debug && !f.frames)) {
		ts_source_close(f.src);
		return false;
	}
	s->files[s->n++] = f;
	memset(s->recent, 0, sizeof(s->recent)); /* the file may have what no other had */
	return true;
}

static struct ts_prototypes *functions_of(struct ts_signature_file *f)
{
	if (f->src) {
		f->functions = ts_prototypes_new(f->src);
		f->src = NULL;
	}
	return f->functions;
}

static const struct ts_prototype *look(struct ts_signatures *s, uint64_t addr)
{
	const struct ts_prototype *found = NULL;

	for (size_t i = 0; i < s->n && !found; i++) {
		struct ts_signature_file *f = &s->files[i];

		if (addr < f->first || addr > f->last)
			continue;
		if (functions_of(f))
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

void ts_signatures_variable(struct ts_signatures *s, struct ts_variable_frame *frame, const char *text, size_t len,
			    struct ts_variable *v)
{
	uint64_t pc = frame->pc;

	*v = (struct ts_variable){ .kind = TS_VARIABLE_NONE };
	for (size_t i = 0; i < s->n && v->kind == TS_VARIABLE_NONE; i++) {
		struct ts_signature_file *f = &s->files[i];

		if (pc < f->first || pc > f->last || !functions_of(f))
			continue;
		if (f->frames)
			ts_prototypes_add_frames(f->functions, f->frames);
		f->frames = NULL;
		frame->pc = pc - f->bias;
		frame->bias = f->bias;
		ts_variables_find(f->functions, frame, text, len, v);
	}
}

void ts_signatures_in_global(struct ts_signatures *s, struct ts_variable_frame *frame, const struct ts_global *g, const char *text,
			     size_t len, struct ts_variable *v)
{
	*v = (struct ts_variable){ .kind = TS_VARIABLE_NONE };
	for (size_t i = 0; i < s->n && v->kind == TS_VARIABLE_NONE; i++) {
		struct ts_signature_file *f = &s->files[i];

		if ((g->is_thread_local && !f->is_own) || !functions_of(f))
			continue;
		frame->bias = f->bias;
		ts_variables_find_in(f->functions, frame, g, text, len, v);
	}
}

struct moving {
	uint64_t bias;
	void (*found)(void *user, uint64_t addr, const char *function);
	void *user;
};

static void move(void *user, uint64_t addr, const char *function)
{
	const struct moving *m = user;

	m->found(m->user, addr + m->bias, function);
}

bool ts_signatures_inlined(struct ts_signatures *s, const char *name, size_t len,
			   void (*found)(void *user, uint64_t addr, const char *function), void *user)
{
	bool is_whole = true;

	for (size_t i = 0; i < s->n; i++) {
		struct ts_signature_file *f = &s->files[i];
		struct moving m = { f->bias, found, user };

		if (f->is_own && functions_of(f))
			is_whole &= ts_inlined_find(f->functions, name, len, move, &m);
	}
	return is_whole;
}
