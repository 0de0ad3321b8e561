/* SPDX-License-Identifier: MIT */
/*
 * Target descriptions: written, read back, and what a hostile one may not do.  What gdb makes of those that
 * we write is in tests/e2e/arch_descriptions.py.
 */
#include "unit.h"

#include "src/arch/arch.h"
#include "src/arch/tdesc.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ts_error err;

static struct ts_buf written(const struct ts_regset *set, const char *osabi)
{
	struct ts_buf xml;

	ts_buf_init(&xml);
	ts_error_reset(&err);
	ck_assert_msg(ts_tdesc_write(set, osabi, &xml, &err), "%s", err.text);
	return xml;
}

/*
 * The text is copied to a piece of the heap of its own length, so that a sanitizer sees a read past its end.
 */
static bool parse(const char *xml, size_t len, bool is_big_endian, struct ts_regset *set)
{
	uint8_t *copy = malloc(len ? len : 1);
	bool is_done;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, xml, len);
	ts_error_reset(&err);
	is_done = ts_tdesc_parse(copy, len, is_big_endian, set, &err);
	memset(copy, 'x', len);
	free(copy);
	ck_assert_msg(is_done == (err.code == TS_OK), "%d: %s", is_done, err.text);
	return is_done;
}

static struct ts_regset parsed(const char *xml)
{
	struct ts_regset set;

	ck_assert_msg(parse(xml, strlen(xml), false, &set), "%s", err.text);
	return set;
}

static void refused(const char *xml, enum ts_code code, const char *sentence)
{
	struct ts_regset set;

	ck_assert_msg(!parse(xml, strlen(xml), false, &set), "taken: %s", xml);
	ck_assert_msg(err.code == code && strstr(err.text, sentence), "%s: %s", unit_code_name(err.code),
		      err.text);
	ck_assert_ptr_null(set.regs);
}

#define HEAD "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
#define ARM(inside) \
	HEAD "<target><architecture>arm</architecture><feature name=\"f\">" inside "</feature></target>"
#define PC "<reg name=\"pc\" bitsize=\"32\"/>"

static void check_same_regs(const struct ts_regset *a, const struct ts_regset *b)
{
	ck_assert_uint_eq(a->n_regs, b->n_regs);
	ck_assert_uint_eq(a->g_len, b->g_len);
	ck_assert(a->pc == b->pc && a->sp == b->sp && a->fp == b->fp && a->flags == b->flags);
	ck_assert_ptr_eq(a->arch, b->arch);
	ck_assert_uint_eq(a->features, b->features);
	for (unsigned i = 0; i < a->n_regs; i++) {
		ck_assert_str_eq(a->regs[i].name, b->regs[i].name);
		ck_assert_uint_eq(a->regs[i].regnum, b->regs[i].regnum);
		ck_assert_uint_eq(a->regs[i].off, b->regs[i].off);
		ck_assert_uint_eq(a->regs[i].bits, b->regs[i].bits);
		ck_assert_int_eq(a->regs[i].role, b->regs[i].role);
	}
}

START_TEST(what_is_written_is_read_back_the_same)
{
	unsigned n;
	const struct ts_arch *const *all = ts_arch_all(&n);

	for (unsigned i = 0; i < n; i++)
		for (uint32_t features = 0; features < 1u << all[i]->n_features; features++) {
			struct ts_regset set, back;
			struct ts_buf xml, again;

			ts_error_reset(&err);
			ck_assert(ts_regset_init(&set, all[i], features, &err));
			xml = written(&set, "GNU/Linux");
			ck_assert_msg(parse((char *)xml.data, xml.len, all[i]->is_big_endian, &back),
				      "%s: %s", all[i]->name, err.text);
			check_same_regs(&set, &back);
			ck_assert_str_eq(back.osabi, "GNU/Linux");
			again = written(&back, back.osabi);
			ck_assert_uint_eq(again.len, xml.len);
			ck_assert_mem_eq(again.data, xml.data, xml.len);
			ts_buf_fini(&xml);
			ts_buf_fini(&again);
			ts_regset_fini(&set);
			ts_regset_fini(&back);
		}
}
END_TEST

