/* mremap(2) moves two bytes of a page: one that was read, and a constant. Prints where the byte was read, and where both are now. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

char in[4];

int main(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q;

	if (p == MAP_FAILED || read(0, in, sizeof(in)) != sizeof(in))
		return 1;
	p[5] = in[2];
	p[6] = 'k';
	q = mremap(p, 4096, 65536, MREMAP_MAYMOVE); /* the second page is in its way */
	if (q == MAP_FAILED || q == p || q[5] != in[2])
		return 1;
	printf("%p %p\n", (void *)(in + 2), (void *)(q + 5));
	return 0;
}
