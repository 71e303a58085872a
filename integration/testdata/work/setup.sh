# makes the project that the workloads work on
mkdir -p in/tree/deep/down in/module/lib in/app in/greet work
printf 'line 1\nline 2\n' >in/tree/a.txt
printf '#!/bin/sh\necho b\n' >in/tree/b.sh
chmod 755 in/tree/b.sh
echo f >in/tree/deep/down/f
ln -s ../a.txt in/tree/deep/up
ln in/tree/a.txt in/tree/hard
seq 1 100000 >in/tree/big
chmod 640 in/tree/deep/down/f
find in/tree -exec touch -h -d '2020-02-02 02:02:02 UTC' {} +

git init -q -b master in/seed
(cd in/seed && echo a >a.txt && git add . && git commit -q -m seed && echo b >b.txt && git add . && git commit -q -m second)
git clone -q --bare in/seed in/upstream.git
rm -rf in/seed

cat >in/module/go.mod <<E
module example.com/app

go 1.21
E
printf 'package main\n\nimport "example.com/app/lib"\n\nfunc main() { println(lib.Greet()) }\n' >in/module/main.go
printf 'package lib\n\nfunc Greet() string { return "hello" }\n' >in/module/lib/lib.go
printf 'package lib\n\nimport "testing"\n\nfunc TestGreet(t *testing.T) {\n\tif Greet() != "hello" {\n\t\tt.Fatal()\n\t}\n}\n' >in/module/lib/lib_test.go

printf '{"name": "app", "version": "1.0.0", "scripts": {"hello": "greet"}}\n' >in/app/package.json
mkdir in/greet/package
printf '{"name": "greet", "version": "1.0.0", "main": "main.js", "bin": "cli.js"}\n' >in/greet/package/package.json
printf 'module.exports = () => "hello"\n' >in/greet/package/main.js
printf '#!/usr/bin/env node\nconsole.log(require("./main.js")())\n' >in/greet/package/cli.js
tar --sort=name --mtime='2020-02-02 UTC' -C in/greet -czf in/greet-1.0.0.tgz package
rm -rf in/greet

git init -q -b master .
echo f >work/f.txt
git add work/f.txt
git commit -q -m first
echo g >>work/f.txt
git commit -q -a -m second