START_TEST(the_text_is_what_gdb_reads)
{
	struct ts_regset set =
		parsed(ARM("<flags id=\"fl\" size=\"4\"><field name=\"\" start=\"1\" end=\"1\"/></flags>"
			   "<vector id=\"v\" type=\"int8\" count=\"4\"/>"
			   "<union id=\"u\"><field name=\"a\" type=\"v\"/></union>"
			   "<struct id=\"s\" size=\"8\"><field name=\"b\" start=\"0\" end=\"7\" "
			   "type=\"uint8\"/></struct>"
			   "<struct id=\"t\"><field name=\"c\" type=\"u\"/></struct>"
			   "<enum id=\"e\" size=\"4\"><evalue name=\"on\" value=\"1\"/></enum>"
			   "<reg name=\"x&lt;\" bitsize=\"32\" type=\"fl\" group=\"g\" regnum=\"0x10\" "
			   "save-restore=\"no\"/>" PC));
	struct ts_buf xml = written(&set, NULL);

	ck_assert_str_eq(ts_buf_text(&xml), HEAD
			 "<target version=\"1.0\">\n"
			 "  <architecture>arm</architecture>\n"
			 "  <feature name=\"f\">\n"
			 "    <flags id=\"fl\" size=\"4\">\n"
			 "      <field name=\"\" start=\"1\" end=\"1\"/>\n"
			 "    </flags>\n"
			 "    <vector id=\"v\" type=\"int8\" count=\"4\"/>\n"
			 "    <union id=\"u\">\n"
			 "      <field name=\"a\" type=\"v\"/>\n"
			 "    </union>\n"
			 "    <struct id=\"s\" size=\"8\">\n"
			 "      <field name=\"b\" start=\"0\" end=\"7\" type=\"uint8\"/>\n"
			 "    </struct>\n"
			 "    <struct id=\"t\">\n"
			 "      <field name=\"c\" type=\"u\"/>\n"
			 "    </struct>\n"
			 "    <enum id=\"e\" size=\"4\">\n"
			 "      <evalue name=\"on\" value=\"1\"/>\n"
			 "    </enum>\n"
			 "    <reg name=\"x&lt;\" bitsize=\"32\" regnum=\"16\" type=\"fl\" group=\"g\"/>\n"
			 "    <reg name=\"pc\" bitsize=\"32\" regnum=\"17\"/>\n"
			 "  </feature>\n"
			 "</target>\n");
	ts_buf_fini(&xml);
	ts_regset_fini(&set);
}
END_TEST

START_TEST(registers_are_laid_out_by_number_and_packed)
{
	struct ts_regset set = parsed(HEAD "<target version=\"1.0\">\n<architecture> arm </architecture>\n"
					   "<feature name=\"org.gnu.gdb.arm.core\"><reg name=\"r0\" "
					   "bitsize=\"32\"/><reg name=\"pc\" bitsize=\"32\"/>"
					   "<reg name=\"late\" bitsize=\"16\" regnum=\"90\"/></feature>"
					   "<feature name=\"of.somebody\"><reg name=\"after\" bitsize=\"1\"/>"
					   "<reg name=\"early\" bitsize=\"80\" regnum=\"40\"/><reg "
					   "name=\"next\" bitsize=\"64\"/></feature></target>");
	static const struct {
		const char *name;
		unsigned regnum, off, len, feature;
	} regs[] = {
		{ "r0", 0, 0, 4, 0 },	  { "pc", 1, 4, 4, 0 },	    { "early", 40, 8, 10, 1 },
		{ "next", 41, 18, 8, 1 }, { "late", 90, 26, 2, 0 }, { "after", 91, 28, 1, 1 },
	};

	ck_assert_uint_eq(set.n_regs, 6);
	for (unsigned i = 0; i < 6; i++) {
		ck_assert_str_eq(set.regs[i].name, regs[i].name);
		ck_assert_uint_eq(set.regs[i].regnum, regs[i].regnum);
		ck_assert_uint_eq(set.regs[i].off, regs[i].off);
		ck_assert_uint_eq(set.regs[i].len, regs[i].len);
		ck_assert_uint_eq(set.regs[i].feature, regs[i].feature);
	}
	ck_assert_uint_eq(set.g_len, 29);
	ck_assert_int_eq(set.pc, 1);
	ck_assert_int_eq(set.sp, -1);
	ck_assert_str_eq(set.arch->name, "arm");
	ck_assert_str_eq(set.gdb_name, "arm");
	ck_assert_uint_eq(set.features, 1);
	ck_assert_uint_eq(set.n_own, 2);
	ck_assert_str_eq(set.own[1].name, "of.somebody");
	ck_assert_ptr_null(set.osabi);
	ts_regset_fini(&set);
}
END_TEST

