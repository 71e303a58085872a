package shellshape

// Class is what a shape is for, in the order of the words of bash_policy: a
// policy that names one has those up to it.
type Class string

// The classes.
const (
	ReadOnly  Class = "read_only"  // shows files that are named, or git's history
	Explore   Class = "explore"    // searches trees
	Test      Class = "test"       // runs the project's tests and checks
	BuildTest Class = "build_test" // builds, and records changes
)

// level is what a command shows of its path operands. Each includes those before.
type level int

const (
	nothing  level = iota
	entries        // the names in a directory
	names          // the names in a directory and beneath it
	files          // what a file holds; of a directory, all beneath it
	contents       // what all files beneath hold
)

// style is how a program reads its options.
type style int

const (
	getopt   style = iota // -abc, -n5, --name=value, --name value; anywhere before --
	single                // as getopt, but letters are not joined: git's revision walkers
	golang                // -name, --name, -name=value, -name value; before the operands
	findLike              // operands, then an expression of single-dash words
)

// shape is one program, or one subcommand of it, with all that is known of it.
//
// options are words divided by space: "-l" takes no value, "-n=num" takes one,
// and "--color?=word" only one that is joined by "=". What stands after "=" is the
// kind of the value (see kinds), and "-NUM" for a number as an option. "!names" and
// its like say that the option makes the command show more, "!dots" that it shows
// names with a dot before them. What is not listed is not known: also not the beginning
// of a long option that stands for it.
//
// operands are kinds in their order; none must be there, and one that ends in "*"
// stands for any number. What follows "--" is only taken after a "--" in the command.
type shape struct {
	head     string // the words that it begins with
	class    Class
	style    style
	options  string
	operands string
	shows    level
	// needs are options of which one must be there, divided by space.
	needs string
	// pattern are options that stand for the first operand.
	pattern string
	// filter says that without operands it only passes on what it is piped.
	filter bool
	// repository says that it reads git's configuration and its work tree, and
	// paths default to the whole of it.
	repository bool
	// writes are further places that it writes to: "." all beneath the working
	// directory, ".git" git's index and objects.
	writes string
	// source is the documentation that the entry was made from.
	source string
}

const (
	diffOptions = " -p!contents -u!contents --patch!contents -s --no-patch --stat?=num!names --numstat!names --shortstat!names --dirstat!names --summary!names --name-only!names --name-status!names --raw!names -U=num!contents --unified=num!contents -M?=num -w -b --ignore-all-space --ignore-space-change --ignore-blank-lines --word-diff?=word!contents --color?=word --no-color --minimal --patience --histogram --diff-algorithm=word --diff-filter=word --full-index --abbrev?=num --no-renames --exit-code --quiet --relative"
	logOptions  = " -NUM --oneline --graph --decorate?=word --no-decorate --all --branches --tags --remotes -n=num --max-count=num --skip=num --since=text --after=text --until=text --before=text --author=text --committer=text --grep=text -i -E -F --all-match --invert-grep --no-merges --merges --first-parent --reverse --date-order --topo-order --author-date-order --abbrev-commit --no-abbrev-commit --format=text --pretty?=text --date=text --left-right --cherry-pick --boundary --ancestry-path --full-history --simplify-merges -S=text!contents -G=text!contents"
	grepOptions = "-n --line-number -i --ignore-case -v --invert-match -w --word-regexp -x --line-regexp -l --files-with-matches -L --files-without-match -c --count -o --only-matching -h --no-filename -H --with-filename -q --quiet -s --no-messages -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -e=text --regexp=text -A=num --after-context=num -B=num --before-context=num -C=num --context=num -m=num --max-count=num --color?=word"
	pnpmScripts = " -s --silent --if-present"
)

