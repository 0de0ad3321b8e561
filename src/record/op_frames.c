/* SPDX-License-Identifier: MIT */
#include "op_frames.h"

#include "loaders/usercorn/op_write.h"

static void put(struct ts_op_frames *f, const uint8_t *bytes, size_t len)
{
	if (!f->is_ended && !f->put(f->user, bytes, len))
		f->is_ended = true;
}

/* A frame or a note: its head, and the rest. */
static void put_whole(struct ts_op_frames *f, const uint8_t *head, size_t n_head, const uint8_t *bytes, size_t len)
{
	put(f, head, n_head);
	put(f, bytes, len);
	f->n_ops = 0;
	f->len = 0;
	if (f->sealed)
		f->sealed(f->user);
}

void ts_op_frames_close(struct ts_op_frames *f)
{
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (!f->n_ops)
		return;
	ucir_put_frame(head, UCIR_FRAME, f->pid, f->n_ops);
	put_whole(f, head, sizeof(head), f->ops, f->len);
}

void ts_op_frames_piece(struct ts_op_frames *f, uint64_t pid, uint8_t kind, const struct ts_op_piece *p)
{
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (kind == UCIR_FRAME && ts_op_frames_has_room(f, p)) {
		uint8_t *at = ts_op_frames_room(f, pid, p->len);

		ts_op_frames_done(f, ucir_put_bytes(at, p->bytes, p->len), p->n_ops);
		return;
	}
	ts_op_frames_close(f);
	ucir_put_frame(head, kind, pid, p->n_ops);
	put_whole(f, head, sizeof(head), p->bytes, p->len);
}

void ts_op_frames_note(struct ts_op_frames *f, uint8_t key, const void *bytes, uint32_t len)
{
	uint8_t head[UCIR_PUT_NOTE_LEN];

	ts_op_frames_close(f);
	ucir_put_note(head, key, "", 0);
	ucir_put_u32(head + 2, len);
	put_whole(f, head, sizeof(head), bytes, len);
}