START_TEST(the_architecture_is_found_by_family_counter_and_byte_order)
{
	static const struct {
		const char *name, *pc;
		unsigned bits;
		bool is_big_endian;
		const char *found;
	} archs[] = {
		{ "i386:x86-64", "rip", 64, false, "x86_64" },
		{ "i386:x64-32", "rip", 64, false, "x86_64" },
		{ "i386", "eip", 32, false, "i386" },
		{ "i386", "eip", 32, true, "i386" },
		{ "i386", "EIP", 32, false, "i386" },
		{ "i8086", "eip", 32, false, "i8086" },
		{ "armv7e-m", "pc", 32, false, "arm" },
		{ "armv7e-m", "pc", 32, true, "armeb" },
		{ "aarch64", "pc", 64, true, "aarch64_be" },
		{ "mips", "pc", 32, true, "mips" },
		{ "mips", "pc", 64, false, "mips64el" },
		{ "mips:isa64r2", "pc", 64, true, "mips64" },
		{ "sparc", "pc", 32, false, "sparc" },
		{ "sparc:v9", "pc", 64, true, "sparc64" },
		{ "m68k:68020", "pc", 32, true, "m68k" },
		{ "powerpc:common64", "pc", 64, false, "ppc64le" },
		{ "powerpc:7400", "pc", 32, true, "ppc" },
		{ "riscv", "pc", 64, false, "riscv64" },
		{ "riscv:rv32", "pc", 32, false, "riscv32" },
	};

	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
		struct ts_regset set;
		char xml[512];

		snprintf(xml, sizeof(xml),
			 "<target><architecture>%s</architecture><feature name=\"f\"><reg name=\"%s\" "
			 "bitsize=\"%u\"/>"
			 "</feature></target>",
			 archs[i].name, archs[i].pc, archs[i].bits);
		ck_assert_msg(parse(xml, strlen(xml), archs[i].is_big_endian, &set), "%s: %s", archs[i].name,
			      err.text);
		ck_assert_str_eq(set.arch->name, archs[i].found);
		ck_assert_str_eq(set.gdb_name, archs[i].name);
		ck_assert_int_eq(set.pc, 0);
		ts_regset_fini(&set);
	}
}
END_TEST

START_TEST(text_may_be_in_any_form_that_xml_has)
{
	struct ts_regset set = parsed(
		"<target><architecture>\n\t<![CDATA[ar]]>m<!-- v7 --> </architecture><osabi>GNU&#x2f;"
		"Linux</osabi><feature name='f'><reg bitsize='0x20' name='p&#99;'></reg></feature></target>");

	ck_assert_str_eq(set.gdb_name, "arm");
	ck_assert_str_eq(set.osabi, "GNU/Linux");
	ck_assert_str_eq(set.regs[0].name, "pc");
	ts_regset_fini(&set);
}
END_TEST

