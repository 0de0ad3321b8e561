/* SPDX-License-Identifier: MIT */
/*
 * A note of a packed recording's origin is the file TAG-ID.origin, TAG- that of the trace that was packed, ID the first
 * half of the packed recording's identity in hexadecimal.  It holds the trace's identity and a signature, with the
 * trace's keys, of the packed recording's identity: only a process that has these keys can give them to another file.
 */
#include "trace_keys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/atomic_file.h"
#include "src/base/cache_dir.h"
#include "src/base/collections/vec.h"
#include "src/base/io_full.h"

/* The parts of a trace that identify it. */
#define END_LEN	    65536u
#define PIECE_LEN   4096u
#define N_PIECES    16u
#define SAMPLES_LEN (2 * END_LEN + N_PIECES * PIECE_LEN)

#define ORIGIN_SUFFIX ".origin"
#define ORIGIN_LEN    (TS_TRACE_ID_LEN + TS_SIGNATURE_LEN)
#define ORIGIN_TEXT   "packed recording"
#define MAX_ORIGINS_LEN (1u << 20) /* of all notes together */

/* --------------------------------------------------------------------------------------------- identity */

/* Read @len bytes at @off, fewer at the end, after the *n that there are.  Returns false with errno. */
static bool take_sample(int fd, uint8_t *samples, size_t *n, size_t len, uint64_t off)
{
	ssize_t got = ts_read_whole(fd, samples + *n, len, off);

	*n += got > 0 ? (size_t)got : 0;
	return got >= 0;
}

/* A hash without a key: an HMAC with a key of zeros. */
static void hash(const struct iovec *parts, size_t n, uint8_t id[TS_TRACE_ID_LEN])
{
	static const uint8_t zeros[TS_SECRET_LEN];

	ts_secret_derive(zeros, parts, n, id, TS_TRACE_ID_LEN);
}

static bool identify_file(int fd, uint64_t len, uint8_t id[TS_TRACE_ID_LEN], struct ts_error *err)
{
	uint8_t *samples = malloc(SAMPLES_LEN);
	struct iovec parts[] = { { &len, sizeof(len) }, { samples, 0 } };
	size_t n = 0;
	bool done;

	if (!samples)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to identify it");
	done = take_sample(fd, samples, &n, END_LEN, 0) &&
	       take_sample(fd, samples, &n, END_LEN, len > END_LEN ? len - END_LEN : 0);
	for (unsigned i = 1; done && i <= N_PIECES; i++)
		done = take_sample(fd, samples, &n, PIECE_LEN, len / (N_PIECES + 1) * i);
	parts[1].iov_len = n;
	if (done)
		hash(parts, 2, id);
	free(samples);
	return done || ts_fail_errno(err, "cannot read it");
}

/* Set @id to a hash of samples of the trace.  A pipe cannot be sampled: its @id is a hash of its name. */
static bool identify(const char *trace, uint8_t id[TS_TRACE_ID_LEN], struct ts_error *err)
{
	struct stat st;
	bool done;
	int fd;

	if (stat(trace, &st)) {
		if (errno != ENOENT)
			return ts_fail_errno(err, "cannot stat it");
		st.st_mode = 0;
	}
	if (!S_ISREG(st.st_mode)) {
		hash(&(struct iovec){ (char *)trace, strlen(trace) }, 1, id);
		return true;
	}
	fd = open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	done = (fd >= 0 && !fstat(fd, &st)) || ts_fail_errno(err, "cannot open it");
	done = done && identify_file(fd, (uint64_t)st.st_size, id, err);
	if (fd >= 0)
		close(fd);
	return done;
}

