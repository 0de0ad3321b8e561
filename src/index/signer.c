/* SPDX-License-Identifier: MIT */
#include "signer.h"

#include <errno.h>
#include <fcntl.h>
#include <gcrypt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/whole.h"

#define HASH_LEN 16
#define HMAC_LEN 32

_Static_assert(TS_SIGNATURE_LEN <= HMAC_LEN, "a signature is the beginning of an HMAC");

/* ------------------------------------------------------------------------------------- the library */

static void init_library(void)
{
	static bool is_done;

	if (is_done)
		return;
	is_done = true;
	gcry_check_version(NULL);
	gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

/* The code of the parts with @algo; @nonce, of @nonce_len bytes, is NULL if it takes none. */
static bool compute(int algo, const uint8_t key[32], const uint8_t *nonce, size_t nonce_len,
		    const struct iovec *parts, size_t n, uint8_t *code, size_t len)
{
	gcry_mac_hd_t mac;
	bool done;

	init_library();
	if (gcry_mac_open(&mac, algo, 0, NULL))
		return false;
	done = !gcry_mac_setkey(mac, key, 32) && (!nonce || !gcry_mac_setiv(mac, nonce, nonce_len));
	for (size_t i = 0; i < n && done; i++)
		done = !parts[i].iov_len || !gcry_mac_write(mac, parts[i].iov_base, parts[i].iov_len);
	done = done && !gcry_mac_read(mac, code, &len);
	gcry_mac_close(mac);
	return done;
}

static bool hmac(const uint8_t key[32], const struct iovec *parts, size_t n, uint8_t out[HMAC_LEN])
{
	return compute(GCRY_MAC_HMAC_SHA256, key, NULL, 0, parts, n, out, HMAC_LEN);
}

bool ts_signer_sign(const struct ts_signer *s, const struct iovec *parts, size_t n,
		    uint8_t signature[TS_SIGNATURE_LEN])
{
	static const uint8_t nonce[12]; /* the same always: nobody sees this code */
	uint8_t hash[HASH_LEN], whole[HMAC_LEN];
	const struct iovec hashed = { hash, sizeof(hash) };

	if (!compute(GCRY_MAC_GMAC_AES, s->hash_key, nonce, sizeof(nonce), parts, n, hash, sizeof(hash)) ||
	    !hmac(s->mac_key, &hashed, 1, whole))
		return false;
	memcpy(signature, whole, TS_SIGNATURE_LEN);
	return true;
}

bool ts_signer_check(const struct ts_signer *s, const struct iovec *parts, size_t n,
		     const uint8_t signature[TS_SIGNATURE_LEN])
{
	uint8_t want[TS_SIGNATURE_LEN], diff = 0;

	if (!ts_signer_sign(s, parts, n, want))
		return false;
	for (unsigned i = 0; i < TS_SIGNATURE_LEN; i++)
		diff |= want[i] ^ signature[i];
	return !diff;
}

/* ----------------------------------------------------------------------------------------- the secret */

static bool derive(const uint8_t secret[TS_SECRET_LEN], const char *use, uint8_t key[HMAC_LEN])
{
	char text[] = "tracestub index: ";
	const struct iovec parts[] = { { text, strlen(text) }, { (char *)use, strlen(use) } };

	return hmac(secret, parts, 2, key);
}

bool ts_signer_init(struct ts_signer *s, const uint8_t secret[TS_SECRET_LEN], struct ts_error *err)
{
	uint8_t id[HMAC_LEN];

	if (!derive(secret, "hash", s->hash_key) || !derive(secret, "code", s->mac_key) ||
	    !derive(secret, "id", id))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "libgcrypt cannot compute an HMAC-SHA-256");
	memcpy(&s->id, id, sizeof(s->id));
	return true;
}

static bool make_folders(const char *folder, struct ts_error *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s", folder) >= (int)sizeof(path))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "its path is too long");
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return ts_fail_errno(err, "cannot make it");
	return true;
}

static bool write_secret(int fd, struct ts_error *err)
{
	uint8_t secret[TS_SECRET_LEN];

	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		return ts_fail_errno(err, "no random numbers");
	if (!ts_write_whole(fd, secret, sizeof(secret)) || fsync(fd) < 0)
		return ts_fail_errno(err, "cannot write a key");
	return true;
}

/* Make the key in a file aside, which then gets its name, unless another process was faster. */
static bool make_key(const char *folder, const char *path, struct ts_error *err)
{
	char aside[PATH_MAX];
	bool done;
	int fd;

	if (!make_folders(folder, err))
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

bool ts_signer_open(struct ts_signer *s, const char *folder, struct ts_error *err)
{
	uint8_t secret[TS_SECRET_LEN];
	char path[PATH_MAX];
	bool done;
	int fd;

	if (snprintf(path, sizeof(path), "%s/key", folder) >= (int)sizeof(path))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "its path is too long");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) {
		if (!make_key(folder, path, err))
			return false;
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	}
	if (fd < 0)
		return ts_fail_errno(err, "cannot read its key");
	done = read_key(fd, secret, err) && ts_signer_init(s, secret, err);
	close(fd);
	return done;
}
