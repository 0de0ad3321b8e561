/* SPDX-License-Identifier: MIT */
#include "signer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/atomic_file.h"
#include "src/base/io_full.h"

#define HASH_LEN 16

_Static_assert(HASH_LEN == GCM_DIGEST_SIZE, "a hash is a GMAC");
_Static_assert(TS_SIGNATURE_LEN <= SHA256_DIGEST_SIZE, "a signature is the beginning of an HMAC");

/* -------------------------------------------------------------------------------------- the signature */

void ts_secret_derive(const uint8_t secret[TS_SECRET_LEN], const struct iovec *parts, size_t n, uint8_t *key, size_t len)
{
	struct hmac_sha256_ctx mac;

	hmac_sha256_set_key(&mac, TS_SECRET_LEN, secret);
	for (size_t i = 0; i < n; i++)
		hmac_sha256_update(&mac, parts[i].iov_len, parts[i].iov_base);
	hmac_sha256_digest(&mac, len, key);
	explicit_bzero(&mac, sizeof(mac));
}

/*
 * Both codes with their keys set, which costs as much as a kilobyte: a thread keeps them for the next message.
 */
struct keyed {
	struct ts_signer signer; /* whose keys they are */
	bool is_set;
	struct gcm_aes256_ctx gcm;
	struct hmac_sha256_ctx mac;
};

static struct keyed *set_keys(const struct ts_signer *s)
{
	static _Thread_local struct keyed k;

	if (k.is_set && !memcmp(k.signer.hash_key, s->hash_key, sizeof(s->hash_key)) &&
	    !memcmp(k.signer.mac_key, s->mac_key, sizeof(s->mac_key)))
		return &k;
	k.signer = *s;
	k.is_set = true;
	gcm_aes256_set_key(&k.gcm, s->hash_key);
	hmac_sha256_set_key(&k.mac, sizeof(s->mac_key), s->mac_key);
	return &k;
}

/* AES-256-GMAC: Galois counter mode with nothing to encrypt. */
struct gmac {
	struct gcm_aes256_ctx *gcm;   /* borrowed */
	uint8_t rest[GCM_BLOCK_SIZE]; /* what does not fill a block yet: only the last may be shorter */
	size_t n_rest;
};

static void gmac_put(struct gmac *m, const uint8_t *p, size_t len)
{
	size_t room = sizeof(m->rest) - m->n_rest, n = len < room ? len : room, whole;

	if (!len)
		return;
	memcpy(m->rest + m->n_rest, p, n);
	m->n_rest += n;
	if (m->n_rest < sizeof(m->rest))
		return;
	gcm_aes256_update(m->gcm, sizeof(m->rest), m->rest);
	whole = (len - n) & ~(sizeof(m->rest) - 1);
	gcm_aes256_update(m->gcm, whole, p + n);
	m->n_rest = len - n - whole;
	memcpy(m->rest, p + n + whole, m->n_rest);
}

static void gmac(struct gcm_aes256_ctx *gcm, const struct iovec *parts, size_t n, uint8_t code[HASH_LEN])
{
	static const uint8_t nonce[GCM_IV_SIZE]; /* always the same: this code is never published */
	struct gmac m = { .gcm = gcm };

	gcm_aes256_set_iv(gcm, sizeof(nonce), nonce);
	for (size_t i = 0; i < n; i++)
		gmac_put(&m, parts[i].iov_base, parts[i].iov_len);
	gcm_aes256_update(gcm, m.n_rest, m.rest);
	gcm_aes256_digest(gcm, HASH_LEN, code);
}

void ts_signer_sign(const struct ts_signer *s, const struct iovec *parts, size_t n,
		    uint8_t signature[TS_SIGNATURE_LEN])
{
	struct keyed *k = set_keys(s);
	uint8_t hash[HASH_LEN];

	gmac(&k->gcm, parts, n, hash);
	hmac_sha256_update(&k->mac, sizeof(hash), hash);
	hmac_sha256_digest(&k->mac, TS_SIGNATURE_LEN, signature); /* and ready for the next message */
}

bool ts_signer_check(const struct ts_signer *s, const struct iovec *parts, size_t n,
		     const uint8_t signature[TS_SIGNATURE_LEN])
{
	uint8_t want[TS_SIGNATURE_LEN];

	ts_signer_sign(s, parts, n, want);
	return memeql_sec(want, signature, sizeof(want));
}

/* ----------------------------------------------------------------------------------------- the secret */

