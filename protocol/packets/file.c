/* SPDX-License-Identifier: MIT */
/*
 * Files that a client reads from the server: vFile.
 *
 * The only files are the program's file, the files that the recording maps and the user supplies (--sysroot),
 * and those of proc.h: no name from the client reaches the file system.  Open files do not change.
 */
#include "packets.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/documents/modules.h"
#include "protocol/session/documents/proc.h"
#include "protocol/session/session.h"
#include "src/base/text/utf8.h"
#include "src/source/source.h"

/* Error numbers of the protocol. */
enum file_errno {
	FILE_ENOENT = 2,
	FILE_EBADF = 9,
	FILE_EINVAL = 22,
	FILE_EMFILE = 24,
	FILE_EROFS = 30,
	FILE_EUNKNOWN = 9999,
};

/* Modes of a read-only file and of an executable one. */
#define MODE_DATA    0100444u
#define MODE_PROGRAM 0100555u

/* Descriptors begin after the standard ones. */
#define FIRST_FD 3

static enum rsp_done fail(struct rsp_reply *r, enum file_errno number)
{
	return rsp_reply_printf(r, "F-1,%x", (unsigned)number);
}

static enum rsp_done succeed(struct rsp_reply *r, unsigned result)
{
	return rsp_reply_printf(r, "F%x", result);
}

/* Take a path in hex.  Fails if it is empty, too long or has a NUL. */
static void take_path(struct rsp_args *a, char path[PATH_MAX])
{
	size_t len = rsp_args_hex(a, (uint8_t *)path, PATH_MAX - 1);

	path[len] = '\0';
	if (!len || strlen(path) != len)
		rsp_args_fail(a);
}

/* Take a descriptor; returns NULL if it is not open. */
static struct rsp_file *take_file(struct rsp_session *s, struct rsp_args *a)
{
	uint64_t fd = rsp_args_u64(a);

	if (!rsp_args_ok(a) || fd < FIRST_FD || fd - FIRST_FD >= RSP_MAX_FILES)
		return NULL;
	return s->files[fd - FIRST_FD].is_open ? &s->files[fd - FIRST_FD] : NULL;
}

static enum rsp_done reply_binary(struct rsp_reply *r, const uint8_t *data, size_t len)
{
	size_t n;

	rsp_reply_printf(r, "F%zx;", len);
	n = rsp_reply_fit(r, data, len);
	if (n < len) {
		rsp_reply_reset(r);
		rsp_reply_printf(r, "F%zx;", n);
	}
	rsp_reply_binary(r, data, n);
	return RSP_REPLIED;
}

/* ------------------------------------------------------------------------------------------ what there is */

/* The program's file has the name that was reported to the client, and also the recorded name. */
static bool is_exec(const struct rsp_target *target, const char *path)
{
	const char *recorded = ts_query_facts(target->q)->exec_path;

	return target->exec &&
	       (strcmp(path, target->exec_path) == 0 || (recorded && strcmp(path, recorded) == 0));
}

static const struct ts_source *find_source(const struct rsp_target *target, const char *path)
{
	return is_exec(target, path) ? target->exec : rsp_target_file(target, path);
}

/* Fill @f, which is not open.  Returns 0 or an error number. */
static unsigned load_file(const struct rsp_session *s, const char *path, struct rsp_file *f)
{
	ts_buf_reset(&f->text);
	f->source = find_source(s->target, path);
	if (f->source)
		return 0;
	switch (rsp_proc_read(s, path, &f->text)) {
	case RSP_PROC_NONE: return FILE_ENOENT;
	case RSP_PROC_FILE: break;
	case RSP_PROC_LINK:
		if (!ts_buf_ok(&f->text))
			return FILE_EUNKNOWN;
		f->source = find_source(s->target, ts_buf_text(&f->text));
		return f->source ? 0 : FILE_ENOENT;
	}
	return ts_buf_ok(&f->text) ? 0 : FILE_EUNKNOWN;
}

static void put_be(uint8_t **p, uint64_t value, unsigned len)
{
	while (len-- > 0)
		*(*p)++ = len < sizeof(value) ? (uint8_t)(value >> 8 * len) : 0;
}

/* The protocol's struct stat.  The owner and the time of the last change are not needed by any client. */
static enum rsp_done reply_stat(struct rsp_reply *r, const struct rsp_file *f)
{
	const uint64_t block_len = 4096;
	uint64_t len = f->source ? ts_source_len(f->source) : f->text.len;
	uint8_t stat[64] = { 0 };
	uint8_t *p = stat;

	put_be(&p, 0, 4);                                       /* dev */
	put_be(&p, f->source ? 1 : 2, 4);                       /* ino */
	put_be(&p, f->source ? MODE_PROGRAM : MODE_DATA, 4);    /* mode */
	put_be(&p, 1, 4);                                       /* nlink */
	put_be(&p, 0, 4 + 4 + 4);                               /* uid, gid, rdev */
	put_be(&p, len, 8);                                     /* size */
	put_be(&p, block_len, 8);                               /* blksize */
	put_be(&p, len / 512 + (len % 512 != 0), 8);            /* blocks */
	return reply_binary(r, stat, sizeof(stat));
}

/* ------------------------------------------------------------------------------------------------ packets */

/* All processes see the same file system. */
static enum rsp_done pkt_setfs(struct rsp_session *, struct rsp_args *a, struct rsp_reply *r)
{
	rsp_args_u64(a);
	return rsp_args_done(a) ? succeed(r, 0) : RSP_BAD;
}

