/* SPDX-License-Identifier: MIT */
/*
 * A kept file is the unpacked bytes, and a trailer of TRAILER_LEN:
 *
 *      magic "TSUNPACK", u32 version, u32 code of the damage (0: none), u64 unpacked bytes
 *      16 bytes: the hash in the file's name, of the compressed file's length, time and content
 *      the sentence about the damage, padded with zeros
 */
#include "unpack.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codec.h"
#include "pack.h"
#include "spool.h"
#include "src/base/collections/buf.h"
#include "src/base/cache_dir.h"
#include "src/base/cursor.h"
#include "zstd_frames.h"

#define MAGIC "TSUNPACK"
#define TRAILER_VERSION 1u
#define TRAILER_LEN 512u
#define TEXT_LEN (TRAILER_LEN - 40u)
#define SUFFIX ".unpacked"

#define PIECE (256u << 10)

/* The length of a file's beginning by which its kind is recognised. */
#define HEAD_LEN 8192u

/* Limit on all kept files together, as a fraction of the free space of the directory. */
#define KEPT_PART 4

bool ts_is_stdin(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdin");
}

/* ---------------------------------------------------------------------------------------------- the input */

/* Where the packed bytes come from: a source, or a pipe. */
struct input {
	const struct ts_source *src; /* borrowed; NULL: a pipe */
	int fd;                      /* the pipe */
	uint64_t off;
	uint8_t *bytes;              /* owned; PIECE of them */
	size_t len;                  /* how many are there */
	bool is_last;                /* nothing comes after them */
};

