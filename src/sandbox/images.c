/* SPDX-License-Identifier: MIT */
#include "images.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "src/base/bytes.h"
#include "src/base/source_name.h"

/* Where ELF has the type of the file, and DOS the offset of the header that counts. */
#define ELF_TYPE_AT   16
#define PE_OFFSET_AT  0x3c
#define HEAD_LEN      0x40

static bool is_elf_image(const uint8_t *head)
{
	uint64_t type = ts_number(head + ELF_TYPE_AT, 2, head[EI_DATA] == ELFDATA2MSB);

	return !memcmp(head, ELFMAG, SELFMAG) && (type == ET_EXEC || type == ET_DYN || type == ET_REL);
}

static bool is_pe_image(int fd, const uint8_t *head)
{
	char magic[4];

	return !memcmp(head, "MZ", 2) &&
	       pread(fd, magic, sizeof(magic), (off_t)ts_number(head + PE_OFFSET_AT, 4, false)) == (ssize_t)sizeof(magic) &&
	       !memcmp(magic, "PE\0\0", 4);
}

static bool is_image(int fd)
{
	uint8_t head[HEAD_LEN];

	return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) && (is_elf_image(head) || is_pe_image(fd, head));
}

/* The file that @held names, for reading. */
static int reopen(int held)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", held);
	return open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The regular file that @held names, for reading; the descriptor is closed. */
static int open_regular(int held)
{
	int fd = -1, error = EACCES;
	struct stat st;

	if (!fstat(held, &st) && S_ISREG(st.st_mode)) {
		fd = reopen(held);
		error = errno;
	}
	close(held);
	errno = error;
	return fd;
}

int ts_sandbox_open_image(const char *path)
{
	int held = ts_place_resolve(AT_FDCWD, path, 0), fd = held < 0 ? -1 : open_regular(held);

	if (fd < 0 || is_image(fd))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

/* What the file is called in truth, behind symbolic links. */
static bool is_source(int held)
{
	char self[32], path[PATH_MAX];
	ssize_t len;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", held);
	len = readlink(self, path, sizeof(path) - 1);
	path[len > 0 ? len : 0] = '\0';
	return ts_is_source_name(path);
}

int ts_sandbox_open_source(const char *path)
{
	int held = ts_place_resolve(AT_FDCWD, path, 0);

	if (held < 0)
		return -1;
	if (is_source(held))
		return open_regular(held);
	close(held);
	errno = EACCES;
	return -1;
}
