/* SPDX-License-Identifier: MIT */
#include "op_piece.h"

#include <stdlib.h>

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

void ts_op_piece_done(struct ts_op_piece *p, const uint8_t *end)
{
	p->len = (size_t)(end - p->bytes);
	p->n_ops++;
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
