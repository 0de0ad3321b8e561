/* SPDX-License-Identifier: MIT */
#include "write.h"

#include <errno.h>
#include <snappy-c.h>
#include <string.h>
#include <unistd.h>

#define HEADER_LEN 74

static bool write_all(struct ucir_writer *w, const uint8_t *bytes, size_t len, struct ts_error *err)
{
	while (len) {
		ssize_t n = write(w->fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ts_fail_errno(err, "cannot write");
		bytes += n;
		len -= (size_t)n;
		w->n_file += (size_t)n;
	}
	return true;
}

bool ucir_writer_begin(struct ucir_writer *w, int fd, const char *arch, bool is_big_endian,
		       struct ts_error *err)
{
	uint8_t head[HEADER_LEN + SNAPPY_IDENTIFIER_LEN] = "UCIR\0\0\0\2";

	w->fd = fd;
	w->n_file = w->n = 0;
	strcpy((char *)head + 8, arch);
	strcpy((char *)head + 40, "linux");
	head[72] = head[73] = is_big_endian;
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes */
	memcpy(head + HEADER_LEN, SNAPPY_IDENTIFIER, SNAPPY_IDENTIFIER_LEN);
	return write_all(w, head, sizeof(head), err);
}

bool ucir_writer_flush(struct ucir_writer *w, struct ts_error *err)
{
	uint8_t chunk[4 + SNAPPY_MAX_BODY];
	size_t n = SNAPPY_MAX_BODY - 4;
	uint32_t crc, len;

	if (!w->n)
		return true;
	if (snappy_compress((const char *)w->plain, w->n, (char *)chunk + 8, &n) != SNAPPY_OK)
		return ts_fail(err, TS_EIO, w->n_file, "snappy cannot compress %zu bytes", w->n);
	crc = snappy_mask_crc(snappy_crc32c(w->plain, w->n));
	len = (uint32_t)n + 4;
	chunk[0] = 0;
	for (unsigned i = 0; i < 3; i++)
		chunk[1 + i] = (uint8_t)(len >> 8 * i);
	for (unsigned i = 0; i < 4; i++)
		chunk[4 + i] = (uint8_t)(crc >> 8 * i);
	w->n = 0;
	return write_all(w, chunk, 4 + len, err);
}

bool ucir_writer_add(struct ucir_writer *w, const uint8_t *bytes, size_t len, struct ts_error *err)
{
	while (len) {
		size_t room = sizeof(w->plain) - w->n, n = len < room ? len : room;

		memcpy(w->plain + w->n, bytes, n);
		w->n += n;
		bytes += n;
		len -= n;
		if (w->n == sizeof(w->plain) && !ucir_writer_flush(w, err))
			return false;
	}
	return true;
}

bool ucir_writer_copy(struct ucir_writer *w, const uint8_t *bytes, size_t len, struct ts_error *err)
{
	return write_all(w, bytes, len, err);
}
