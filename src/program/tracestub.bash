# SPDX-License-Identifier: MIT
#
# Completion for bash: commands, options, what they take, verbs of questions, and names of marks.

_tracestub_commands="gdb lldb dap serve record info index query sql diff mcp export plot pack unpack help"
_tracestub_options="--arch --as --cpu --exec --first --full --follow --format --from --function --grammar --image --index --index-key --index-reads --jobs --last --limit --log --max-memory --merge --module --quiet --segment
  --rebase --against --all --names --in --max-clients --no-sandbox --sysroot --json --positions --at --collect --export-dir --box --csv --tsv --save --scan --for-sqlite --once --kind --only --process --processes --qemu --until --with --help --version"
_tracestub_verbs="history accesses last-write last-read last-access last-change last-exec next-write next-read
  next-access next-change next-exec executions calls stack why flows events threads processes modules maps
  steps compares memory registers unexplained find strings
  hot coverage when goto mark marks unmark"
_tracestub_words="in if thread first last at --changes --partial --json"
_tracestub_places="begin end next previous"

# Names of the marks beside a trace: lines of "POSITION NAME TEXT".
_tracestub_marks()
{
	[ -r "$1.tsmarks" ] && sed -n 's/^[0-9][0-9]* \([A-Za-z_][A-Za-z0-9_-]*\).*/\1/p' "$1.tsmarks"
}

_tracestub_reply()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_tracestub_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

_tracestub()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= trace= verb= word i

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--arch | --cpu | --exec | --first | --format | --from | --function | --image | --in | --index | --index-key | --index-reads | --jobs | --kind | --last | --limit | --log | \
			--max-clients | --max-memory | --module | --names | --segment | --sysroot | --against | --only | --positions | --process | --processes | --collect | --export-dir | -o) i=$((i + 1)) ;;
		-*) ;;
		*)
			if [ -z "$command" ]; then command=$word
			elif [ -z "$trace" ]; then trace=$word
			elif [ -z "$verb" ]; then verb=$word
			fi ;;
		esac
	done
	[ "$prev" = : ] && prev=${COMP_WORDS[COMP_CWORD - 3]} # of A:B, which bash takes for three words
	case $prev in
	--format) _tracestub_reply "$("${COMP_WORDS[0]}" help formats 2>/dev/null | cut -d" " -f1)"; return ;;
	--log) _tracestub_reply "error warn info debug trace"; return ;;
	--kind | --only) _tracestub_reply "path register memory"; return ;;
	--index-reads) _tracestub_reply "yes no"; return ;;
	--exec | --image | --index | --index-key | --names | --processes | --sysroot | --export-dir | -o) _tracestub_files; return ;;
	--arch | --cpu | --first | --from | --function | --until | --jobs | --last | --limit | --max-clients | --max-memory | --module | --segment | --positions | --process | --collect) return ;;
	--in) _tracestub_reply "begin end $(_tracestub_marks "$trace")"; return ;;
	at | goto | in | unmark)
		[ "$command" = query ] && _tracestub_reply "$_tracestub_places $(_tracestub_marks "$trace")" && return ;;
	esac
	if [ -z "$command" ]; then
		_tracestub_reply "$_tracestub_commands $_tracestub_options"
	elif [ "$command" = query ] && [ -n "$trace" ]; then
		if [ -z "$verb" ]; then _tracestub_reply "$_tracestub_verbs"; else _tracestub_reply "$_tracestub_words"; fi
	elif [ "${cur:0:1}" = - ]; then
		_tracestub_reply "$_tracestub_options -o"
	else
		_tracestub_files
	fi
}

complete -F _tracestub tracestub
