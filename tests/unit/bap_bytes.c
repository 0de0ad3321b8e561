/* SPDX-License-Identifier: MIT */
#include "bap_bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

void varint(struct ts_buf *b, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		ts_buf_putc(b, (uint8_t)(n | 0x80));
	ts_buf_putc(b, (uint8_t)n);
}

void number(struct ts_buf *b, unsigned field, uint64_t n)
{
	varint(b, field << 3);
	varint(b, n);
}

void bytes(struct ts_buf *b, unsigned field, const void *data, size_t len)
{
	varint(b, field << 3 | 2);
	varint(b, len);
	ts_buf_put(b, data, len);
}

void message(struct ts_buf *b, unsigned field, struct ts_buf *m)
{
	bytes(b, field, m->data, m->len);
	ts_buf_fini(m);
	ts_buf_init(m);
}

void u64(struct ts_buf *b, uint64_t n)
{
	for (unsigned i = 0; i < 8; i++)
		ts_buf_putc(b, (uint8_t)(n >> 8 * i));
}

void frame(struct ts_buf *file, unsigned kind, struct ts_buf *m)
{
	struct ts_buf f = { 0 };

	message(&f, kind, m);
	u64(file, f.len);
	ts_buf_put(file, f.data, f.len);
	ts_buf_fini(&f);
}

bool has_unknown_fields;

void operand(struct ts_buf *list, const char *name, uint64_t addr, int64_t bits, bool is_read,
	     bool is_written, const void *value, size_t len)
{
	struct ts_buf op = { 0 }, specific = { 0 }, inner = { 0 };

	if (name)
		bytes(&inner, 1, name, strlen(name));
	else
		number(&inner, 1, addr);
	message(&specific, name ? 2 : 1, &inner);
	message(&op, 1, &specific);
	number(&op, 2, (uint64_t)bits << 1 ^ (uint64_t)(bits >> 63));
	number(&inner, 1, is_read);
	number(&inner, 2, is_written);
	number(&inner, 3, 0);
	number(&inner, 4, 0);
	message(&op, 3, &inner);
	number(&inner, 1, 1);
	message(&op, 4, &inner);
	bytes(&op, 5, value, len);
	if (has_unknown_fields)
		number(&op, 9, 1);
	message(list, 1, &op);
}

void reg_op(struct ts_buf *list, const char *name, uint64_t value, size_t len, bool is_written)
{
	uint8_t data[8];

	for (size_t i = 0; i < 8; i++)
		data[i] = (uint8_t)(value >> 8 * i);
	operand(list, name, 0, 0, !is_written, is_written, data, len);
}

void mem_op(struct ts_buf *list, uint64_t addr, const void *data, size_t len, bool is_written)
{
	operand(list, NULL, addr, (int64_t)len * 8, !is_written, is_written, data, len);
}

void std_frame(struct ts_buf *file, uint64_t pc, uint64_t tid, const char *raw, size_t raw_len,
	       struct ts_buf *pre, struct ts_buf *post)
{
	struct ts_buf m = { 0 };

	number(&m, 1, pc);
	number(&m, 2, tid);
	bytes(&m, 3, raw, raw_len);
	message(&m, 4, pre);
	if (post)
		message(&m, 5, post);
	frame(file, 1, &m);
}

void nop_frame(struct ts_buf *file, uint64_t pc, uint64_t tid)
{
	struct ts_buf pre = { 0 }, post = { 0 };

	std_frame(file, pc, tid, "\x90", 1, &pre, &post);
}

void header(struct ts_buf *file, uint64_t version, uint64_t arch, uint64_t machine)
{
	ts_buf_put(file, "\x25\x60\xaf\x8a\x82\x28\x7c\x67", 8);
	u64(file, version);
	u64(file, arch);
	u64(file, machine);
	u64(file, 0);
	u64(file, 0);
}

void meta(struct ts_buf *file, const char *tracer, const char *version, const char *path)
{
	struct ts_buf m = { 0 }, inner = { 0 };

	bytes(&inner, 1, tracer, strlen(tracer));
	bytes(&inner, 4, version, strlen(version));
	message(&m, 1, &inner);
	bytes(&inner, 1, path, strlen(path));
	bytes(&inner, 2, "arg", 3);
	bytes(&inner, 4, "0123456789abcdef", 16);
	message(&m, 2, &inner);
	u64(file, m.len);
	ts_buf_put(file, m.data, m.len);
	ts_buf_fini(&m);
}

struct ts_buf start(void)
{
	struct ts_buf file = { 0 };

	header(&file, 3, 9, 64);
	meta(&file, "qemu", "6.2.0-tracewrap", "/bin/prog");
	return file;
}

bool load(struct loaded *l, const struct ts_buf *file)
{
	enum ts_next grow = TS_MORE;

	*l = (struct loaded){ 0 };
	unit_seed(file->data, file->len);
	l->src = ts_source_from_memory(file->data, file->len, "test", &l->err);
	ck_assert_ptr_nonnull(l->src);
	l->rec = ts_loader_open(&bap_loader, l->src, NULL, &l->err);
	if (!l->rec)
		return false;
	l->tl = ts_timeline_new(l->rec, NULL, &l->err);
	while (l->tl && grow == TS_MORE)
		grow = ts_timeline_grow(l->tl, 1 << 20, &l->err);
	if (!l->tl || grow == TS_FAIL)
		return false;
	l->q = ts_query_new(l->tl, &l->err);
	return l->q != NULL;
}

