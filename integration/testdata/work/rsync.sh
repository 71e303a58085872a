# copy a tree, change it, bring it in line again
rsync -a in/tree/ work/copy/
echo changed >work/copy/a.txt
echo extra >work/copy/extra
rm work/copy/deep/down/f
rsync -a --delete --checksum in/tree/ work/copy/
diff -r in/tree work/copy
rsync -a --inplace --no-whole-file in/tree/big work/copy/big
(cd work/copy && find . -type f | sort | xargs stat -c '%n %Y %a') >work/stat