static bool read_pipe(struct input *in, struct ts_error *err)
{
	while (in->len < PIECE) {
		ssize_t n = read(in->fd, in->bytes + in->len, PIECE - in->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ts_fail(err, TS_EIO, in->off + in->len, "cannot read it: %s", strerror(errno));
		in->is_last = n == 0;
		if (in->is_last)
			break;
		in->len += (size_t)n;
	}
	return true;
}

/* The next piece: a full one, or the last. */
static bool next_piece(struct input *in, struct ts_error *err)
{
	in->off += in->len;
	in->len = 0;
	if (!in->src)
		return read_pipe(in, err);
	if (!ts_source_read(in->src, in->off, in->bytes, PIECE, &in->len, err))
		return false;
	in->is_last = in->off + in->len >= ts_source_len(in->src);
	return in->is_last || in->len == PIECE ||
	       ts_fail(err, TS_EIO, in->off + in->len, "it became shorter while it was read");
}

/* ---------------------------------------------------------------------------------------------- unpacking */

struct unpacking {
	const struct ts_unpack_options *opt; /* borrowed */
	const char *name;                    /* borrowed */
	struct input in;
	struct ts_spool spool;
	uint8_t *out;                        /* owned; PIECE of them */
	struct ts_error damage;
	bool is_checked;                     /* the first bytes have been examined */
};

static void tell(const struct unpacking *u, bool is_done)
{
	const struct ts_unpacking at = {
		.name = u->name,
		.n_in = u->in.off + u->in.len,
		.in_len = u->in.src ? ts_source_len(u->in.src) : 0,
		.n_out = u->spool.len,
		.is_done = is_done,
	};

	if (u->opt->progress)
		u->opt->progress(u->opt->user, &at);
}

/* Take unpacked bytes; the first ones must be those of a trace. */
static bool take(struct unpacking *u, const uint8_t *bytes, size_t len, struct ts_error *err)
{
	if (!ts_spool_write(&u->spool, bytes, len, err))
		return false;
	if (u->is_checked || !u->opt->check || u->spool.len < HEAD_LEN)
		return true;
	u->is_checked = true;
	return u->opt->check(u->opt->user, bytes, len < HEAD_LEN ? len : HEAD_LEN, err);
}

static bool copy_all(struct unpacking *u, struct ts_error *err)
{
	for (;;) {
		if (u->in.len && !take(u, u->in.bytes, u->in.len, err))
			return false;
		tell(u, false);
		if (u->in.is_last)
			return true;
		if (!next_piece(&u->in, err))
			return false;
	}
}

/* Decode up to a whole piece of output.  TS_END: that was all, or the rest is damaged. */
static enum ts_next decode_piece(struct unpacking *u, struct ts_codec *c, struct ts_codec_input *from,
				 struct ts_error *err)
{
	size_t len = 0, got;
	enum ts_next next;

	do {
		if (!from->left && !from->is_last) {
			if (!next_piece(&u->in, err))
				return TS_FAIL;
			*from = (struct ts_codec_input){ u->in.bytes, u->in.len, u->in.is_last };
		}
		next = ts_codec_decode(c, from, u->out + len, PIECE - len, &got, &u->damage);
		len += got;
	} while (next == TS_ITEM && len < PIECE);
	if (next == TS_FAIL)
		ts_fail_prefix(&u->damage, "0x%" PRIx64 " of the compressed file",
			       u->in.off + u->in.len - from->left);
	if (len && !take(u, u->out, len, err))
		return TS_FAIL;
	return next == TS_ITEM ? TS_ITEM : TS_END;
}

static bool decode_all(struct unpacking *u, enum ts_codec_kind kind, struct ts_error *err)
{
	struct ts_codec_input from = { u->in.bytes, u->in.len, u->in.is_last };
	struct ts_codec *c = ts_codec_new(kind, err);
	enum ts_next next = c ? TS_ITEM : TS_FAIL;

	while (next == TS_ITEM) {
		next = decode_piece(u, c, &from, err);
		tell(u, false);
	}
	ts_codec_free(c);
	return next == TS_END;
}

/* May what is damaged be served as far as it is good? */
static bool is_served(const struct unpacking *u)
{
	return u->damage.code == TS_OK ||
	       ((u->damage.code == TS_ETRUNC || u->damage.code == TS_ECORRUPT) && u->spool.len);
}

/* Unpack or copy all of the input, whose first piece is there, into the spool. */
static bool unpack(struct unpacking *u, enum ts_codec_kind kind, struct ts_error *err)
{
	bool done = kind == TS_CODEC_NONE ? copy_all(u, err) : decode_all(u, kind, err);

	tell(u, true);
	if (done && !is_served(u)) {
		*err = u->damage;
		return false;
	}
	return done;
}

static bool unpacking_init(struct unpacking *u, const char *name, const struct ts_unpack_options *opt,
			   struct ts_error *err)
{
	*u = (struct unpacking){ .opt = opt, .name = name };
	ts_error_reset(&u->damage);
	u->in.bytes = malloc(PIECE);
	u->out = malloc(PIECE);
	if (opt->dir)
		ts_cache_dir_make(opt->dir);
	if (!ts_spool_init(&u->spool, opt->dir, opt->max_len ? opt->max_len : UINT64_MAX, err))
		return false;
	return (u->in.bytes && u->out) || ts_no_memory(err, "opening it");
}

static void unpacking_fini(struct unpacking *u)
{
	ts_spool_fini(&u->spool);
	free(u->in.bytes);
	free(u->out);
}

/* ------------------------------------------------------------------------------------------ the kept file */

struct key {
	uint8_t hash[16];
};

/*
 * A hash of the file's length, its times and its inode, its first and last bytes, and some between.  A file that was
 * changed has another ctime (source.h); a copy is unpacked again.
 */
static bool make_key(const struct ts_source *src, struct key *key, struct ts_error *err)
{
	enum { N_SAMPLES = 18, SAMPLE_LEN = 65536 };
	uint64_t len = ts_source_len(src), seed = len ^ ts_source_mtime(src) * UINT64_C(0x9e3779b97f4a7c15);
	uint8_t *bytes = malloc(SAMPLE_LEN);
	XXH128_hash_t h = { seed + ts_source_ctime(src), ~seed + ts_source_inode(src) };
	bool done = bytes || ts_no_memory(err, "opening it");

	for (unsigned i = 0; done && i < N_SAMPLES; i++) {
		uint64_t off = len > SAMPLE_LEN ? (len - SAMPLE_LEN) / (N_SAMPLES - 1) * i : 0;
		size_t got;

		if (i == N_SAMPLES - 1 && len > SAMPLE_LEN)
			off = len - SAMPLE_LEN;
		done = ts_source_read(src, off, bytes, SAMPLE_LEN, &got, err);
		if (done)
			h = XXH3_128bits_withSeed(bytes, got,
						  h.low64 ^ h.high64 * UINT64_C(0xff51afd7ed558ccd));
	}
	memcpy(key->hash, &h.low64, 8);
	memcpy(key->hash + 8, &h.high64, 8);
	free(bytes);
	return done;
}

static bool kept_path(const struct ts_unpack_options *opt, const struct key *key, char path[PATH_MAX])
{
	char hex[33];

	for (unsigned i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", key->hash[i]);
	return snprintf(path, PATH_MAX, "%s/%s%s" SUFFIX, opt->dir, opt->tag ? opt->tag : "", hex) < PATH_MAX;
}

/* Read and check the trailer; the source becomes what is before it. */
static bool check_trailer(struct ts_source *src, const struct key *key)
{
	uint8_t trailer[TRAILER_LEN];
	struct ts_error ignored = { 0 };
	struct ts_cursor c = ts_cursor(trailer, sizeof(trailer), 0, "trailer", &ignored);
	uint64_t len = ts_source_len(src);
	const uint8_t *magic, *hash, *text;
	uint32_t version, code;

	if (len < TRAILER_LEN || !ts_source_read_all(src, len - TRAILER_LEN, trailer, TRAILER_LEN, &ignored))
		return false;
	magic = ts_take(&c, 8);
	version = ts_u32le(&c);
	code = ts_u32le(&c);
	len = ts_u64le(&c);
	hash = ts_take(&c, 16);
	text = ts_take(&c, TEXT_LEN);
	if (memcmp(magic, MAGIC, 8) || version != TRAILER_VERSION ||
	    len != ts_source_len(src) - TRAILER_LEN || memcmp(hash, key->hash, 16) ||
	    (code && code != TS_ETRUNC && code != TS_ECORRUPT))
		return false;
	src->len = len;
	if (code)
		ts_fail(&src->damage, (enum ts_code)code, TS_NO_OFF, "%.*s", (int)TEXT_LEN - 1,
			(const char *)text);
	return true;
}

static struct ts_source *open_kept(const char *path, const struct key *key, const char *name)
{
	struct ts_error ignored = { 0 };
	struct ts_source *src;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return NULL;
	futimens(fd, NULL); /* it was used now */
	src = ts_source_from_fd(fd, name, &ignored);
	if (src && !check_trailer(src, key)) {
		ts_source_close(src);
		return NULL;
	}
	return src;
}

static bool put_trailer(struct unpacking *u, const struct key *key, struct ts_error *err)
{
	uint8_t zeros[TRAILER_LEN] = { 0 };
	struct ts_buf b;
	uint64_t len = htole64(u->spool.len);
	uint32_t words[2] = { htole32(TRAILER_VERSION), htole32((uint32_t)u->damage.code) };
	bool done;

	ts_buf_init(&b);
	ts_buf_put(&b, MAGIC, 8);
	ts_buf_put(&b, words, sizeof(words));
	ts_buf_put(&b, &len, sizeof(len));
	ts_buf_put(&b, key->hash, 16);
	if (u->damage.code != TS_OK)
		ts_buf_printf(&b, "%.*s", (int)TEXT_LEN - 1, u->damage.text);
	if (b.len < TRAILER_LEN)
		ts_buf_put(&b, zeros, TRAILER_LEN - b.len);
	done = ts_buf_ok(&b) || ts_no_memory(err, "opening it");
	done = done && ts_spool_write(&u->spool, b.data, TRAILER_LEN, err);
	ts_buf_fini(&b);
	return done;
}

/* ------------------------------------------------------------------------------------------------ opening */

/* Finish the spool: keep it if it may be found again, and make it the source. */
static struct ts_source *finish(struct unpacking *u, const struct key *key, struct ts_error *err)
{
	uint64_t len = u->spool.len;
	struct ts_source *src;
	char path[PATH_MAX];

	if (key && !u->spool.is_in_memory && u->spool.dir == u->opt->dir &&
	    kept_path(u->opt, key, path) && put_trailer(u, key, err) && ts_spool_keep(&u->spool, path))
		ts_cache_dir_bound(u->opt->dir, SUFFIX, u->spool.max_len / KEPT_PART);
	ts_error_reset(err);
	src = ts_spool_take(&u->spool, u->name, err);
	if (!src)
		return NULL;
	src->len = len;
	src->damage = u->damage;
	return src;
}

static struct ts_source *unpack_source(const struct ts_source *packed, enum ts_codec_kind kind,
				       const struct ts_unpack_options *opt, struct ts_error *err)
{
	struct ts_source *src = NULL;
	struct unpacking u;
	char path[PATH_MAX];
	struct key key;

	if (!make_key(packed, &key, err))
		return NULL;
	if (opt->dir && kept_path(opt, &key, path))
		src = open_kept(path, &key, ts_source_name(packed));
	if (!src && unpacking_init(&u, ts_source_name(packed), opt, err)) {
		u.in.src = packed;
		if (next_piece(&u.in, err) && unpack(&u, kind, err))
			src = finish(&u, &key, err);
		unpacking_fini(&u);
	} else if (!src) {
		unpacking_fini(&u);
	}
	if (src) {
		ts_source_take_times(src, packed);
		src->is_fleeting = packed->is_fleeting;
	}
	return src;
}

static struct ts_source *open_file(struct ts_source *file, bool is_member, const struct ts_unpack_options *opt,
				   struct ts_error *err);

/* The trace in a packed recording, whose archive is taken. */
static struct ts_source *open_packed(struct ts_source *archive, const struct ts_unpack_options *opt,
				     struct ts_error *err)
{
	struct ts_source *src = NULL;
	struct ts_pack p;

	if (ts_pack_init(&p, archive, err))
		src = ts_trace_open_packed(&p, ts_pack_find(&p, "trace/"), opt, err);
	if (src)
		src->archive = archive;
	else
		ts_source_close(archive);
	ts_pack_fini(&p);
	return src;
}

/*
 * Open what @file holds: @file itself if it is not compressed.  @file is taken.  A packed recording inside a packed
 * recording is refused: each level takes memory, and a small file could nest any number of them.
 */
static struct ts_source *open_file(struct ts_source *file, bool is_member, const struct ts_unpack_options *opt,
				   struct ts_error *err)
{
	uint8_t head[TS_CODEC_HEAD];
	enum ts_codec_kind kind;
	struct ts_source *src;
	size_t got;

	if (!ts_source_read(file, 0, head, sizeof(head), &got, err)) {
		ts_source_close(file);
		return NULL;
	}
	kind = ts_codec_detect(head, got);
	if (kind == TS_CODEC_NONE)
		return file;
	src = kind == TS_CODEC_ZSTD ? ts_zstd_seek_open(file, err) : NULL;
	if (src && is_member && ts_pack_is(src)) {
		ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			"a packed recording in a packed recording: extract it with `tracestub unpack`");
		ts_source_close(src);
		return NULL;
	}
	if (src)
		return ts_pack_is(src) ? open_packed(src, opt, err) : src;
	if (err->code != TS_OK) {
		ts_source_close(file);
		return NULL;
	}
	src = unpack_source(file, kind, opt, err);
	ts_source_close(file);
	return src;
}

struct ts_source *ts_trace_open_packed(const struct ts_pack *p, const struct ts_pack_member *m,
				       const struct ts_unpack_options *opt, struct ts_error *err)
{
	struct ts_source *src = ts_pack_open(p, m, err);

	return src ? open_file(src, true, opt, err) : NULL;
}

static struct ts_source *spool_pipe(int fd, const char *name, const struct ts_unpack_options *opt,
				    struct ts_error *err)
{
	struct ts_source *src = NULL;
	struct unpacking u;

	if (unpacking_init(&u, name, opt, err)) {
		u.in.fd = fd;
		if (next_piece(&u.in, err) && unpack(&u, ts_codec_detect(u.in.bytes, u.in.len), err))
			src = finish(&u, NULL, err);
	}
	unpacking_fini(&u);
	if (src)
		src->is_fleeting = true;
	return src;
}

/* Waits for the other end of a named pipe; other files that could wait are refused. */
static int open_path(const char *path)
{
	struct stat st;

	if (ts_is_stdin(path))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (!stat(path, &st) && S_ISFIFO(st.st_mode))
		return open(path, O_RDONLY | O_CLOEXEC);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

struct ts_source *ts_trace_open(const char *path, const struct ts_unpack_options *opt, struct ts_error *err)
{
	int fd = open_path(path);
	struct ts_source *src;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		ts_fail_errno(err, "cannot open it");
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (S_ISREG(st.st_mode)) {
		src = ts_source_watched(fd, path, err);
		if (src)
			src->is_fleeting = ts_is_stdin(path);
		return src ? open_file(src, false, opt, err) : NULL;
	}
	src = NULL;
	if (S_ISFIFO(st.st_mode) || (ts_is_stdin(path) && S_ISSOCK(st.st_mode)))
		src = spool_pipe(fd, path, opt, err);
	else
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "neither a regular file nor a pipe");
	close(fd);
	return src;
}
