/* SPDX-License-Identifier: MIT */
#include "out.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"
#include "src/record/op_frames.h"

static struct ts_ring *ring;
static pid_t reader_pid;
static bool is_on;

/* The open frame is in the ring, for the reader when this process has died. */
static struct ts_op_frames frames;

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

static bool put(void *, const uint8_t *bytes, size_t len)
{
	if (is_on && !ts_ring_put(ring, bytes, len, reader_pid))
		ts_out_stop();
	return true; /* a forked process leaves, because its output has no reader */
}

/* The order of the stores ensures that a reader finds a frame exactly once, even if this process has died. */
static void seal(void *)
{
	ts_ring_seal(ring);
	atomic_store(&ring->open_state, 0);
	atomic_store(&ring->open_base, atomic_load(&ring->head));
}

static void publish(void)
{
	atomic_store_explicit(&ring->open_state, (uint64_t)frames.len << 32 | frames.n_ops, memory_order_release);
}

bool ts_out_open(int fd, size_t size, int reader)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (at == MAP_FAILED)
		return false;
	ring = at;
	frames = (struct ts_op_frames){ .put = put, .sealed = seal, .ops = ring->open, .cap = sizeof(ring->open) };
	reader_pid = reader;
	is_on = true;
	return true;
}

uint8_t *ts_out_room(uint64_t pid, size_t len)
{
	uint8_t *at = ts_op_frames_room(&frames, pid, len);

	ring->open_pid = frames.pid;
	return at;
}

void ts_out_publish(const uint8_t *end, uint32_t n_ops)
{
	ts_op_frames_done(&frames, end, n_ops);
	publish();
}

void ts_out_piece(uint64_t pid, uint8_t kind, const struct ts_op_piece *p)
{
	ts_op_frames_piece(&frames, pid, kind, p);
	ring->open_pid = frames.pid;
	publish();
}

void ts_out_note(uint8_t key, const void *bytes, uint32_t len)
{
	ts_op_frames_note(&frames, key, bytes, len);
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
