package shellshape

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// usesOf is what a command does, for tests.
func usesOf(c Command) string {
	var all []string
	for _, p := range c.Parts {
		for _, u := range p.Uses {
			text := fmt.Sprintf("%s %s", u.Show, u.Path)
			if u.InTree {
				text += " in tree"
			}
			if u.Maybe {
				text = "maybe " + text
			}
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// Everyday commands are known, and with them the places that they touch.
func TestKnown(t *testing.T) {
	for command, want := range map[string]string{
		"ls":                              "entries .",
		"ls -la src docs":                 "entries src, entries docs",
		"ls -R src":                       "names src",
		"cat src/a.go":                    "file src/a.go",
		"cat -- -x":                       "file -x",
		"cat 'a b.txt'":                   "file a b.txt",
		`cat "a b.txt"`:                   "file a b.txt",
		"head -20 a":                      "file a",
		"tail -n 20 a":                    "file a",
		"wc -l a b":                       "file a, file b",
		"sort -k2,2n -t, a":               "file a",
		"grep -n 'func main' main.go":     "file main.go",
		"grep -rn TODO src":               "contents src",
		"grep -rn TODO":                   "contents .",
		"grep -e TODO -e FIXME a":         "file a",
		"sed -n 10,20p a":                 "file a",
		"find . -name '*.go' -type f":     "names .",
		"find src '!' -name '*_test.go'":  "names src",
		"rg -n TODO src":                  "contents src",
		"rg --files":                      "contents .",
		"git status":                      "names . in tree",
		"git status --short -- src":       "names src",
		"git log --oneline -5":            "",
		"git --no-pager log -n5":          "",
		"git log -p":                      "contents . in tree",
		"git log -p -- src/a.go":          "contents src/a.go",
		"git log --stat":                  "names . in tree",
		"git log -- src":                  "names src",
		"git log main..dev":               "maybe names main..dev",
		"git log -S secret":               "contents . in tree",
		"git diff":                        "contents . in tree",
		"git diff --cached -- src":        "contents src",
		"git diff HEAD~3 -- src":          "contents src",
		"git diff main...dev":             "maybe contents main...dev, contents . in tree",
		"git show HEAD":                   "maybe contents HEAD, contents . in tree",
		"git show HEAD:src/a.go":          "file src/a.go in tree",
		"git show HEAD:a HEAD":            "file a in tree, maybe contents HEAD, contents . in tree",
		"git show HEAD:":                  "contents . in tree",
		"git show :src/a.go":              "file src/a.go in tree",
		"git show 'stash@{0}' -- src":     "contents src",
		"git cat-file -p HEAD:.env":       "file .env in tree",
		"git blame -L 1,20 src/a.go":      "maybe file src/a.go",
		"git blame HEAD -- src/a.go":      "file src/a.go",
		"git grep -n TODO":                "contents . in tree",
		"git grep -n TODO HEAD -- src":    "contents src",
		"git branch -a":                   "",
		"git ls-files":                    "names . in tree",
		"git add -A":                      "contents . in tree, write .git/index.lock in tree",
		"git add src/a.go":                "file src/a.go, write .git/index.lock in tree",
		"git commit -m 'say why'":         "write .git/index.lock in tree",
		"git commit -am 'say why'":        "names . in tree, write .git/index.lock in tree",
		"go test ./...":                   "look .",
		"go test -run TestX -v ./pkg":     "look ./pkg",
		"go test ./... -run TestX":        "look .",
		"go test -coverprofile=c.out .":   "write c.out, look .",
		"go vet ./...":                    "look .",
		"go build ./...":                  "look ., write beneath .",
		"gofmt -l .":                      "contents .",
		"pytest -x -q tests/test_a.py::T": "look tests/test_a.py",
		"python3 -m pytest":               "",
		"npm run build":                   "",
		"pnpm install --frozen-lockfile":  "",
		"pnpm test":                       "",
		"make -j4 test":                   "",
		"tsc --noEmit -p tsconfig.json":   "file tsconfig.json",
		"cargo test --workspace":          "",
		"git log --oneline | head -20":    "",
		"go test ./... 2>&1 | tail -30":   "look .",
		"ls src && cat src/a":             "entries src, file src/a",
		"ls src; ls docs":                 "entries src, entries docs",
		"ls src\nls docs":                 "entries src, entries docs",
		"cat a 2>/dev/null || echo none":  "file a",
		"date +%F":                        "",
	} {
		c, err := Read(command)
		require.NoError(t, err, command)
		require.Equal(t, want, usesOf(c), command)
	}
}

// dangers are commands that do more than they seem to: each runs a program, writes
// a file, reads where no operand says so, or is read by shells in different ways.
var dangers = []string{
	// git
	"git -c core.pager='sh -c x' log", "git -c alias.x='!id' x", "git --git-dir=/x log", "git --git-dir x/.git log", "git --work-tree=/ status",
	"git -C /x log", "git --exec-path=x log", "git --config-env=core.pager=X log", "git -p log", "git log --output=x", "git log --outp x", "git log --o=x",
	"git diff --no-index a b", "git diff --ext-diff", "git diff --textconv", "git diff -O/etc/passwd", "git diff --submodule=diff",
	"git grep -O x", "git grep --open-files-in-pager=x x", "git grep -Ox x", "git grep -f list", "git grep --no-index x /", "git grep --untracked x",
	"git log -L 1,5:.env", "git log --follow -- x", "git log --show-signature", "git log --stdin", "git show --format", "git blame --contents /etc/passwd x",
	"git blame -S list x", "git archive HEAD", "git archive --remote=ext::x HEAD", "git ls-remote ext::x", "git clone x", "git fetch --upload-pack=x", "git push",
	"git branch new", "git branch -D main", "git tag new", "git remote add x y", "git config core.pager x", "git rebase -x id", "git bisect run id",
	"git submodule foreach id", "git stash", "git checkout .", "git commit", "git commit --amend", "git commit -F /etc/passwd", "git commit --template=x -m x",
	"git commit --author=x -m x", "git add --pathspec-from-file=x", "git add ':!x'", "git diff -- '*.env'", "git show 'HEAD:a/../.env'", "git show HEAD:./x", "git show ':/text'",
	"git rev-parse HEAD:.env", "git ls-files -X x", "git ls-files --exclude-from=x", "git cat-file --batch", "git cat-file --textconv HEAD:x", "git log --exec=x", "git-log", "git",
	"git diff HEAD^{tree}", "git show 'HEAD^{/secret}'", "git diff -- -x '--output=y'\x00",
	// programs that search
	"find . -exec id ';'", "find . -execdir id ';'", "find . -ok id ';'", "find . -okdir id ';'", "find . -delete", "find . -fprint x", "find . -fprintf x y",
	"find . -fls x", "find . -fprint0 x", "find -files0-from x", "find -L .", "find . -follow", "find . -name x /etc", "find -H .",
	"rg --pre id x", "rg --pre=id x", "rg --hostname-bin id x", "rg --hostname-bin=id x", "rg -z x", "rg --search-zip x", "rg -L x", "rg --follow x", "rg -f list", "rg --ignore-file x y", "rg --file=x",
	"grep -R x .", "grep -f list", "grep --file=list x", "grep -D read x", "fd -x id", "fd --exec id", "ag --pager id x", "tree -o x", "tree --fromfile x", "tree -l", "du --files0-from=x", "du -L .",
	// programs that read and write
	"sort -o x y", "sort -ox y", "sort --output=x y", "sort --outp=x y", "sort --files0-from=x", "sort --compress-program=id x", "sort -T / x", "sort -uo x y",
	"uniq a b", "sed -i s/a/b/ x", "sed -n -i 1p x", "sed -n 'w x' y", "sed -n 1e y", "sed -n '1,5p;w x' y", "sed s/a/b/e x", "sed -f x y", "sed -n -f x y", "sed --in-place 1p x",
	"awk 'BEGIN{system(\"id\")}'", "awk -f x", "gawk '{print > \"x\"}'", "perl -e x", "perl -ne print x", "tar -cf x y", "tar xf x --to-command=id", "tar --checkpoint=1 --checkpoint-action=exec=id -cf x y",
	"xargs id", "xargs", "env id", "env -S 'id x'", "env", "tee x", "tee", "dd if=x of=y", "cp a b", "mv a b", "ln -s a b", "rm x", "mkdir x", "touch x", "install a b", "truncate -s0 x",
	"wc --files0-from=x", "wc --files0-from x", "file -f x", "file --files-from x", "file -m x y", "file -z x", "file -C -m x", "md5sum -c x", "sha256sum --check x", "cut x", "tail -f x", "tail --follow=name x", "tail --pid=1 x", "date -f x", "date -s now", "date --file=x", "date -r x",
	"ls -L x", "ls -H x", "ls --dereference x", "ls ~", "ls ~root", "cat ~/.ssh/id", "cat $HOME/x", "cat *.go", "cat a?", "cat [a]", "cat {a,b}", "cat a\\ b", "cat $'a'", `cat $"a"`, `cat "$x"`, "cat `id`", "cat $(id)", "cat <(id)", "cat a > b", "cat < b", "cat a >> b", "cat a 2> b", "cat a &> b", "cat a >| b", "cat << E\nx\nE", "cat <<< x", "cat a >& b", "cat @list",
	"diff -r a b", "diff --from-file=x y", "diff --to-file x y", "diff -X x a b", "diff a b --output=x", "nl -x a", "jq . x", "jq -f x y", "less x", "more x", "vi x", "man x", "xxd a b", "od x", "strings x", "zcat x", "python3 x.py",
	// programs that build and test
	"go vet -vettool=x ./...", "go vet -vettool x ./...", "go build -toolexec id ./...", "go build -toolexec=id ./...", "go build -overlay x ./...", "go build -o x .", "go build -o=/x .", "go build -ldflags=-extld=id .", "go build -gcflags=x .", "go build -C / .", "go build -modfile=x .", "go build -pkgdir x .", "go build -asmflags=x .", "go build -mod=mod .", "go build /etc", "go build ../x",
	"go test -exec id ./...", "go test -exec=id ./...", "go test --exec id ./...", "go test ./... -exec id", "go test -o x .", "go test -c .", "go test -c -o x .", "go test -toolexec id .", "go test -vettool=x .", "go test -cpuprofile x .", "go test -memprofile=x .", "go test -trace x .", "go test -outputdir x .", "go test -fuzz . .", "go test . -args -x", "go test -overlay=x .", "go test -modfile x .", "go test -C x .", "go test . -test.run x", "go test -blockprofile x .", "go test example.com/x",
	"go env -w GOFLAGS=-toolexec=id", "go env -u GOFLAGS", "go run .", "go run x.go", "go generate ./...", "go install ./...", "go get x", "go mod edit -replace=a=b", "go tool x", "go tool compile -o x y", "go fmt ./...", "gofmt -w .", "gofmt -cpuprofile x .", "go list -toolexec id ./...", "go list -m -modfile=x all", "go list -export ./...", "go clean -cache", "go work init", "go version -m x", "go telemetry on",
	"pnpm exec id", "pnpm dlx x", "pnpm x", "pnpm -C / test", "pnpm --dir / test", "pnpm --filter x exec id", "pnpm -r exec id", "pnpm test --config.script-shell=id", "pnpm run x -- y", "pnpm run x y", "pnpm add x", "pnpm install x", "pnpm --shell-mode x", "pnpm create x", "pnpm env use x", "pnpm run '/x/'", "pnpm config set x y",
	"npx x", "npx -c id", "npm exec x", "npm x y", "npm exec -c id", "npm run-script --prefix / x", "npm run --prefix / x", "npm run --script-shell=id x", "npm run x -- y", "npm test --node-options=x", "npm i x", "npm install", "npm config set x y", "npm explore x -- id", "npm --prefix / test", "npm init x", "npm version 1", "yarn x", "bun x", "bunx x", "corepack x", "deno run x", "tsx x", "ts-node x",
	"pytest -p x", "pytest -px", "pytest -c x", "pytest -cx", "pytest --config-file=x", "pytest --rootdir=/", "pytest --basetemp=/x", "pytest --basetemp x", "pytest -o addopts=x", "pytest -ocache_dir=x", "pytest --override-ini=x", "pytest --confcutdir=/", "pytest --pdbcls=x:y", "pytest --pdb", "pytest --junitxml=x", "pytest --junit-xml=x", "pytest --cov-report=html:x", "pytest --debug=x", "pytest --log-file=x", "pytest --pastebin=all", "pytest --import-mode=x", "pytest --pyargs x", "pytest @x", "pytest --resultlog=x", "pytest --basete x", "pytest --rootdi=x", "python -m pytest -p x", "python3 -m pip install x", "python -c x", "python3 -cx", "python -m http.server", "python -", "python x", "node -e x", "node -r x y", "node x", "node --eval x", "ruby -e x", "php -r x", "lua -e x", "tox", "pip install x", "uv run x", "uvx x", "pipx run x", "poetry run x",
	"make -f x", "make -fx", "make --file=x", "make --makefile=x", "make -C /", "make --directory=/", "make --eval 'x:;id'", "make --eval=x", "make -E x", "make VAR=x", "make CC=id all", "make SHELL=id", "make -I /x", "make --include-dir=/x", "make ../x", "make -o x", "make -W x", "make -e", "make -p", "gmake x", "cmake -P x", "ninja -f x", "just x", "bazel run x", "mvn x", "gradle x", "ant x", "rake x",
	"tsc", "tsc --outDir /x", "tsc --noEmit --outDir /x", "tsc -b", "tsc --build", "tsc --noEmit --generateTrace /x", "tsc --init", "tsc @x", "tsc --noEmit @x", "tsc -p x", "tsc --noEmit --tsBuildInfoFile /x", "tsc --noEmit --plugins x", "tsc --NOEMIT", "eslint --fix .", "eslint -c x .", "prettier --write .", "prettier --plugin=x .", "jest", "vitest", "webpack",
	"cargo --config x test", "cargo test --config x", "cargo +x test", "cargo run", "cargo test -- x", "cargo test -- --nocapture", "which -- -x", "pnpm run -- x", "cargo test --target-dir /x", "cargo test --manifest-path /x", "cargo -Z x test", "cargo build --out-dir x", "cargo build -C x", "cargo install x", "cargo rustc", "cargo fix", "cargo x", "rustc x", "gcc x", "cc -o x y", "ld x",
	// shells
	"sh -c id", "bash -c id", "bash x", "zsh x", "dash x", "fish x", "eval id", "exec id", "command id", "builtin id", "source x", ". x", "time ls", "nohup ls", "nice ls", "timeout 5 ls", "setsid ls", "sudo ls", "doas ls", "su -c id", "watch ls", "script x", "strace ls", "ssh x", "curl x", "wget x", "nc x", "busybox ls", "toybox ls", "/bin/ls", "./ls", "x/ls", "ls\\ ", "\\ls -x",
	"GIT_SSH_COMMAND=id git log", "PATH=. ls", "LD_PRELOAD=x ls", "A=1 ls", "A=1", "GIT_EXTERNAL_DIFF=id git diff", "IFS=x ls", "export A=1", "alias ls=id", "unset PATH", "ls() { id; }", "ls() { id; }; ls", "function ls { id; }", "set -x", "trap id EXIT", "cd / && ls", "cd src", "pushd /", "umask 0", "ulimit -n 1", "hash -p /x ls", "enable -f x y", "complete -C id x", "history -w x", "fc -e id", "read x", "mapfile x", "printf -v x y", "let x=1", "declare x", "test -e x", "[ -e x ]", "[[ -e x ]]", "(( x = 1 ))", "kill 1", "wait", "jobs", "fg %1", "bg", "disown", "coproc ls", "! ls", "ls & id", "ls &", "ls |& id", "ls | sh", "ls | tee x", "ls | xargs id", "ls && id", "ls || id", "ls; id", "ls\nid", "(ls)", "{ ls; }", "if true; then ls; fi", "for x in a; do ls; done", "while true; do ls; done", "case x in x) ls;; esac", "ls # x", "# ls", "#", "", " ", "!ls", "!!", "ls !$", `echo "!x"`, "ls ${IFS}x", "ls$IFS-x", "ls $IFS", "ls \u202e", "ls a\u200bb", "ls\u00a0x", "ls\rx", "ls \x00x", "ls \x1b[0m", "ls \\\n-x", "ls ''", `ls ""`, "=ls", "ls =id", "echo a=~/x", "echo --x=~", "ls %1*", "ls ^x", "ls x^", "ls a(b)", "ls +(x)", "ls @(x)", "ls x]", "ls }", "ls ]", "ls 'a", "ls )", "ls \xff",
}

// None of them is known, alone or as a part of a chain. The control is TestKnown:
// the same programs are, without what makes the danger.
func TestDangersAreNotKnown(t *testing.T) {
	for _, command := range dangers {
		for _, whole := range []string{command, command + " && ls", "ls && " + command, command + "\nls", "echo x | " + command} {
			if strings.TrimSpace(command) == "" || command[0] == '#' {
				whole = command // with another command it is that one
			}
			_, err := Read(whole)
			assert.ErrorAs(t, err, new(*UnknownError), "%q", whole)
		}
	}
}