// table is all that is known. A program that is not here, and an option that is
// not with its program, may do anything.
//
// Left out on purpose is whatever runs a program that is named to it (find -exec,
// rg --pre, git -c, go test -exec, xargs, env), reads a list of files from a file
// (wc --files0-from, grep -f), follows links out of the tree (ls -L, grep -R), or
// reads its rules from another place (make -f, pytest -c, cargo --config).
var table = []shape{
	// Programs that look.
	{head: "ls", class: ReadOnly, options: "-l -a!dots --all!dots -A!dots --almost-all!dots -1 -h --human-readable -t -r --reverse -S -d --directory -F --classify -i --inode -s --size -p -n --numeric-uid-gid -g -o -G --no-group -c -u -v -X -k -m -x -C --full-time --group-directories-first --color?=word --sort=word --time=word --time-style=word -R!names --recursive!names", operands: "path*", shows: entries, source: "ls(1), coreutils 9.7"},
	{head: "cat", class: ReadOnly, options: "-n --number -b --number-nonblank -s --squeeze-blank -E --show-ends -T --show-tabs -v --show-nonprinting -A --show-all -e -t", operands: "path*", shows: files, filter: true, source: "cat(1), coreutils 9.7"},
	{head: "head", class: ReadOnly, options: "-NUM -n=count --lines=count -c=count --bytes=count -q --quiet -v --verbose", operands: "path*", shows: files, filter: true, source: "head(1), coreutils 9.7"},
	{head: "tail", class: ReadOnly, options: "-NUM -n=count --lines=count -c=count --bytes=count -q --quiet -v --verbose", operands: "path*", shows: files, filter: true, source: "tail(1), coreutils 9.7"},
	{head: "wc", class: ReadOnly, options: "-l --lines -w --words -c --bytes -m --chars -L --max-line-length", operands: "path*", shows: files, filter: true, source: "wc(1), coreutils 9.7"},
	{head: "nl", class: ReadOnly, options: "-b=word -w=num -s=text", operands: "path*", shows: files, filter: true, source: "nl(1), coreutils 9.7"},
	{head: "sort", class: ReadOnly, options: "-n --numeric-sort -r --reverse -u --unique -f --ignore-case -k=word --key=word -t=text --field-separator=text -h --human-numeric-sort -V --version-sort -b -d -c -C -s --stable", operands: "path*", shows: files, filter: true, source: "sort(1), coreutils 9.7"},
	// The second operand of uniq is written.
	{head: "uniq", class: ReadOnly, options: "-c --count -d --repeated -u --unique -i --ignore-case -f=num -s=num -w=num", operands: "path", shows: files, filter: true, source: "uniq(1), coreutils 9.7"},
	{head: "cut", class: ReadOnly, options: "-d=text --delimiter=text -f=word --fields=word -c=word --characters=word -b=word --bytes=word -s --only-delimited --complement", operands: "path*", shows: files, needs: "-f --fields -c --characters -b --bytes", filter: true, source: "cut(1), coreutils 9.7"},
	{head: "tr", class: ReadOnly, options: "-d --delete -s --squeeze-repeats -c -C --complement", operands: "text text", filter: true, source: "tr(1), coreutils 9.7"},
	{head: "grep", class: ReadOnly, options: grepOptions + " -r!contents --recursive!contents --include=text --exclude=text --exclude-dir=text -I", operands: "text path*", shows: files, pattern: "-e --regexp", filter: true, source: "grep(1), GNU grep 3.11"},
	{head: "stat", class: ReadOnly, options: "-c=text --format=text -t --terse", operands: "path*", shows: entries, source: "stat(1), coreutils 9.7"},
	{head: "file", class: ReadOnly, options: "-b --brief -i --mime --mime-type", operands: "path*", shows: files, source: "file(1), file 5.46"},
	{head: "cmp", class: ReadOnly, options: "-s --silent --quiet -b --print-bytes -l --verbose", operands: "path path", shows: files, source: "cmp(1), diffutils 3.10"},
	{head: "diff", class: ReadOnly, options: "-u -U=num --unified?=num -c -q --brief -s --report-identical-files -w --ignore-all-space -b --ignore-space-change -B --ignore-blank-lines -i --ignore-case -y --side-by-side --color?=word", operands: "path path", shows: files, source: "diff(1), diffutils 3.10"},
	{head: "md5sum", class: ReadOnly, options: "-b --binary -t --text", operands: "path*", shows: files, filter: true, source: "md5sum(1), coreutils 9.7"},
	{head: "sha256sum", class: ReadOnly, options: "-b --binary -t --text", operands: "path*", shows: files, filter: true, source: "sha256sum(1), coreutils 9.7"},
	{head: "basename", class: ReadOnly, options: "", operands: "text*", source: "basename(1), coreutils 9.7"},
	{head: "dirname", class: ReadOnly, options: "", operands: "text*", source: "dirname(1), coreutils 9.7"},
	{head: "echo", class: ReadOnly, options: "-n -e -E", operands: "text*", source: "echo(1), coreutils 9.7"},
	{head: "pwd", class: ReadOnly, options: "-L -P", source: "pwd(1), coreutils 9.7"},
	{head: "true", class: ReadOnly, source: "true(1), coreutils 9.7"},
	{head: "date", class: ReadOnly, options: "-u --utc -I?=word --iso-8601?=word", operands: "date", source: "date(1), coreutils 9.7"},
	{head: "which", class: ReadOnly, options: "-a", operands: "word*", source: "which(1), debianutils 5.23"},

	// git that looks. Its options may not be shortened here, though git takes that.
	{head: "git status", class: ReadOnly, style: single, options: "-s --short -b --branch -v!contents --porcelain?=word --long -u?=word --untracked-files?=word --show-stash --ahead-behind --no-ahead-behind -z", operands: "-- path*", shows: names, repository: true, source: "git-status(1), git 2.51"},
	{head: "git log", class: ReadOnly, style: single, options: logOptions + diffOptions, operands: "rev* -- path*", repository: true, source: "git-log(1), git 2.51"},
	{head: "git diff", class: ReadOnly, style: single, options: "--cached --staged --merge-base" + diffOptions, operands: "rev* -- path*", shows: contents, repository: true, source: "git-diff(1), git 2.51"},
	{head: "git show", class: ReadOnly, style: single, options: "--oneline --abbrev-commit --format=text --pretty?=text --date=text --decorate?=word" + diffOptions, operands: "object* -- path*", shows: contents, repository: true, source: "git-show(1), git 2.51"},
	{head: "git cat-file", class: ReadOnly, style: single, options: "-p -t -s -e", operands: "object", shows: contents, needs: "-p -t -s -e", repository: true, source: "git-cat-file(1), git 2.51"},
	{head: "git blame", class: ReadOnly, style: single, options: "-L=range -w -l -s -e -f -n -t --date=word --porcelain --line-porcelain --abbrev=num", operands: "rev* -- path*", shows: files, repository: true, source: "git-blame(1), git 2.51"},
	{head: "git grep", class: ReadOnly, style: single, options: grepOptions + " --cached --name-only --heading --break -p --show-function -W --function-context --and --or --not --all-match", operands: "text rev* -- path*", shows: contents, pattern: "-e", repository: true, source: "git-grep(1), git 2.51"},
	{head: "git ls-files", class: ReadOnly, style: single, options: "-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -t -u --unmerged -z --exclude-standard --error-unmatch", operands: "path*", shows: names, repository: true, source: "git-ls-files(1), git 2.51"},
	{head: "git ls-tree", class: ReadOnly, style: single, options: "-r -t -l -d -z --name-only --name-status --full-tree --full-name", operands: "rev", shows: names, repository: true, source: "git-ls-tree(1), git 2.51"},
	// With an operand these make a branch, a tag or a remote.
	{head: "git branch", class: ReadOnly, style: single, options: "-a --all -r --remotes -v -vv --verbose -l --list --show-current --merged?=rev --no-merged?=rev --contains?=rev --no-color --color?=word --sort=word --format=text", repository: true, source: "git-branch(1), git 2.51"},
	{head: "git tag", class: ReadOnly, style: single, options: "-l --list -n --sort=word --contains?=rev --merged?=rev", repository: true, source: "git-tag(1), git 2.51"},
	{head: "git remote", class: ReadOnly, style: single, options: "-v --verbose", repository: true, source: "git-remote(1), git 2.51"},
	{head: "git stash list", class: ReadOnly, style: single, options: "--oneline", repository: true, source: "git-stash(1), git 2.51"},
	{head: "git rev-parse", class: ReadOnly, style: single, options: "--show-toplevel --show-prefix --show-cdup --is-inside-work-tree --abbrev-ref --short?=num --verify --symbolic-full-name -q --quiet", operands: "rev*", repository: true, source: "git-rev-parse(1), git 2.51"},
	{head: "git rev-list", class: ReadOnly, style: single, options: "--count --left-right --all -n=num --max-count=num --no-merges --first-parent --since=text --until=text", operands: "rev*", repository: true, source: "git-rev-list(1), git 2.51"},
	{head: "git merge-base", class: ReadOnly, style: single, options: "--is-ancestor -a --all --fork-point", operands: "rev*", repository: true, source: "git-merge-base(1), git 2.51"},
	{head: "git describe", class: ReadOnly, style: single, options: "--tags --always --all --long --abbrev=num", operands: "rev*", repository: true, source: "git-describe(1), git 2.51"},

	// Programs that search a tree.
	{head: "find", class: Explore, style: findLike, options: "-name=text -iname=text -path=text -ipath=text -wholename=text -regex=text -iregex=text -type=word -maxdepth=num -mindepth=num -size=word -mtime=word -mmin=word -atime=word -ctime=word -newer=file -empty -perm=word -print -print0 -prune -not -a -and -o -or -true -false -depth -xdev -mount", operands: "path*", shows: names, source: "find(1), findutils 4.10"},
	{head: "tree", class: Explore, options: "-a -d -L=num -f -i -s -h -D -r -t -I=text -P=text --dirsfirst --noreport --gitignore", operands: "path*", shows: names, source: "tree(1), tree 2.2"},
	{head: "du", class: Explore, options: "-s --summarize -h --human-readable -a --all -c --total -k -m -b --bytes -d=num --max-depth=num", operands: "path*", shows: names, source: "du(1), coreutils 9.7"},
	{head: "rg", class: Explore, options: "-n --line-number -N --no-line-number -i --ignore-case -s --case-sensitive -S --smart-case -w --word-regexp -x --line-regexp -v --invert-match -l --files-with-matches --files-without-match -c --count --count-matches -o --only-matching -F --fixed-strings -U --multiline -P --pcre2 -e=text --regexp=text -g=text --glob=text --iglob=text -t=word --type=word -T=word --type-not=word -A=num --after-context=num -B=num --before-context=num -C=num --context=num -m=num --max-count=num -d=num --max-depth=num --hidden --no-ignore --no-heading --heading --color=word --json --stats --sort=word --files -0 --null --no-config", operands: "text path*", shows: contents, pattern: "-e --regexp --files", source: "rg(1), ripgrep 15.1"},
	{head: "sed", class: Explore, options: "-n --quiet --silent", operands: "lines path*", shows: files, needs: "-n --quiet --silent", filter: true, source: "sed(1), GNU sed 4.9"},

	// Programs that run what the project holds.
	{head: "go test", class: Test, style: golang, options: "-v -race -short -failfast -cover -json -benchmem -x -run=text -skip=text -bench=text -list=text -benchtime=word -count=num -cpu=word -parallel=num -p=num -timeout=word -shuffle=word -tags=word -vet=word -covermode=word -coverpkg=packages -coverprofile=write", operands: "package*", source: "go help test, go help testflag, Go 1.26"},
	{head: "go vet", class: Test, style: golang, options: "-v -json -tags=word", operands: "package*", source: "go help vet, Go 1.26"},
	{head: "go list", class: Test, style: golang, options: "-json?=word -deps -test -e -f=text -tags=word", operands: "package*", source: "go help list, Go 1.26"},
	{head: "go version", class: ReadOnly, style: golang, source: "go help version, Go 1.26"},
	{head: "go env", class: ReadOnly, style: golang, options: "-json", operands: "variable*", source: "go help env, Go 1.26"},
	{head: "gofmt", class: ReadOnly, style: golang, options: "-l -d -s -e", operands: "path*", shows: contents, source: "gofmt(1), Go 1.26"},
	{head: "pytest", class: Test, options: pytestOptions, operands: "pytest*", source: "pytest --help, pytest 9.0"},
	{head: "python -m pytest", class: Test, options: pytestOptions, operands: "pytest*", source: "pytest --help, pytest 9.0"},
	{head: "python3 -m pytest", class: Test, options: pytestOptions, operands: "pytest*", source: "pytest --help, pytest 9.0"},
	{head: "cargo test", class: Test, options: cargoOptions + " --lib --bins --doc --tests --no-run --no-fail-fast", operands: "word", source: "cargo-test(1), cargo 1.91"},
	{head: "cargo check", class: Test, options: cargoOptions, source: "cargo-check(1), cargo 1.91"},
	{head: "cargo clippy", class: Test, options: cargoOptions, source: "cargo clippy --help, cargo 1.91"},
	{head: "npm test", class: Test, options: "-s --silent", source: "npm-test(1), npm 11"},
	{head: "pnpm test", class: Test, options: "-s --silent", source: "pnpm.io/cli/test, pnpm 10"},
	{head: "tsc", class: Test, options: "--noEmit --pretty -p=file --project=file --skipLibCheck --strict", needs: "--noEmit", source: "typescriptlang.org/docs/handbook/compiler-options.html, TypeScript 5.9"},
	{head: "make", class: BuildTest, options: "-j?=num -k --keep-going -n --dry-run --just-print -s --silent -B --always-make --no-print-directory", operands: "target*", source: "make(1), GNU make 4.4"},
	{head: "go build", class: BuildTest, style: golang, options: "-v -race -x -trimpath -tags=word -p=num", operands: "package*", writes: ".", source: "go help build, Go 1.26"},
	{head: "cargo build", class: BuildTest, options: cargoOptions, operands: "", source: "cargo-build(1), cargo 1.91"},
	{head: "npm run", class: BuildTest, options: pnpmScripts, operands: "script", source: "npm-run(1), npm 11"},
	{head: "npm ci", class: BuildTest, options: "--ignore-scripts --offline", source: "npm-ci(1), npm 11"},
	{head: "pnpm run", class: BuildTest, options: pnpmScripts, operands: "script", source: "pnpm.io/cli/run, pnpm 10"},
	{head: "pnpm install", class: BuildTest, options: "--frozen-lockfile --offline --prefer-offline --ignore-scripts", source: "pnpm.io/cli/install, pnpm 10"},

	// git that records. It runs the hooks of the repository.
	{head: "git add", class: BuildTest, style: single, options: "-v --verbose -n --dry-run -A!contents --all!contents -u!contents --update!contents", operands: "path*", shows: files, repository: true, writes: ".git", source: "git-add(1), git 2.51"},
	{head: "git commit", class: BuildTest, style: single, options: "-m=text --message=text -am=text!names -a!names --all!names -q --quiet -v -s --signoff --amend --no-edit --allow-empty", needs: "-m --message --no-edit", repository: true, writes: ".git", source: "git-commit(1), git 2.51"},
}

const (
	pytestOptions = "-v -vv -vvv --verbose -q -qq --quiet -x --exitfirst -s -l --showlocals -k=text -m=text --maxfail=num --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --co --collect-only --tb=word --durations=num --color=word --no-header --no-summary -rA -ra -rs -rx -rf -rfE --disable-warnings --runxfail --strict-markers"
	cargoOptions  = "-v --verbose -q --quiet --release -r --workspace --all-targets --all-features --no-default-features --locked --offline --frozen -p=word --package=word --features=word -F=word -j=num --jobs=num --test=word --bin=word --example=word"
)
