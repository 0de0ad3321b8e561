/* SPDX-License-Identifier: MIT */
/* A trace that has each kind of op, for tests that cut and damage it. */
#ifndef TESTS_USERCORN_WHOLE_H
#define TESTS_USERCORN_WHOLE_H

#define HEADER_LEN 74

#define KEY0 "KEY 0 { REG 44 7100 MAP 1000 1000 5 exe prog WRITE 1000 0f05 } "

#define WHOLE                                                                                                \
	KEY0 "KEY 5 { REG 35 1 } NOP FRAME 0 { READ 1000 2 } FRAME 0 { JMP 1000 REG 35 7000 SPREG 122 0011 " \
	     "READ 2000 8 "                                                                                  \
	     "WRITE 2008 0102 MAP 3000 1000 3 brk file UNMAP 3000 1000 PROT 1000 1000 5 STEP 2 "             \
	     "SYSCALL 1 5 1,2000,5 { REG 38 9 READ 2000 5 NOP } NOP STEP 3 WRITE 7000 11 } FRAME 5 { JMP "   \
	     "5000 STEP 1 } "                                                                                \
	     "KEY 7 { REG 35 3 } FRAME 0 { STEP 1 } FRAME 5 { SYSCALL 2 0 - { WRITE 8000 22 } STEP 1 } "     \
	     "FRAME 0 { STEP 2 SYSCALL 60 0 15 { EXIT } STEP 2 }"

#endif
