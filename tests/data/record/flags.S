/* SPDX-License-Identifier: MIT */
/* Instructions that change each bit of the flags register that a program may change. */
	.globl _start
_start:
#ifdef __x86_64__
	cld
	std
	cld
	pushfq
	orq $0x40000, (%rsp)	/* AC */
	popfq
	clc
	pushfq
	andq $~0x40000, (%rsp)
	popfq
	pushfq
	xorq $0x200000, (%rsp)	/* ID */
	popfq
	pushfq
	xorq $0x4000, (%rsp)	/* NT */
	popfq
	pushfq
	andq $~0x4000, (%rsp)
	popfq
	mov $0xd5, %ah
	sahf
	stc
	cmc
	xor %edi, %edi
	mov $60, %eax
	syscall
#else
	.syntax unified
	.arm
	mov r0, #0x7fffffff
	qadd r1, r0, r0		/* Q */
	mov r2, #0
	msr apsr_nzcvq, r2
	uadd8 r3, r0, r0	/* GE */
	usub8 r3, r2, r0
	setend be		/* E */
	setend le
	adr r4, 1f
	orr r4, r4, #1
	bx r4			/* T */
	.thumb
1:	cmp r2, r0
	itte ne			/* IT */
	movne r5, #1
	movne r6, #2
	moveq r7, #3
	movs r0, #0
	movs r7, #1
	svc #0
#endif