static void put_hex(char *text, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* ----------------------------------------------------------------------------------------------- keys */

/* The file of the secret that is shared; NULL: the one in the cache directory. */
static const char *shared;

/* The keys of the trace @id; the public number remains that of the user. */
static void derive_signer(const uint8_t secret[TS_SECRET_LEN], const uint8_t id[TS_TRACE_ID_LEN], struct ts_signer *s)
{
	char text[] = "tracestub trace: ";
	const struct iovec parts[] = { { text, strlen(text) }, { (uint8_t *)id, TS_TRACE_ID_LEN } };
	uint8_t own[TS_SECRET_LEN];
	struct ts_signer user;

	ts_secret_derive(secret, parts, 2, own, sizeof(own));
	ts_signer_init(s, own);
	ts_signer_init(&user, secret);
	s->id = user.id;
	explicit_bzero(own, sizeof(own));
	explicit_bzero(&user, sizeof(user));
}

/* Differs for a file of the same contents in another place: what a process writes for it is not used for this one. */
static bool derive_tag(const char *trace, struct ts_trace_keys *keys, struct ts_error *err)
{
	char real[PATH_MAX], text[] = "files";
	const char *path = realpath(trace, real) ? real : trace;
	const struct iovec parts[] = { { text, sizeof(text) }, { (char *)path, strlen(path) } };
	uint8_t signature[TS_SIGNATURE_LEN];

	if (path == trace && errno != ENOENT)
		return ts_fail_errno(err, "cannot find its path");
	ts_signer_sign(&keys->signer, parts, 2, signature);
	put_hex(keys->tag, signature, 16);
	strcat(keys->tag, "-");
	return true;
}

/* The signed message of a note. */
#define ORIGIN_PARTS(packed) { { (char *)ORIGIN_TEXT, sizeof(ORIGIN_TEXT) }, { (uint8_t *)(packed), TS_TRACE_ID_LEN } }

/* Take the note @name if it is good: keys->id and the signer become those of the trace that was packed. */
static bool take_origin(int dir, const char *name, const uint8_t secret[TS_SECRET_LEN], struct ts_trace_keys *keys)
{
	const struct iovec parts[] = ORIGIN_PARTS(keys->id);
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint8_t note[ORIGIN_LEN];
	struct ts_signer signer;
	bool is_good = fd >= 0 && ts_read_whole(fd, note, sizeof(note), 0) == (ssize_t)sizeof(note);

	if (fd >= 0)
		close(fd);
	if (!is_good)
		return false;
	derive_signer(secret, note, &signer);
	is_good = ts_signer_check(&signer, parts, 2, note + TS_TRACE_ID_LEN);
	if (is_good) {
		memcpy(keys->id, note, TS_TRACE_ID_LEN);
		keys->signer = signer;
	}
	explicit_bzero(&signer, sizeof(signer));
	return is_good;
}

static bool find_origin(const char *folder, const uint8_t secret[TS_SECRET_LEN], struct ts_trace_keys *keys,
			struct ts_error *err)
{
	char end[64] = "-";
	DIR *dir = opendir(folder);
	struct dirent *e;

	if (!dir) /* with a shared secret there need not be one */
		return shared || ts_fail_errno(err, "cannot list it");
	put_hex(end + 1, keys->id, 16);
	strcat(end, ORIGIN_SUFFIX);
	while ((e = readdir(dir))) {
		size_t len = strlen(e->d_name);

		if (len > strlen(end) && !strcmp(e->d_name + len - strlen(end), end) &&
		    take_origin(dirfd(dir), e->d_name, secret, keys))
			break;
	}
	closedir(dir);
	return true;
}

bool ts_trace_keys_share(const char *path, struct ts_error *err)
{
	uint8_t secret[TS_SECRET_LEN];
	bool done = ts_secret_read(secret, path, err);

	explicit_bzero(secret, sizeof(secret));
	if (done)
		shared = path;
	return done;
}

/* *folder is NULL if there is no cache directory, which only a shared secret can do without. */
static bool open_secret(uint8_t secret[TS_SECRET_LEN], char path[PATH_MAX], const char **folder, struct ts_error *err)
{
	*folder = ts_cache_dir(path) ? path : NULL;
	if (shared)
		return ts_secret_read(secret, shared, err) || ts_fail_prefix(err, "%s", shared);
	if (!*folder)
		return ts_fail(err, TS_EIO, TS_NO_OFF,
			       "there is no cache directory for the key that signs index files: neither "
			       "XDG_CACHE_HOME nor HOME is an absolute path");
	return ts_secret_open(secret, *folder, err) || ts_fail_prefix(err, "%s", *folder);
}

static bool make_keys(const char *trace, struct ts_trace_keys *keys, struct ts_error *err)
{
	uint8_t secret[TS_SECRET_LEN];
	char path[PATH_MAX];
	const char *folder;
	bool done;

	*keys = (struct ts_trace_keys){ 0 };
	if (!open_secret(secret, path, &folder, err))
		return false;
	done = identify(trace, keys->id, err);
	if (done) {
		derive_signer(secret, keys->id, &keys->signer);
		done = (!folder || find_origin(folder, secret, keys, err) || ts_fail_prefix(err, "%s", folder)) &&
		       derive_tag(trace, keys, err);
	}
	explicit_bzero(secret, sizeof(secret));
	return done;
}

/* ------------------------------------------------------------------------------------------- prepared */

/* For the whole process: it is in one sandbox. */
static struct prepared {
	char *trace; /* owned */
	struct ts_trace_keys keys;
	struct ts_error why; /* TS_OK: they are there */
} *prepared;
static size_t n_prepared, cap_prepared;

static const struct prepared *find_prepared(const char *trace)
{
	for (size_t i = 0; i < n_prepared; i++) {
		if (!strcmp(prepared[i].trace, trace))
			return &prepared[i];
	}
	return NULL;
}

bool ts_trace_keys_prepare(const char *const *traces, size_t n)
{
	struct prepared *p;

	if (!ts_vec_reserve(&prepared, n_prepared, &cap_prepared, n, sizeof(*prepared)))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!traces[i] || find_prepared(traces[i]))
			continue;
		p = &prepared[n_prepared];
		ts_error_reset(&p->why);
		p->trace = strdup(traces[i]);
		if (!p->trace)
			return false;
		n_prepared++;
		make_keys(traces[i], &p->keys, &p->why);
	}
	return true;
}

