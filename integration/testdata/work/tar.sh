# pack, unpack with times, links and modes, compare
tar -C in -czf work/in.tgz tree
mkdir work/out
tar -C work/out -xpzf work/in.tgz
rm work/in.tgz # holds times of its own
diff -r in/tree work/out/tree
(cd work/out/tree && find . -type f | sort | xargs stat -c '%n %Y %a %h') >work/stat
cp -a work/out/tree work/copy
rm -rf work/out
