/* SPDX-License-Identifier: MIT */
/*
 * The schema.  A message's line lists its fields by ascending number, from 1 on: their names, with their wire
 * types.  MUST names, by their numbers, those without which a message is damaged; the others' absence has a
 * meaning (thread 0, no bytes, no operands).
 *
 * "bit_length" and system calls' arguments are zig-zag numbers.  Lists are messages whose field 1 repeats.
 */
#include "schema.h"

/* clang-format off */
#define NUMBER(name_) { .name = (name_), .wire = PB_VARINT }
#define BYTES(name_)  { .name = (name_), .wire = PB_BYTES }
#define DOUBLE(name_) { .name = (name_), .wire = PB_FIXED64 }

#define NO_MUST 0u
#define MUST(number) (1u << ((number) - 1))

#define MESSAGE(symbol, name_, must_, ...)                                                    \
	static const struct pb_field_def symbol##_fields[] = { __VA_ARGS__ };                 \
	const struct pb_message_def symbol = {                                                \
		.name = name_,                                                                \
		.fields = symbol##_fields,                                                    \
		.n_fields = sizeof(symbol##_fields) / sizeof(symbol##_fields[0]),             \
		.must = must_,                                                                \
	};

MESSAGE(bap_frame, "frame", NO_MUST,
	BYTES("std_frame"), BYTES("syscall_frame"), BYTES("exception_frame"), BYTES("taint_intro_frame"),
	BYTES("modload_frame"), BYTES("key_frame"))
MESSAGE(bap_std, "std_frame", MUST(1),
	NUMBER("address"), NUMBER("thread_id"), BYTES("rawbytes"), BYTES("operand_pre_list"),
	BYTES("operand_post_list"), BYTES("mode"))
MESSAGE(bap_operand_list, "operand_value_list", NO_MUST, BYTES("elem"))
MESSAGE(bap_operand, "operand_info", NO_MUST,
	BYTES("operand_info_specific"), NUMBER("bit_length"), BYTES("operand_usage"), BYTES("taint_info"),
	BYTES("value"))
MESSAGE(bap_specific, "operand_info_specific", NO_MUST, BYTES("mem_operand"), BYTES("reg_operand"))
MESSAGE(bap_mem, "mem_operand", NO_MUST, NUMBER("address"))
MESSAGE(bap_reg, "reg_operand", NO_MUST, BYTES("name"))
MESSAGE(bap_usage, "operand_usage", NO_MUST,
	NUMBER("read"), NUMBER("written"), NUMBER("index"), NUMBER("base"))
MESSAGE(bap_syscall, "syscall_frame", MUST(1) | MUST(3),
	NUMBER("address"), NUMBER("thread_id"), NUMBER("number"), BYTES("argument_list"))
MESSAGE(bap_argument_list, "argument_list", NO_MUST, NUMBER("elem"))
MESSAGE(bap_exception, "exception_frame", MUST(1),
	NUMBER("exception_number"), NUMBER("thread_id"), NUMBER("from_addr"), NUMBER("to_addr"))
MESSAGE(bap_taint_intro, "taint_intro_frame", NO_MUST, BYTES("taint_intro_list"))
MESSAGE(bap_taint_list, "taint_intro_list", NO_MUST, BYTES("elem"))
MESSAGE(bap_taint, "taint_intro", MUST(1),
	NUMBER("addr"), NUMBER("taint_id"), BYTES("value"), BYTES("source_name"), NUMBER("offset"))
MESSAGE(bap_modload, "modload_frame", MUST(1) | MUST(2) | MUST(3),
	BYTES("module_name"), NUMBER("low_address"), NUMBER("high_address"))
MESSAGE(bap_key, "key_frame", NO_MUST, BYTES("tagged_value_lists"))
MESSAGE(bap_tagged_lists, "tagged_value_lists", NO_MUST, BYTES("elem"))
MESSAGE(bap_tagged, "tagged_value_list", NO_MUST, BYTES("value_source_tag"), BYTES("value_list"))
MESSAGE(bap_source, "value_source_tag", NO_MUST, NUMBER("no_thread_id"), NUMBER("thread_id"))
MESSAGE(bap_value_list, "value_list", NO_MUST, BYTES("elem"))
MESSAGE(bap_value, "value_info", NO_MUST,
	BYTES("operand_info_specific"), NUMBER("bit_length"), BYTES("taint_info"), BYTES("value"))
MESSAGE(bap_meta, "meta_frame", NO_MUST,
	BYTES("tracer"), BYTES("target"), BYTES("fstats"), BYTES("user"), BYTES("host"), DOUBLE("time"))
MESSAGE(bap_tracer, "tracer", NO_MUST, BYTES("name"), BYTES("args"), BYTES("envp"), BYTES("version"))
MESSAGE(bap_target, "target", NO_MUST, BYTES("path"), BYTES("args"), BYTES("envp"), BYTES("md5sum"))