START_TEST(a_description_that_gdb_saved_is_as_long_as_its_register_block)
{
	/*
	 * gdbserver 13's, from the tdesc lines of a trace file that says "R 970": so many bytes, in
	 * hexadecimal.
	 */
	size_t len;
	uint8_t *xml = unit_data("tdesc/gdbserver-x86_64-avx512.xml", &len);
	struct ts_regset set;
	struct ts_buf text;

	ck_assert_msg(parse((char *)xml, len, false, &set), "%s", err.text);
	ck_assert_uint_eq(set.g_len, 0x970);
	ck_assert_uint_eq(set.n_regs, 148);
	ck_assert_str_eq(set.arch->name, "x86_64");
	ck_assert_str_eq(set.osabi, "GNU/Linux");
	ck_assert_str_eq(set.own[5].name, "org.gnu.gdb.i386.avx512");
	ck_assert_uint_eq(set.regs[ts_regset_find(&set, "fs_base")].regnum, 58);
	ck_assert_uint_eq(set.regs[ts_regset_find(&set, "ymm0h")].off, 560);
	ck_assert_int_eq(set.pc, 16);
	ck_assert_int_eq(set.flags, 17);
	text = written(&set, set.osabi);
	ts_regset_fini(&set);
	ck_assert_msg(parse((char *)text.data, text.len, false, &set), "%s", err.text);
	ck_assert_uint_eq(set.g_len, 0x970);
	ts_regset_fini(&set);
	ts_buf_fini(&text);
	free(xml);
}
END_TEST

START_TEST(white_space_before_the_declaration_is_no_fault)
{
	struct ts_regset set = parsed("\n\n " ARM(PC));

	ts_regset_fini(&set);
	refused(" \n", TS_ECORRUPT, "empty");
}
END_TEST

START_TEST(what_gdb_does_not_know_is_skipped)
{
	struct ts_regset set =
		parsed(ARM("<future><reg name=\"no\" bitsize=\"8\"/><deep><deeper/></deep></future>"
			   "<reg name=\"r0\" bitsize=\"32\" colour=\"red\"><field "
			   "name=\"no\"/><description>a</description></reg>"
			   "<!-- nothing --><?pi nothing?>text<field name=\"no\"/>"
			   "<enum id=\"e\" size=\"4\"><field name=\"no\"/></enum>" PC));

	ck_assert_uint_eq(set.n_regs, 2);
	ck_assert_uint_eq(set.own[0].n_types, 1);
	ck_assert_uint_eq(set.own[0].types[0].n_fields, 0);
	ts_regset_fini(&set);
}
END_TEST

START_TEST(nonsense_is_refused_with_its_line)
{
	refused("", TS_ECORRUPT, "empty");
	refused("hello", TS_ECORRUPT, "line 1");
	refused("<a/>", TS_ECORRUPT, "begins with <a>");
	refused(HEAD "<target>\n</tarjet>", TS_ECORRUPT, "line 4: Opening and ending tag mismatch: target");
	refused(HEAD "<target version=\"2.0\"/>", TS_EUNSUPPORTED, "version 2.0");
	refused(ARM("\n\n<reg bitsize=\"32\"/>" PC), TS_ECORRUPT, "line 5: name is missing");
	refused(ARM("<reg name=\"r\"/>" PC), TS_ECORRUPT, "bitsize is missing");
	refused(ARM("<reg name=\"r\" bitsize=\"\"/>" PC), TS_ECORRUPT, "bitsize is not a number");
	refused(ARM("<reg name=\"r\" bitsize=\"-8\"/>" PC), TS_ECORRUPT, "bitsize is not a number: -8");
	refused(ARM("<reg name=\"r\" bitsize=\"8 bits\"/>" PC), TS_ECORRUPT, "bitsize is not a number");
	refused(ARM("<reg name=\"r\" bitsize=\"0\"/>" PC), TS_ECORRUPT, "0 bits");
	refused(ARM("<reg name=\"r&#10;\" bitsize=\"8\"/>" PC), TS_ECORRUPT, "byte 0x0a in a name");
	refused(ARM("<flags id=\"f\"/>" PC), TS_ECORRUPT, "size is missing");
	refused(ARM("<vector id=\"f\" count=\"1\"/>" PC), TS_ECORRUPT, "type is missing");
	refused(ARM("<enum id=\"f\" size=\"1\"><evalue name=\"a\"/></enum>" PC), TS_ECORRUPT,
		"value is missing");
	refused("<target><architecture>arm</architecture><feature/></target>", TS_ECORRUPT,
		"name is missing");
}
END_TEST

