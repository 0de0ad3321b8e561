/* SPDX-License-Identifier: MIT */
/*
 * stepper OUT PROGRAM: step through a program and write pc, rax rbx rcx rdx rsi rdi rbp rsp r8..r15 eflags before each
 * instruction, 8 bytes each, then ymm0 to ymm15, and st(0) to st(7) of 16 bytes each.
 *
 * OUT.memory: before each 500th instruction its number, and the address, the length and the bytes of each writable mapping but
 * the stack; numbers of 8 bytes.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Intel's manual, volume 1, 13.4: where the state that xsave writes has its parts. */
#define ST_OFF 32
#define XMM_OFF 160
#define X87 1
#define PRESENT_OFF 512
#define SSE 2
#define AVX 4

static void write_vectors(FILE *out, pid_t pid)
{
	unsigned char state[16384] = { 0 };
	struct iovec v = { state, sizeof(state) };
	unsigned size, high = 0, c, d;
	uint64_t present;

	__get_cpuid_count(13, 2, &size, &high, &c, &d);
	ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &v);
	memcpy(&present, state + PRESENT_OFF, sizeof(present));
	for (int i = 0; i < 16; i++) {
		unsigned char ymm[32] = { 0 };

		if (present & SSE)
			memcpy(ymm, state + XMM_OFF + 16 * i, 16);
		if (present & AVX && high)
			memcpy(ymm + 16, state + high + 16 * i, 16);
		fwrite(ymm, sizeof(ymm), 1, out);
	}
	if (!(present & X87))
		memset(state + ST_OFF, 0, 8 * 16);
	fwrite(state + ST_OFF, 8 * 16, 1, out);
}

static void write_memory(FILE *out, pid_t pid, uint64_t n)
{
	char path[64], line[512], name[256];
	static unsigned char bytes[1 << 20];
	uint64_t start, end;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	while (fgets(line, sizeof(line), maps)) {
		struct iovec here = { bytes, sizeof(bytes) }, there;
		char mode[8];

		*name = '\0';
		sscanf(line, "%lx-%lx %4s %*s %*s %*s %255[^\n]", &start, &end, mode, name);
		if (strncmp(mode, "rw", 2) != 0 || strchr(name, '[') || end - start > sizeof(bytes))
			continue;
		here.iov_len = end - start;
		there = (struct iovec){ (void *)start, end - start };
		if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)(end - start))
			continue;
		fwrite((uint64_t[]){ n, start, end - start }, 24, 1, out);
		fwrite(bytes, end - start, 1, out);
	}
	fclose(maps);
}

int main(int argc, char **argv)
{
	FILE *out = fopen(argv[1], "w"), *memory;
	char name[512];
	struct user_regs_struct r;
	pid_t pid = fork();
	uint64_t n = 0;
	int status;

	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	snprintf(name, sizeof(name), "%s.memory", argv[1]);
	memory = fopen(name, "w");
	waitpid(pid, &status, 0);
	while (WIFSTOPPED(status)) {
		ptrace(PTRACE_GETREGS, pid, 0, &r);
		uint64_t row[18] = { r.rip, r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9,
				     r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.eflags };

		fwrite(row, sizeof(row), 1, out);
		write_vectors(out, pid);
		if (n++ % 500 == 0)
			write_memory(memory, pid, n - 1);
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		if (waitpid(pid, &status, 0) < 0)
			break;
	}
	return fclose(out) != 0 || fclose(memory) != 0;
}
