/* SPDX-License-Identifier: MIT */
#include "index_verified.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "index_header.h"
#include "src/base/io_full.h"

/* What is kept, and where: FORMAT has the layout. */
#define NOTE_LEN   64
#define SIGNED_LEN 36

/* How its hash is made. */
#define KIND 2

static void sign_note(const struct ts_index_key *key, const uint8_t *note, uint8_t signature[TS_SIGNATURE_LEN])
{
	uint8_t header[TS_INDEX_HEADER_LEN];
	const struct iovec parts[] = { { header, sizeof(header) }, { (uint8_t *)note, SIGNED_LEN } };

	ts_index_header_make(key, header);
	ts_signer_sign(&key->signer, parts, 2, signature);
}

/* The note of the file at @path, whose key is @key.  Returns false if it has no good one. */
static bool read_note(const char *path, const struct ts_index_key *key, uint8_t note[NOTE_LEN])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uint8_t signature[TS_SIGNATURE_LEN];
	bool done = fd >= 0 && ts_read_whole(fd, note, NOTE_LEN, TS_INDEX_HEADER_LEN) == NOTE_LEN;

	if (fd >= 0)
		close(fd);
	if (!done)
		return false;
	sign_note(key, note, signature);
	return ts_get32(note + 32) == KIND && !memcmp(note + SIGNED_LEN, signature, sizeof(signature));
}

static bool is_file(const struct ts_source *src, uint64_t inode, uint64_t ctime)
{
	return ctime && ts_source_ctime(src) == ctime && ts_source_inode(src) == inode;
}

enum ts_index_fit ts_index_fit(const struct ts_index_file *f, const struct ts_source *src,
			       uint8_t hash[TS_TRACE_HASH_LEN])
{
	const struct ts_index_key *key = ts_index_file_key(f);
	uint8_t note[NOTE_LEN];

	if (is_file(src, key->trace_inode, key->trace_ctime))
		return TS_INDEX_FITS;
	if (!read_note(ts_index_path(f), key, note))
		return TS_INDEX_IS_OTHER;
	memcpy(hash, note + 16, TS_TRACE_HASH_LEN);
	return is_file(src, ts_get64(note), ts_get64(note + 8)) ? TS_INDEX_FITS : TS_INDEX_MAY_FIT;
}

/* Is the file that is open as @fd still that of @key?  Another process may have replaced it. */
static bool has_header(int fd, const struct ts_index_key *key)
{
	uint8_t header[TS_INDEX_HEADER_LEN], want[TS_INDEX_HEADER_LEN];

	ts_index_header_make(key, want);
	return ts_read_whole(fd, header, sizeof(header), 0) == sizeof(header) && !memcmp(header, want, sizeof(want));
}

void ts_index_note_file(const struct ts_index_file *f, const struct ts_source *src,
			const uint8_t hash[TS_TRACE_HASH_LEN])
{
	const struct ts_index_key *key = ts_index_file_key(f);
	uint8_t note[NOTE_LEN] = { 0 };
	int fd;

	if (!ts_source_is_unchanged(src))
		return;
	ts_put64(note, ts_source_inode(src));
	ts_put64(note + 8, ts_source_ctime(src));
	memcpy(note + 16, hash, TS_TRACE_HASH_LEN);
	ts_put32(note + 32, KIND);
	sign_note(key, note, note + SIGNED_LEN);
	fd = open(ts_index_path(f), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && has_header(fd, key))
		ts_write_whole_at(fd, note, sizeof(note), TS_INDEX_HEADER_LEN);
	if (fd >= 0)
		close(fd);
}
