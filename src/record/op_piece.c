/* SPDX-License-Identifier: MIT */
#include "op_piece.h"

#include <stdlib.h>
#include <string.h>

#include "loaders/usercorn/op_write.h"
#include "shadow.h"

#define PAGE 4096u
#define GRANULE 8u /* differences are written in such units */

uint8_t *ts_op_piece_room(struct ts_op_piece *p, size_t len)
{
	size_t cap = p->cap ? p->cap : 4096;
	uint8_t *bytes;

	if (p->cap - p->len >= len)
		return p->bytes + p->len;
	while (cap - p->len < len)
		cap *= 2;
	bytes = realloc(p->bytes, cap);
	if (!bytes)
		return NULL;
	p->bytes = bytes;
	p->cap = cap;
	return p->bytes + p->len;
}

bool ts_op_piece_done(struct ts_op_piece *p, const uint8_t *end, uint32_t n_ops)
{
	p->len = (size_t)(end - p->bytes);
	p->n_ops += n_ops;
	return true;
}

bool ts_op_piece_bytes(struct ts_op_piece *p, const uint8_t *bytes, size_t len, uint32_t n_ops)
{
	uint8_t *at = len ? ts_op_piece_room(p, len) : NULL;

	return !len || (at && ts_op_piece_done(p, ucir_put_bytes(at, bytes, len), n_ops));
}

bool ts_op_piece_append(struct ts_op_piece *p, const struct ts_op_piece *more)
{
	return ts_op_piece_bytes(p, more->bytes, more->len, more->n_ops);
}

bool ts_op_piece_jmp(struct ts_op_piece *p, uint64_t pc)
{
	uint8_t *at = ts_op_piece_room(p, UCIR_PUT_JMP_LEN);

	return at && ts_op_piece_done(p, ucir_put_jmp(at, pc), 1);
}

bool ts_op_piece_exit(struct ts_op_piece *p)
{
	static const uint8_t op = UCIR_EXIT;

	return ts_op_piece_bytes(p, &op, 1, 1);
}

/* -------------------------------------------------------------------------------- maps */

bool ts_op_piece_range(struct ts_op_piece *p, uint8_t kind, uint64_t start, uint64_t end)
{
	uint8_t *at = ts_op_piece_room(p, UCIR_PUT_PROT_LEN);

	return at && ts_op_piece_done(p, ucir_put_range(at, kind, start, end - start), 1);
}

bool ts_op_piece_prot(struct ts_op_piece *p, uint64_t start, uint64_t end, uint8_t prot)
{
	uint8_t *at = ts_op_piece_room(p, UCIR_PUT_PROT_LEN);

	return at && ts_op_piece_done(p, ucir_put_prot(at, start, end - start, prot), 1);
}

bool ts_op_piece_map(struct ts_op_piece *p, const struct ts_region *r, const char *file)
{
	const char *desc = r->is_stack ? "stack" : "";
	uint16_t n_desc = (uint16_t)strlen(desc), n_file = file ? (uint16_t)strlen(file) : 0;
	uint8_t *at = ts_op_piece_room(p, UCIR_PUT_MAP_LEN + n_desc + n_file);
	uint64_t len = r->end - r->start;

	return at && ts_op_piece_done(p, ucir_put_map(at, r->start, len, r->prot, r->file_off, n_file ? len : 0, desc,
						      n_desc, file, n_file), 1);
}

/* -------------------------------------------------------------------------------- memory */

bool ts_op_piece_contents(struct ts_op_piece *p, uint64_t addr, const uint8_t *bytes, uint32_t len)
{
	uint8_t *at = ts_op_piece_room(p, UCIR_PUT_ACCESS_LEN + len);

	return at && ts_op_piece_done(p, ucir_put_contents(at, UCIR_WRITE, addr, bytes, len), 1);
}

void ts_op_piece_write(struct ts_op_piece *p, uint64_t addr, const uint8_t *bytes, uint32_t len)
{
	ts_op_piece_contents(p, addr, bytes, len);
	ts_shadow_set(addr, bytes, len);
}

/* Does the shadow have the same page there?  Most do, and one comparison is cheaper than those of its parts. */
static bool is_same_page(const uint8_t *shadow, uint64_t addr, const uint8_t *bytes, uint64_t len)
{
	return shadow && len >= PAGE && ts_shadow_run(addr, PAGE) == PAGE && memcmp(shadow, bytes, PAGE) == 0;
}

void ts_op_piece_differences(struct ts_op_piece *p, uint64_t addr, const uint8_t *bytes, uint64_t len)
{
	for (uint64_t i = 0; i < len;) {
		uint64_t n = ts_shadow_run(addr + i, len - i < GRANULE ? len - i : GRANULE), from = i;
		const uint8_t *shadow = ts_shadow_at(addr + i);

		if (is_same_page(shadow, addr + i, bytes + i, len - i)) {
			i += PAGE;
			continue;
		}
		while (shadow && n && memcmp(shadow, bytes + i, n) != 0) {
			i += n;
			n = i < len ? ts_shadow_run(addr + i, len - i < GRANULE ? len - i : GRANULE) : 0;
			shadow = n ? ts_shadow_at(addr + i) : NULL;
		}
		if (i > from)
			ts_op_piece_write(p, addr + from, bytes + from, (uint32_t)(i - from));
		i += n;
	}
}

/* -------------------------------------------------------------------------------- ops with others in them */

bool ts_op_piece_syscall(struct ts_op_piece *p, uint32_t num, uint64_t ret, const uint64_t *args,
			 const struct ts_op_piece *inner)
{
	uint8_t *at = ts_op_piece_room(p, UCIR_PUT_SYSCALL_LEN + 8 * TS_OP_N_ARGS + inner->len);

	if (!at)
		return false;
	at = ucir_put_syscall(at, num, ret, args, TS_OP_N_ARGS, inner->n_ops);
	return ts_op_piece_done(p, ucir_put_bytes(at, inner->bytes, inner->len), 1);
}

bool ts_op_piece_signal(struct ts_op_piece *p, uint16_t num, int32_t code, uint64_t addr, uint8_t flags,
			const struct ts_op_piece *inner)
{
	uint8_t *at = ts_op_piece_room(p, UCIR_PUT_SIGNAL_LEN + inner->len);

	if (!at)
		return false;
	at = ucir_put_signal(at, num, code, addr, flags, inner->n_ops);
	return ts_op_piece_done(p, ucir_put_bytes(at, inner->bytes, inner->len), 1);
}

bool ts_op_piece_gap(struct ts_op_piece *p, uint64_t n_insns, const struct ts_op_piece *inner)
{
	uint8_t *at = ts_op_piece_room(p, UCIR_PUT_GAP_LEN + inner->len);

	if (!at)
		return false;
	at = ucir_put_gap(at, n_insns, inner->n_ops);
	return ts_op_piece_done(p, ucir_put_bytes(at, inner->bytes, inner->len), 1);
}

void ts_op_piece_reset(struct ts_op_piece *p)
{
	p->len = 0;
	p->n_ops = 0;
}

void ts_op_piece_fini(struct ts_op_piece *p)
{
	free(p->bytes);
	*p = (struct ts_op_piece){ 0 };
}
