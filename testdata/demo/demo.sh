#!/bin/sh
# Shows pinfold at work on a sample project, and fails if anything is not as
# promised. Usage: demo.sh [PINFOLD]; as root or as an ordinary user.
set -eu

pinfold=${1:-pinfold}
case $pinfold in */*) pinfold=$(cd "$(dirname "$pinfold")" && pwd)/$(basename "$pinfold") ;; esac

base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
mkdir -p "$base/project/src"
cd "$base/project"
echo 'module example.com/sample' > go.mod
echo 'package main' > src/main.go
echo 'a secret of the host' > "$base/secret"

fail() {
	echo "demo: not as promised: $1" >&2
	exit 1
}

# show RESULT COMMAND: runs it in a view with src as the write path, prints
# both, and holds it to the result.
show() {
	if out=$("$pinfold" run --write-path src -- sh -c "$2" 2>&1); then got=works; else got=refused; fi
	printf '  %-7s  $ %s\n' "$got" "$2"
	printf '%s\n' "$out" | sed '/^$/d; s/^/             /'
	[ "$got" = "$1" ] || fail "$2"
}

echo 'pinfold run --write-path src -- ...'
show works 'cat go.mod'
show works 'echo "// new" >> src/main.go && tail -n 1 src/main.go'
show refused 'echo "// bad" >> go.mod'
show refused 'cat ../secret'
show refused 'ln -s ../../secret src/link && cat src/link'
show refused 'pinfold why go.mod'

# What really changed, and that the guard was what refused.
grep -q new src/main.go || fail 'the write is not in the project'
[ "$(cat go.mod)" = 'module example.com/sample' ] || fail 'go.mod was changed'
[ "$(cat src/link)" = 'a secret of the host' ] || fail 'outside, the link leads to the secret'
echo 'In the project: src/main.go is new, go.mod is as it was.'
