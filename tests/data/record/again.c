/* SPDX-License-Identifier: MIT */
/*
 * Maps a file whole and then parts of it over that, as a linker maps a library: the same part, another part, and a part that
 * was written before and has zeros in the file.  Prints where it is, and the first byte of each page.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096l

static volatile char *at;
static int fd;

static void map_over(long page, long n, long of_file, int prot)
{
	mmap((void *)(at + page * PAGE), n * PAGE, prot, MAP_PRIVATE | MAP_FIXED, fd, of_file * PAGE);
}

int main(void)
{
	static char page[PAGE];

	fd = open("again.file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 8; i++) {
		memset(page, i == 5 ? 0 : 'a' + i, PAGE);
		write(fd, page, PAGE);
	}
	at = mmap(NULL, 8 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	map_over(1, 2, 1, PROT_READ | PROT_EXEC);
	map_over(3, 1, 6, PROT_READ);
	mprotect((void *)(at + 5 * PAGE), PAGE, PROT_READ | PROT_WRITE);
	at[5 * PAGE] = 'x';
	mprotect((void *)(at + 5 * PAGE), PAGE, PROT_READ);
	map_over(5, 1, 5, PROT_READ);
	printf("%p", (void *)at);
	for (int i = 0; i < 8; i++)
		printf(" %d", at[i * PAGE]);
	printf("\n");
	return 0;
}
