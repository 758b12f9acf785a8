#!/bin/sh
# Fail when mandoc finds fault with a manual page, or when a page and the
# program disagree: options, commands, signals and exit codes of weir(8); keys
# with their defaults, findings, counters and members of the access log of
# weir.yaml(5). WEIR names the program, PRINT_KEYS the one that prints the
# table of keys.
set -eu

cd "${srcdir:-.}"
command=man/weir.8
file=man/weir.yaml.5
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v mandoc >/dev/null; then
	echo "mandoc is missing (Debian: apt install mandoc)"
	exit 77
fi

complain()
{
	echo "$*"
	failed=1
}

# section PAGE NAME: the source lines of one section.
section()
{
	awk -v name="$2" '$1 == ".Sh" {
		inside = substr($0, 5) == name
		next
	}
	inside' "$1"
}

# items MACRO: the words behind .It MACRO, one a line, up to the description
# of what they take.
items()
{
	sed -n "s/^\.It $1 //p" | sed -e 's/ Pq .*//' -e 's/ , /\n/g' \
	    -e 's/ Ns .*//'
}

# covers WHAT PAGE: what the program has, the page has. Both are in $work, and
# neither may be empty.
covers()
{
	for side in program page; do
		sort -u "$work/$side" >"$work/$side.sorted"
		[ -s "$work/$side.sorted" ] ||
		    complain "$1: nothing was looked at in the $side"
	done
	comm -23 "$work/program.sorted" "$work/page.sorted" \
	    >"$work/missing"
	while read -r name; do
		complain "$2: $1 $name is missing"
	done <"$work/missing"
}

# agree WHAT PAGE: the page also has nothing else.
agree()
{
	covers "$1" "$2"
	comm -13 "$work/program.sorted" "$work/page.sorted" >"$work/stale"
	while read -r name; do
		complain "$2: $1 $name is unknown to the program"
	done <"$work/stale"
}

for page in "$command" "$file"; do
	mandoc -T lint -W warning "$page" >"$work/lint" || true
	[ ! -s "$work/lint" ] || {
		cat "$work/lint"
		failed=1
	}
done

# ---- weir(8) ----

"$WEIR" --help >"$work/help"
sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' "$work/help" >"$work/program"
cp "$work/program" "$work/commands"
section "$command" DESCRIPTION | items Cm >"$work/page"
agree command "$command"

while read -r name; do
	"$WEIR" "$name" --help >>"$work/help"
done <"$work/commands"
# The page also has the long and short forms that help leaves out.
grep -oE -e '(^|[^a-z-])--?[a-zA-Z][a-z-]*' "$work/help" |
    sed 's/^[^-]*-//' | sort -u >"$work/program"
section "$command" DESCRIPTION | grep -oE -e 'Fl -?[a-zA-Z][a-z-]*' |
    sed 's/^Fl //' >"$work/page"
covers option "$command"

sed -n 's/^#define EXIT_[A-Z_]*[[:space:]]*\([0-9]*\).*/\1/p' \
    src/app/options.h >"$work/program"
section "$command" 'EXIT STATUS' | sed -n 's/^\.It //p' >"$work/page"
agree 'exit status' "$command"

sed -n 's/.*sigaddset(.*, SIG\([A-Z0-9]*\)).*/\1/p' src/app/server.c \
    >"$work/program"
section "$command" SIGNALS | items Dv >"$work/page"
agree signal "$command"

# ---- weir.yaml(5) ----

"$PRINT_KEYS" >"$work/table"
# Conditions are told once for all that have them.
sed -e 's/^[a-z]*\[\]\.match\./match./' -e '/^match\.not\../d' \
    "$work/table" >"$work/keys"
later='	not supported yet	'
grep -v "^[^	]*$later" "$work/keys" | cut -f 1 >"$work/program"
{
	section "$file" OPTIONS
	section "$file" MATCHING
} >"$work/options"
items Ic <"$work/options" >"$work/page"
agree key "$file"

# What is refused for now is named in one sentence, without its path.
section "$file" 'THE LANGUAGE' | sed -n 's/^\.Ic //p' | tr -s ' ,' '\n' |
    sed 's/.*\.//' >"$work/page"
grep "^[^	]*$later" "$work/keys" | cut -f 1 | sed 's/.*\.//' \
    >"$work/program"
covers 'refused key' "$file"

# The line of a key has its range and, behind a semicolon, its default; its
# words stand there or in what follows.
awk -F '\t' '
function check(    n, i, word, told) {
	if (!(key in range))
		return
	sub(/^true[|]false$/, "", range[key])
	told = head
	if (!sub(/.*;/, "", told))
		told = ""
	gsub(/ (Cm|Ic|Dq|No|Ql) /, " ", told)
	if (standard[key] != "-" && told != " " standard[key])
		print key ": default " standard[key]
	n = split(range[key], word, "[|]")
	if (range[key] ~ /^[0-9]/)
		n = split(range[key], word, ", ")
	if (n > 1 || range[key] ~ /^[0-9]/)
		for (i = 1; i <= n; i++) {
			sub(/,.*/, "", word[i])
			if (word[i] !~ /:/ && index(body, word[i]) == 0)
				print key ": " word[i]
		}
}
FNR == NR {
	range[$1] = $3
	standard[$1] = $4
	next
}
/^\.(It|Ss|Sh) / {
	check()
	key = head = body = ""
}
/^\.It Ic / {
	split($0, part, " ")
	key = part[3]
	head = $0
}
{ body = body "\n" $0 }
END { check() }' "$work/keys" "$work/options" >"$work/wrong"
while read -r line; do
	complain "$file: not told of $line"
done <"$work/wrong"

sed -n 's/^FINDING([A-Z_]*,[[:space:]]*"\([EW][0-9]*\)".*/\1/p' \
    src/config/findings.def >"$work/program"
section "$file" FINDINGS | items Li >"$work/page"
agree finding "$file"

sed -n 's/^COUNTER(\([A-Z_]*\),.*/weir_\1/p' src/base/counters.def |
    tr '[:upper:]' '[:lower:]' >"$work/program"
section "$file" COUNTERS | items Li >"$work/page"
agree counter "$file"

{
	grep -oE '(put_(str|cstr|int|addr)|name)\([^"]*"[a-z_]+"' \
	    src/proxy/access.c | sed 's/.*"\(.*\)"/\1/'
	grep -oE '\\"[a-z_]+\\":' src/proxy/access.c | tr -d '\\":'
} >"$work/program"
section "$file" LOG | items Li >"$work/page"
agree 'member of the access log' "$file"

grep -ohE '(fail|reject|refuse|abort|body)\([^"]*"[a-z_]+"|error = "[a-z_]+"' \
    src/proxy/*.c | sed 's/.*"\(.*\)"/\1/' >"$work/program"
section "$file" LOG | items Cm >"$work/page"
agree 'error in the access log' "$file"

exit $failed
