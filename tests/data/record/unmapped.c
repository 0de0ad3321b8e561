/* SPDX-License-Identifier: MIT */
/* A byte in a page that is mapped, written, protected, mapped over and unmapped. */
#include <stdio.h>
#include <sys/mman.h>

static char *volatile place;

int main(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	place = page;
	page[8] = 'a';
	mprotect(page, 4096, PROT_READ);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	page[8] = 'b';
	mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	page[8] = 'c';
	munmap(page, 4096);
	puts("end");
	return 0;
}