bool ts_trace_keys(const char *trace, struct ts_trace_keys *keys, struct ts_error *err)
{
	const struct prepared *p = find_prepared(trace);

	if (!n_prepared)
		return make_keys(trace, keys, err);
	if (!p)
		return ts_fail(err, TS_EIO, TS_NO_OFF, "%s has no key: the command line does not name it", trace);
	*keys = p->keys;
	return p->why.code == TS_OK || ts_fail(err, p->why.code, TS_NO_OFF, "%s", p->why.text);
}

/* ------------------------------------------------------------------------------------------ the origin */

static bool write_origin(const char *path, const uint8_t note[ORIGIN_LEN], struct ts_error *err)
{
	struct ts_atomic_file f;
	bool done = ts_atomic_file_init(&f, path, err) && ts_atomic_file_write(&f, note, ORIGIN_LEN, err) &&
		    ts_atomic_file_finish(&f, err);

	ts_atomic_file_fini(&f);
	return done;
}

bool ts_trace_keys_keep_origin(const char *trace, const char *packed, struct ts_error *err)
{
	char folder[PATH_MAX], path[PATH_MAX + 128], id_text[33];
	uint8_t id[TS_TRACE_ID_LEN], note[ORIGIN_LEN];
	const struct iovec parts[] = ORIGIN_PARTS(id);
	struct ts_trace_keys keys;

	if (!ts_cache_dir(folder))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "there is no cache directory");
	if (!ts_trace_keys(trace, &keys, err) || !identify(packed, id, err))
		return false;
	put_hex(id_text, id, 16);
	snprintf(path, sizeof(path), "%s/%s%s" ORIGIN_SUFFIX, folder, keys.tag, id_text);
	memcpy(note, keys.id, TS_TRACE_ID_LEN);
	ts_signer_sign(&keys.signer, parts, 2, note + TS_TRACE_ID_LEN);
	if (!write_origin(path, note, err))
		return false;
	ts_cache_dir_bound(folder, ORIGIN_SUFFIX, MAX_ORIGINS_LEN);
	return true;
}
