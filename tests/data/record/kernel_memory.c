/* SPDX-License-Identifier: MIT */
/*
 * Memory that the kernel changes without writing to it as a buffer: the program prints an address, a length and the
 * bytes that it finds there, after having looked at one of them only.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096
#define LEN 32

static volatile char sink;

static void show(const char *name, const unsigned char *p)
{
	printf("%s %p", name, (const void *)p);
	fflush(stdout); /* its write is where the recording is asked */
	sink = p[LEN - 1];
	for (int i = 0; i < LEN; i++)
		printf("%s%02x", i ? "" : " ", p[i]);
	printf("\n");
	fflush(stdout);
}

static unsigned char *map(int prot, int flags, int fd)
{
	return mmap(NULL, 4 * PAGE, prot, flags, fd, 0);
}

static int new_file(void)
{
	char path[] = "kernel_memory.XXXXXX";
	int fd = mkstemp(path);
	char page[4 * PAGE];

	unlink(path);
	memset(page, 'f', sizeof(page));
	write(fd, page, sizeof(page));
	return fd;
}

int main(void)
{
	int fd = new_file(), ends[2];
	unsigned char *anonymous = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	unsigned char *untouched = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	unsigned char *constant = map(PROT_READ, MAP_PRIVATE, fd);
	unsigned char *shared = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd), *moved;
	struct iovec v = { "VVVV", 4 };

	memset(anonymous, 'A', 4 * PAGE);
	madvise(anonymous, PAGE, MADV_DONTNEED);
	show("dontneed", anonymous);
	mprotect(anonymous + PAGE, PAGE, PROT_READ);
	madvise(anonymous + PAGE, PAGE, MADV_DONTNEED);
	show("dontneed_readonly", anonymous + PAGE);
	pwrite(fd, "PPPPPPPPPPPPPPPP", 16, 0);
	show("private_pwrite", untouched);
	pwritev(fd, &v, 1, PAGE);
	show("readonly_pwritev", constant + PAGE);
	untouched[PAGE] = 'w';
	madvise(untouched + PAGE, PAGE, MADV_DONTNEED);
	show("private_dontneed", untouched + PAGE);
	shared[2 * PAGE] = 's';
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * PAGE, PAGE);
	show("punched", shared + 2 * PAGE);
	show("punched_private", untouched + 2 * PAGE);
	moved = mremap(anonymous + 2 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, untouched + 3 * PAGE);
	show("moved", moved);
	pipe(ends);
	write(ends[1], "zzzz", 4);
	memset(anonymous + 3 * PAGE, 'z', 4);
	read(ends[0], anonymous + 3 * PAGE, 4);
	show("same", anonymous + 3 * PAGE);
	syscall(SYS_getrlimit, RLIMIT_NOFILE, anonymous + PAGE / 2); /* Valgrind keeps some descriptors for itself */
	show("limit", anonymous + PAGE / 2);
	syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, anonymous + PAGE / 2 + 64);
	show("limit64", anonymous + PAGE / 2 + 64);
	return 0;
}