START_TEST(a_set_that_cannot_be_is_refused)
{
	refused(ARM("<reg name=\"a\" bitsize=\"32\" regnum=\"1\"/>" PC
		    "<reg name=\"b\" bitsize=\"8\" regnum=\"2\"/>"),
		TS_ECORRUPT, "both have number 2");
	refused(ARM("<reg name=\"r0\" bitsize=\"32\"/>"), TS_EUNSUPPORTED, "\"arm\" with these registers");
	refused(ARM("<reg name=\"pc\" bitsize=\"64\"/>"), TS_EUNSUPPORTED, "\"arm\" with these registers");
	refused("<target><architecture>vax</architecture><feature name=\"f\">" PC "</feature></target>",
		TS_EUNSUPPORTED, "\"vax\"");
	refused("<target><architecture></architecture><feature name=\"f\">" PC "</feature></target>",
		TS_EUNSUPPORTED, "\"\"");
	refused("<target><feature name=\"f\">" PC "</feature></target>", TS_EUNSUPPORTED, "no architecture");
	refused("<target><architecture>arm</architecture></target>", TS_EUNSUPPORTED, "these registers");
}
END_TEST

START_TEST(parts_in_other_files_are_refused)
{
	refused(HEAD "<target><architecture>arm</architecture><xi:include href=\"arm-core.xml\"/></target>",
		TS_EUNSUPPORTED, "another file");
	refused(HEAD "<target xmlns:xi=\"http://www.w3.org/2001/XInclude\"><architecture>arm</architecture>"
		     "<xi:include href=\"/etc/passwd\" parse=\"text\"/></target>",
		TS_EUNSUPPORTED, "another file");
}
END_TEST

START_TEST(entities_are_refused_declared_or_not)
{
	refused("<!DOCTYPE target [<!ENTITY a \"arm\">]><target><architecture>&a;</architecture></target>",
		TS_ECORRUPT, "an entity: a");
	refused("<!DOCTYPE target [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>"
		"<target><architecture>&a;</architecture></target>",
		TS_ECORRUPT, "an entity: a");
	refused("<!DOCTYPE target [<!ENTITY a PUBLIC \"a\" \"http://127.0.0.1:1/a\">]><target/>", TS_ECORRUPT,
		"an entity: a");
	refused("<!DOCTYPE target [<!ENTITY % p SYSTEM \"http://127.0.0.1:1/a\"> %p;]><target/>", TS_ECORRUPT,
		"an entity: p");
	refused("<!DOCTYPE target [%q;]><target/>", TS_ECORRUPT, "an entity: q");
	refused("<!DOCTYPE target [<!NOTATION n SYSTEM \"n\"><!ENTITY u SYSTEM \"u\" NDATA n>]><target/>",
		TS_ECORRUPT, "an entity: u");
	refused(HEAD "<target><architecture>&unknown;</architecture></target>", TS_ECORRUPT,
		"an entity: unknown");
	refused(ARM("<reg name=\"&unknown;\" bitsize=\"8\"/>" PC), TS_ECORRUPT, "an entity: unknown");
}
END_TEST

START_TEST(an_entity_bomb_does_not_go_off)
{
	refused("<!DOCTYPE target [<!ENTITY a "
		"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\">"
		"<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">"
		"<!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\"><!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;\">"
		"<!ENTITY f \"&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;\"><!ENTITY g "
		"\"&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;\">]>"
		"<target><architecture>&g;</architecture><feature name=\"&g;\"/></target>",
		TS_ECORRUPT, "an entity: a");
}
END_TEST