static void derive(const uint8_t secret[TS_SECRET_LEN], const char *use, uint8_t *key, size_t len)
{
	char text[] = "tracestub index: ";
	const struct iovec parts[] = { { text, strlen(text) }, { (char *)use, strlen(use) } };

	ts_secret_derive(secret, parts, 2, key, len);
}

void ts_signer_init(struct ts_signer *s, const uint8_t secret[TS_SECRET_LEN])
{
	derive(secret, "hash", s->hash_key, sizeof(s->hash_key));
	derive(secret, "code", s->mac_key, sizeof(s->mac_key));
	derive(secret, "id", (uint8_t *)&s->id, sizeof(s->id));
}

/* Make the folders of @path, which is as it was afterwards. */
static bool make_folders(char *path, struct ts_error *err)
{
	bool done = true;

	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		done = mkdir(path, 0700) == 0 || errno == EEXIST; /* it is the last one that must be there */
		*p = '/';
	}
	return done || ts_fail_errno(err, "cannot make it");
}

static bool write_secret(int fd, struct ts_error *err)
{
	uint8_t secret[TS_SECRET_LEN];
	bool done;

	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		return ts_fail_errno(err, "no random numbers");
	done = ts_write_whole(fd, secret, sizeof(secret)) && fsync(fd) == 0;
	explicit_bzero(secret, sizeof(secret));
	return done || ts_fail_errno(err, "cannot write a key");
}

/* Make the key in a file aside, which then gets its name, unless another process was faster. */
static bool make_key(char *path, struct ts_error *err)
{
	char aside[PATH_MAX];
	bool done;
	int fd;

	if (!make_folders(path, err))
		return false;
	if (snprintf(aside, sizeof(aside), "%s.XXXXXX", path) >= (int)sizeof(aside))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "its path is too long");
	fd = mkstemp(aside); /* 0600 */
	if (fd < 0)
		return ts_fail_errno(err, "cannot write a key there");
	done = write_secret(fd, err);
	if (done && link(aside, path) < 0 && errno != EEXIST)
		done = ts_fail_errno(err, "cannot name the key");
	unlink(aside);
	close(fd);
	if (done)
		ts_sync_folder_of(path); /* it stays as long as what it signs */
	return done;
}

static bool read_key(int fd, uint8_t secret[TS_SECRET_LEN], struct ts_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ts_fail_errno(err, "cannot stat its key");
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return ts_fail(err, TS_EIO, TS_NO_OFF,
			       "its key is not a file that this user alone can read: remove it");
	if (st.st_size != TS_SECRET_LEN || ts_read_whole(fd, secret, TS_SECRET_LEN, 0) != TS_SECRET_LEN)
		return ts_fail(err, TS_EIO, TS_NO_OFF, "its key is damaged: remove it");
	return true;
}

bool ts_secret_open(uint8_t secret[TS_SECRET_LEN], const char *folder, struct ts_error *err)
{
	char path[PATH_MAX];
	bool done;
	int fd;

	if (snprintf(path, sizeof(path), "%s/key", folder) >= (int)sizeof(path))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "its path is too long");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) {
		if (!make_key(path, err))
			return false;
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	}
	if (fd < 0)
		return ts_fail_errno(err, "cannot read its key");
	done = read_key(fd, secret, err);
	close(fd);
	return done;
}

static bool read_shared(int fd, uint8_t secret[TS_SECRET_LEN], struct ts_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ts_fail_errno(err, "cannot stat it");
	if (!S_ISREG(st.st_mode))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "it is not a regular file");
	if (st.st_uid != geteuid() || st.st_mode & 077)
		return ts_fail(err, TS_EIO, TS_NO_OFF,
			       "a key must belong to this user and have mode 0600: a process that can read it can forge indexes");
	if (st.st_size != TS_SECRET_LEN)
		return ts_fail(err, TS_EIO, TS_NO_OFF, "it has %lld bytes, but a key has %d random ones",
			       (long long)st.st_size, TS_SECRET_LEN);
	if (ts_read_whole(fd, secret, TS_SECRET_LEN, 0) != TS_SECRET_LEN)
		return ts_fail_errno(err, "cannot read it");
	return true;
}

bool ts_secret_read(uint8_t secret[TS_SECRET_LEN], const char *path, struct ts_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool done = fd >= 0 ? read_shared(fd, secret, err) : ts_fail_errno(err, "cannot open it");

	if (fd >= 0)
		close(fd);
	return done;
}
