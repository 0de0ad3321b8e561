# SPDX-License-Identifier: MIT
# A loader for each grammar of dialects/: awk -f loaders.awk dialects/*.grammar
BEGIN {
	print "/* Made by loaders.awk from dialects/. */"
	print "#include \"loaders/grammar/dialects.h\""
}
FNR == 1 {
	id = name = $4
	gsub("-", "_", id)
	list = list "\t&" id "_loader,\n"
}
$1 == "summary" { printf "GRAMMAR_DIALECT(%s, \"%s\", \"%s\")\n", id, name, substr($0, 9) }
END {
	print "extern const struct ts_loader *const grammar_loaders[];"
	print "const struct ts_loader *const grammar_loaders[] = {\n" list "\tNULL,\n};"
}
