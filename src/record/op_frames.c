/* SPDX-License-Identifier: MIT */
#include "op_frames.h"

#include "loaders/usercorn/op_write.h"

static void put(struct ts_op_frames *f, const uint8_t *bytes, size_t len)
{
	if (!f->is_ended && !f->put(f->user, bytes, len))
		f->is_ended = true;
}

void ts_op_frames_close(struct ts_op_frames *f)
{
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (!f->n_ops)
		return;
	ucir_put_frame(head, UCIR_FRAME, f->pid, f->n_ops);
	put(f, head, sizeof(head));
	put(f, f->ops, f->len);
	f->n_ops = 0;
	f->len = 0;
}

uint8_t *ts_op_frames_room(struct ts_op_frames *f, uint64_t pid, size_t len)
{
	if (f->pid != pid || sizeof(f->ops) - f->len < len) {
		ts_op_frames_close(f);
		f->pid = pid;
	}
	return f->ops + f->len;
}

void ts_op_frames_done(struct ts_op_frames *f, const uint8_t *end, uint32_t n_ops)
{
	f->len = (size_t)(end - f->ops);
	f->n_ops += n_ops;
}

void ts_op_frames_piece(struct ts_op_frames *f, uint64_t pid, uint8_t kind, const struct ts_op_piece *p)
{
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (kind == UCIR_FRAME && p->len < sizeof(f->ops) / 2) {
		uint8_t *at = ts_op_frames_room(f, pid, p->len);

		ts_op_frames_done(f, ucir_put_bytes(at, p->bytes, p->len), p->n_ops);
		return;
	}
	ts_op_frames_close(f);
	ucir_put_frame(head, kind, pid, p->n_ops);
	put(f, head, sizeof(head));
	put(f, p->bytes, p->len);
}

void ts_op_frames_note(struct ts_op_frames *f, uint8_t key, const void *bytes, uint32_t len)
{
	uint8_t head[UCIR_PUT_NOTE_LEN];

	ts_op_frames_close(f);
	ucir_put_note(head, key, "", 0);
	ucir_put_u32(head + 2, len);
	put(f, head, sizeof(head));
	put(f, bytes, len);
}
