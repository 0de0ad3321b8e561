/* SPDX-License-Identifier: MIT */
/*
 * The messages of BAP's frames (frame.piqi of bap-frames).  The enums name the fields of a message: each
 * value is the index of the field in the message's list in schema.c, counted from 1.
 */
#ifndef LOADERS_BAP_SCHEMA_H
#define LOADERS_BAP_SCHEMA_H

#include "loaders/kit/pbwire.h"

enum { FRAME_STD = 1, FRAME_SYSCALL, FRAME_EXCEPTION, FRAME_TAINT_INTRO, FRAME_MODLOAD, FRAME_KEY };
enum { STD_ADDRESS = 1, STD_THREAD_ID, STD_RAWBYTES, STD_PRE_LIST, STD_POST_LIST, STD_MODE };
enum { OPERAND_SPECIFIC = 1, OPERAND_BIT_LENGTH, OPERAND_USAGE, OPERAND_TAINT, OPERAND_VALUE };
enum { SPECIFIC_MEM = 1, SPECIFIC_REG };
enum { USAGE_READ = 1, USAGE_WRITTEN, USAGE_INDEX, USAGE_BASE };
enum { SYSCALL_ADDRESS = 1, SYSCALL_THREAD_ID, SYSCALL_NUMBER, SYSCALL_ARGUMENTS };
enum { EXCEPTION_NUMBER = 1, EXCEPTION_THREAD_ID, EXCEPTION_FROM, EXCEPTION_TO };
enum { TAINT_ADDR = 1, TAINT_ID, TAINT_VALUE, TAINT_SOURCE, TAINT_OFFSET };
enum { MODLOAD_NAME = 1, MODLOAD_LOW, MODLOAD_HIGH };
enum { TAGGED_SOURCE = 1, TAGGED_VALUES };
enum { SOURCE_NO_THREAD = 1, SOURCE_THREAD_ID };
enum { VALUE_SPECIFIC = 1, VALUE_BIT_LENGTH, VALUE_TAINT, VALUE_VALUE };
enum { META_TRACER = 1, META_TARGET, META_FSTATS, META_USER, META_HOST, META_TIME };
enum { TRACER_NAME = 1, TRACER_ARGS, TRACER_ENVP, TRACER_VERSION };
enum { TARGET_PATH = 1, TARGET_ARGS, TARGET_ENVP, TARGET_MD5SUM };

extern const struct pb_message_def bap_frame, bap_std, bap_operand_list, bap_operand, bap_specific, bap_mem,
	bap_reg, bap_usage, bap_syscall, bap_argument_list, bap_exception, bap_taint_intro, bap_taint_list,
	bap_taint, bap_modload, bap_key, bap_tagged_lists, bap_tagged, bap_source, bap_value_list, bap_value,
	bap_meta, bap_tracer, bap_target;

#endif