static enum rsp_done pkt_open(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	char path[PATH_MAX];
	uint64_t flags;
	unsigned fd = 0, number;

	take_path(a, path);
	rsp_args_expect(a, ',');
	flags = rsp_args_u64(a);
	rsp_args_expect(a, ',');
	rsp_args_u64(a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	if (flags)
		return fail(r, FILE_EROFS);
	while (fd < RSP_MAX_FILES && s->files[fd].is_open)
		fd++;
	if (fd == RSP_MAX_FILES)
		return fail(r, FILE_EMFILE);
	if (rsp_proc_is_smaps(s, path))
		return rsp_smaps_start(s, fd, FIRST_FD + fd) ? RSP_DEFERRED : fail(r, FILE_EUNKNOWN);
	number = load_file(s, path, &s->files[fd]);
	if (number == FILE_ENOENT)
		rsp_modules_are_missing(s, path);
	if (number)
		return fail(r, number);
	return rsp_session_open(s, &s->files[fd]) ? succeed(r, FIRST_FD + fd) : fail(r, FILE_EMFILE);
}

static enum rsp_done pkt_close(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct rsp_file *f = take_file(s, a);

	if (!rsp_args_done(a))
		return RSP_BAD;
	if (!f)
		return fail(r, FILE_EBADF);
	rsp_session_close(s, f);
	return succeed(r, 0);
}

static enum rsp_done pread_source(const struct rsp_file *f, uint64_t len, uint64_t off, struct rsp_reply *r)
{
	size_t max = rsp_reply_room(r), got;
	uint8_t *data = malloc(max);
	struct ts_error err = { 0 };

	if (!data || !ts_source_read(f->source, off, data, len < max ? (size_t)len : max, &got, &err))
		fail(r, FILE_EUNKNOWN);
	else
		reply_binary(r, data, got);
	free(data);
	return RSP_REPLIED;
}

static enum rsp_done pread_text(const struct rsp_file *f, uint64_t len, uint64_t off, struct rsp_reply *r)
{
	size_t left = off < f->text.len ? f->text.len - (size_t)off : 0;

	return reply_binary(r, left ? f->text.data + off : NULL, len < left ? (size_t)len : left);
}

static enum rsp_done pkt_pread(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct rsp_file *f = take_file(s, a);
	uint64_t len, off;

	rsp_args_expect(a, ',');
	len = rsp_args_u64(a);
	rsp_args_expect(a, ',');
	off = rsp_args_u64(a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	if (!f)
		return fail(r, FILE_EBADF);
	return f->source ? pread_source(f, len, off, r) : pread_text(f, len, off, r);
}

static enum rsp_done pkt_fstat(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct rsp_file *f = take_file(s, a);

	if (!rsp_args_done(a))
		return RSP_BAD;
	return f ? reply_stat(r, f) : fail(r, FILE_EBADF);
}

static enum rsp_done pkt_stat(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct rsp_file f = { 0 };
	char path[PATH_MAX];
	unsigned number;

	take_path(a, path);
	if (!rsp_args_done(a))
		return RSP_BAD;
	number = load_file(s, path, &f);
	if (number)
		fail(r, number);
	else
		reply_stat(r, &f);
	ts_buf_fini(&f.text);
	return RSP_REPLIED;
}

static enum rsp_done pkt_readlink(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	char path[PATH_MAX];
	struct ts_buf text;

	take_path(a, path);
	if (!rsp_args_done(a))
		return RSP_BAD;
	ts_buf_init(&text);
	switch (rsp_proc_read(s, path, &text)) {
	case RSP_PROC_NONE: fail(r, find_source(s->target, path) ? FILE_EINVAL : FILE_ENOENT); break;
	case RSP_PROC_FILE: fail(r, FILE_EINVAL); break;
	case RSP_PROC_LINK:
		if (ts_buf_ok(&text)) {
			ts_utf8_make_shown((char *)text.data, text.len, false); /* gdb shows it as it is */
			reply_binary(r, text.data, text.len);
		} else {
			fail(r, FILE_EUNKNOWN);
		}
		break;
	}
	ts_buf_fini(&text);
	return RSP_REPLIED;
}

static enum rsp_done pkt_pwrite(struct rsp_session *, struct rsp_args *a, struct rsp_reply *r)
{
	rsp_args_u64(a);
	rsp_args_expect(a, ',');
	rsp_args_u64(a);
	rsp_args_expect(a, ',');
	return rsp_args_ok(a) ? fail(r, FILE_EROFS) : RSP_BAD;
}

static enum rsp_done pkt_unlink(struct rsp_session *, struct rsp_args *a, struct rsp_reply *r)
{
	char path[PATH_MAX];

	take_path(a, path);
	return rsp_args_done(a) ? fail(r, FILE_EROFS) : RSP_BAD;
}

static const struct rsp_packet packets[] = {
	{ "vFile:setfs", RSP_ARGS, .handler = pkt_setfs },
	{ "vFile:open", RSP_ARGS, .handler = pkt_open },
	{ "vFile:close", RSP_ARGS, .handler = pkt_close },
	{ "vFile:pread", RSP_ARGS, .handler = pkt_pread },
	{ "vFile:fstat", RSP_ARGS, .handler = pkt_fstat },
	{ "vFile:stat", RSP_ARGS, .handler = pkt_stat },
	{ "vFile:readlink", RSP_ARGS, .handler = pkt_readlink },
	{ "vFile:pwrite", RSP_ARGS, .handler = pkt_pwrite },
	{ "vFile:unlink", RSP_ARGS, .handler = pkt_unlink },
};
const struct rsp_packets rsp_file_packets = RSP_PACKETS(packets);
