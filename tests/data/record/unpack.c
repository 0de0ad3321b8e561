/* SPDX-License-Identifier: MIT */
/* Code that is written before it runs (e2e/mcp_sessions.py): x86-64's mov eax, 0x2a6f; ret, each byte xored with 0x5c. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const unsigned char packed[] = { 0xb8 ^ 0x5c, 0x6f ^ 0x5c, 0x2a ^ 0x5c, 0 ^ 0x5c, 0 ^ 0x5c, 0xc3 ^ 0x5c };

int main(void)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*entry)(void) = (int (*)(void))(uintptr_t)page;

	for (unsigned i = 0; i < sizeof(packed); i++)
		page[i] = packed[i] ^ 0x5c;
	return entry() == 0x2a6f;
}
