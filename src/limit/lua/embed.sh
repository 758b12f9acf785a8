#!/bin/sh
# Join Lua parts into C strings, as the list says: each line names a string and
# the parts it is made of, in order.
#
#	embed.sh LIST >scripts.c
set -eu

list=$1
tab=$(printf '\t')
folder=$(dirname "$list")

echo '/* Made by src/limit/lua/embed.sh; edit the parts in that folder. */'
echo '#include "limit/scripts.h"'
grep -v -e '^#' -e '^[[:space:]]*$' "$list" | while read -r name parts; do
	printf '\nconst char %s[] =\n' "${name%:}"
	for part in $parts; do
		# A missing part must stop the build, not shorten the script.
		[ -r "$folder/$part" ] || {
			echo "embed.sh: no $folder/$part" >&2
			exit 1
		}
		printf '\t/* %s */\n' "$part"
		# What is for readers alone does not travel.
		sed -e "s/^[ $tab]*//" -e '/^--/d' -e '/^$/d' \
		    -e 's/[\\"]/\\&/g' \
		    -e "s/.*/$tab\"&\\\\n\"/" "$folder/$part"
	done
	printf '\t"";\n'
done