void unload(struct loaded *l)
{
	ts_query_free(l->q);
	ts_timeline_free(l->tl);
	ts_recording_close(l->rec);
	ts_source_close(l->src);
}

struct loaded loaded(struct ts_buf *file)
{
	struct loaded l;

	ck_assert_msg(load(&l, file), "%s", l.err.text);
	return l;
}

bool has_warning(const struct loaded *l, const char *words)
{
	for (unsigned i = 0; i < l->rec->n_warnings; i++)
		if (strstr(l->rec->warnings[i].text, words))
			return true;
	return false;
}

bool reg_at(const struct loaded *l, uint64_t pos, uint32_t thread, const char *name, uint64_t *value)
{
	const struct ts_regset *set = &l->rec->regs;
	int i = ts_regset_find(set, name);
	uint8_t data[4096], known[4096];
	struct ts_error err = { 0 };

	ck_assert_msg(i >= 0, "no register %s", name);
	ck_assert(ts_query_regs(l->q, pos, thread, data, known, &err));
	*value = ts_arch_get(set->arch, data + set->regs[i].off, set->regs[i].len < 8 ? set->regs[i].len : 8);
	return !memchr(known + set->regs[i].off, 0, set->regs[i].len);
}

void check_reg(const struct loaded *l, uint64_t pos, uint32_t thread, const char *name, uint64_t want)
{
	uint64_t value;

	ck_assert_msg(reg_at(l, pos, thread, name, &value), "%s is unknown at %" PRIu64, name, pos);
	ck_assert_msg(value == want, "%s is 0x%" PRIx64 " at %" PRIu64 ", not 0x%" PRIx64, name, value, pos,
		      want);
}

void check_no_reg(const struct loaded *l, uint64_t pos, uint32_t thread, const char *name)
{
	uint64_t value;

	ck_assert_msg(!reg_at(l, pos, thread, name, &value), "%s is known at %" PRIu64, name, pos);
}

void check_mem(const struct loaded *l, uint64_t pos, uint64_t addr, const char *want)
{
	uint8_t data[4], known[4];
	struct ts_error err = { 0 };
	char text[16] = "";

	ck_assert(ts_query_mem(l->q, pos, 0, addr, 4, data, known, &err));
	for (unsigned i = 0; i < 4; i++) {
		if (known[i])
			snprintf(text + 2 * i, 3, "%02x", data[i]);
		else
			memcpy(text + 2 * i, "..", 3);
	}
	ck_assert_str_eq(text, want);
}

void modload(struct ts_buf *file, const char *name, uint64_t low, uint64_t high)
{
	struct ts_buf m = { 0 };

	bytes(&m, 1, name, strlen(name));
	number(&m, 2, low);
	number(&m, 3, high);
	frame(file, 5, &m);
}

void check_warned(struct ts_buf *file, uint64_t n_steps, const char *words)
{
	struct loaded l = loaded(file);

	ck_assert_uint_eq(l.tl->n_steps, n_steps);
	ck_assert_int_eq(l.tl->damage.code, TS_OK);
	ck_assert_msg(has_warning(&l, words), "no warning \"%s\"", words);
	unload(&l);
	ts_buf_fini(file);
}

void check_same_step(const struct ts_steps *a, uint32_t i, const struct ts_steps *b)
{
	const struct ts_step *x = &a->steps[i], *y = &b->steps[0];

	ck_assert(x->pc == y->pc && x->thread == y->thread && x->n_effects == y->n_effects &&
		  x->insn_len == y->insn_len);
	for (uint32_t k = 0; k < x->n_effects; k++) {
		const struct ts_effect *e = &a->effects[x->first + k], *f = &b->effects[y->first + k];
		const uint8_t *value = ts_effect_data(a, e), *same = ts_effect_data(b, f);

		ck_assert(e->kind == f->kind && e->addr == f->addr && e->len == f->len && !value == !same);
		if (value)
			ck_assert_int_eq(memcmp(value, same, (size_t)e->len), 0);
	}
}

void check_resuming(const struct ts_buf *file, uint32_t n_steps)
{
	struct ts_buf point = { 0 };
	struct ts_source *src;
	struct ts_recording *rec;
	struct ts_reader *first, *other;
	struct ts_error err = { 0 };
	struct ts_steps all, one;
	uint32_t n = 0;

	src = ts_source_from_memory(file->data, file->len, "test", &err);
	rec = ts_loader_open(&bap_loader, src, NULL, &err);
	ck_assert_msg(rec != NULL, "%s", err.text);
	first = rec->ops->reader(rec, &err);
	other = rec->ops->reader(rec, &err);
	ts_steps_init(&all);
	ts_steps_init(&one);
	for (;; n++) {
		ts_buf_reset(&point);
		ts_reader_save(first, &point);
		if (first->ops->next(first, &all, &err) != TS_ITEM)
			break;
		ck_assert(ts_reader_resume(other, point.data, point.len, &err));
		ts_steps_reset(&one);
		ck_assert_int_eq(other->ops->next(other, &one, &err), TS_ITEM);
		check_same_step(&all, n, &one);
	}
	ck_assert_uint_eq(n, n_steps);
	ts_steps_fini(&all);
	ts_steps_fini(&one);
	ts_buf_fini(&point);
	ts_reader_close(first);
	ts_reader_close(other);
	ts_recording_close(rec);
	ts_source_close(src);
}
