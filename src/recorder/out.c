/* SPDX-License-Identifier: MIT */
#include "out.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loaders/usercorn/op_write.h"
#include "ring.h"

static struct ts_ring *ring;
static pid_t reader_pid;
static bool is_on;

/* The open frame; its pid is in the ring. */
static uint32_t open_len, open_ops;

bool ts_out_open(int fd, size_t size, int reader)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (at == MAP_FAILED)
		return false;
	ring = at;
	reader_pid = reader;
	is_on = true;
	return true;
}

bool ts_out_is_on(void)
{
	return is_on;
}

void ts_out_stop(void)
{
	if (is_on)
		atomic_store(&ring->is_stopped, 1);
	is_on = false;
}

void ts_out_leave(void)
{
	is_on = false;
}

struct ts_ring *ts_out_ring(void)
{
	return ring;
}

static void put(const uint8_t *bytes, size_t len)
{
	if (is_on && !ts_ring_put(ring, bytes, len, reader_pid))
		ts_out_stop();
}

/* The order of the last stores: whoever looks when this process has died finds the frame once. */
static void close_frame(void)
{
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (!open_ops)
		return;
	ucir_put_frame(head, UCIR_FRAME, ring->open_pid, open_ops);
	put(head, sizeof(head));
	put(ring->open, open_len);
	ts_ring_seal(ring);
	open_len = open_ops = 0;
	atomic_store(&ring->open_state, 0);
	atomic_store(&ring->open_base, atomic_load(&ring->head));
}

uint8_t *ts_out_room(uint64_t pid, size_t len)
{
	if (ring->open_pid != pid || sizeof(ring->open) - open_len < len) {
		close_frame();
		ring->open_pid = pid;
	}
	return ring->open + open_len;
}

void ts_out_publish(const uint8_t *end, uint32_t n_ops)
{
	open_len = (uint32_t)(end - ring->open);
	open_ops += n_ops;
	atomic_store_explicit(&ring->open_state, (uint64_t)open_len << 32 | open_ops, memory_order_release);
}

/* Something that is not in the open frame; nothing of it is lost if it is complete. */
static void put_apart(const uint8_t *head, size_t n_head, const uint8_t *bytes, size_t len)
{
	close_frame();
	put(head, n_head);
	put(bytes, len);
	ts_ring_seal(ring);
	atomic_store(&ring->open_base, atomic_load(&ring->head));
}

void ts_out_piece(uint64_t pid, uint8_t kind, const struct ts_op_piece *p)
{
	uint8_t head[UCIR_PUT_FRAME_LEN];

	if (kind == UCIR_FRAME && p->len < sizeof(ring->open) / 2) {
		uint8_t *at = ts_out_room(pid, p->len);

		ts_out_publish(ucir_put_bytes(at, p->bytes, p->len), p->n_ops);
		return;
	}
	ucir_put_frame(head, kind, pid, p->n_ops);
	put_apart(head, sizeof(head), p->bytes, p->len);
}

void ts_out_note(uint8_t key, const void *bytes, uint32_t len)
{
	uint8_t head[UCIR_PUT_NOTE_LEN];

	ucir_put_note(head, key, "", 0);
	ucir_put_u32(head + 2, len);
	put_apart(head, sizeof(head), bytes, len);
}

void ts_out_code_file(const char *path)
{
	uint32_t n = atomic_load(&ring->n_code_files), at = 0;
	size_t len = strlen(path) + 1;

	while (at < n && strcmp(ring->code_files + at, path) != 0)
		at += (uint32_t)strlen(ring->code_files + at) + 1;
	if (at < n || len > sizeof(ring->code_files) - n)
		return;
	memcpy(ring->code_files + n, path, len);
	atomic_store(&ring->n_code_files, n + (uint32_t)len);
}
