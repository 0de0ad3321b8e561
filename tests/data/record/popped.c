/* SPDX-License-Identifier: MIT */
/* Functions that take their return address off the stack, and what they do then. */
long saved;
volatile long sink;

__attribute__((noinline, used)) long worker(long n)
{
	sink = n;
	return n + 1;
}

__asm__(".text\n"
	/* like OCaml's caml_c_call: the address stays where it is, and the function goes on by a jump */
	".globl keeps\n.type keeps, @function\nkeeps:\n"
	"	pop saved(%rip)\n	mov %rsp, %r11\n	sub $8, %rsp\n	jmp worker\n.size keeps, . - keeps\n"
	".globl puts_back\n.type puts_back, @function\nputs_back:\n"
	"	pop %rcx\n	lea 2(%rdi), %rax\n	push %rcx\n	ret\n.size puts_back, . - puts_back\n"
	".globl jumps_back\n.type jumps_back, @function\njumps_back:\n"
	"	pop %rcx\n	lea 3(%rdi), %rax\n	jmp *%rcx\n.size jumps_back, . - jumps_back\n"
	/* its caller is left, too */
	".globl drops\n.type drops, @function\ndrops:\n"
	"	pop %rcx\n	lea 4(%rdi), %rax\n	ret\n.size drops, . - drops\n"
	".globl is_left\n.type is_left, @function\nis_left:\n"
	"	call drops\n	hlt\n.size is_left, . - is_left\n"
	".globl lowers\n.type lowers, @function\nlowers:\n"
	"	pop %rcx\n	lea 5(%rdi), %rax\n	sub $24, %rsp\n	add $24, %rsp\n	jmp *%rcx\n.size lowers, . - lowers\n");

long keeps(long), puts_back(long), jumps_back(long), is_left(long), lowers(long);

int main(void)
{
	return keeps(10) + puts_back(20) + jumps_back(30) + is_left(40) + lowers(50) != 11 + 22 + 33 + 44 + 55;
}