START_TEST(what_is_larger_than_any_description_is_refused)
{
	struct ts_regset set;
	struct ts_buf xml;

	refused(ARM("<reg name=\"r\" bitsize=\"65536\"/>" PC), TS_ELIMIT, "bitsize 65536");
	refused(ARM("<reg name=\"r\" bitsize=\"8\" regnum=\"4294967295\"/>" PC), TS_ELIMIT,
		"regnum 4294967295");
	refused(ARM("<reg name=\"r\" bitsize=\"99999999999999999999999\"/>" PC), TS_ELIMIT, "bitsize 9999");
	refused("<target><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>", TS_ELIMIT, "nested");

	ts_buf_init(&xml);
	ts_buf_puts(&xml, "<target><architecture>arm</architecture><feature name=\"f\">" PC);
	for (int i = 0; i < 129; i++)
		ts_buf_printf(&xml, "<reg name=\"r%d\" bitsize=\"65528\"/>", i);
	ts_buf_puts(&xml, "</feature></target>");
	ck_assert(!parse((char *)xml.data, xml.len, false, &set));
	ck_assert_int_eq(err.code, TS_ELIMIT);

	ts_buf_reset(&xml);
	ts_buf_puts(&xml, "<target><architecture>");
	for (int i = 0; i < 1000; i++)
		ts_buf_puts(&xml, "a");
	ts_buf_puts(&xml, "</architecture></target>");
	ck_assert(!parse((char *)xml.data, xml.len, false, &set));
	ck_assert_int_eq(err.code, TS_ELIMIT);

	ts_buf_reset(&xml);
	memset(ts_buf_add(&xml, (1 << 20) + 1), 'x', (1 << 20) + 1);
	ck_assert(!parse((char *)xml.data, xml.len, false, &set));
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ts_buf_fini(&xml);
}
END_TEST

START_TEST(a_description_cut_anywhere_is_refused)
{
	static const char *const names[] = { "x86_64", "aarch64", "riscv64" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ts_regset set, cut;
		struct ts_buf xml;

		ts_error_reset(&err);
		ck_assert(ts_regset_init(&set, ts_arch_find(names[i]), UINT32_MAX, &err));
		xml = written(&set, "GNU/Linux");
		/* Without its last line feed it is still whole. */
		for (size_t len = 0; len < xml.len - 1; len++) {
			ck_assert_msg(!parse((char *)xml.data, len, false, &cut),
				      "%s taken with %zu of %zu bytes", names[i], len, xml.len);
			ck_assert_int_eq(err.code, TS_ECORRUPT);
		}
		ts_buf_fini(&xml);
		ts_regset_fini(&set);
	}
}
END_TEST

START_TEST(a_flipped_bit_does_no_harm)
{
	struct ts_regset set, flipped;
	struct ts_buf xml;

	ts_error_reset(&err);
	ck_assert(ts_regset_init(&set, ts_arch_find("arm"), UINT32_MAX, &err));
	xml = written(&set, "GNU/Linux");
	for (size_t bit = 0; bit < xml.len * 8; bit++) {
		xml.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (parse((char *)xml.data, xml.len, false, &flipped))
			ts_regset_fini(&flipped);
		xml.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	ts_buf_fini(&xml);
	ts_regset_fini(&set);
}
END_TEST

START_TEST(no_line_is_too_long_for_a_trace_file)
{
	unsigned n;
	const struct ts_arch *const *all = ts_arch_all(&n);

	for (unsigned i = 0; i < n; i++) {
		struct ts_regset set;
		struct ts_buf xml;

		ts_error_reset(&err);
		ck_assert(ts_regset_init(&set, all[i], UINT32_MAX, &err));
		xml = written(&set, "GNU/Linux");
		for (char *line = strtok((char *)ts_buf_text(&xml), "\n"); line; line = strtok(NULL, "\n"))
			ck_assert_uint_lt(strlen(line), 200);
		ts_buf_fini(&xml);
		ts_regset_fini(&set);
	}
}
END_TEST

UNIT_SUITE("tdesc", what_is_written_is_read_back_the_same, the_text_is_what_gdb_reads,
	   registers_are_laid_out_by_number_and_packed,
	   the_architecture_is_found_by_family_counter_and_byte_order, text_may_be_in_any_form_that_xml_has,
	   a_description_that_gdb_saved_is_as_long_as_its_register_block,
	   white_space_before_the_declaration_is_no_fault, what_gdb_does_not_know_is_skipped,
	   nonsense_is_refused_with_its_line, a_set_that_cannot_be_is_refused,
	   parts_in_other_files_are_refused, entities_are_refused_declared_or_not,
	   an_entity_bomb_does_not_go_off, what_is_larger_than_any_description_is_refused,
	   a_description_cut_anywhere_is_refused, a_flipped_bit_does_no_harm,
	   no_line_is_too_long_for_a_trace_file)
