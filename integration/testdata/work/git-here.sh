# the repository of the project itself, with --git
echo more >>work/f.txt
git add work/f.txt
git commit -q -m more
git checkout -q -b topic HEAD~1
echo other >work/g.txt
git add work/g.txt
git commit -q -m other
git rebase -q master
git merge -q --no-ff -m merge master
echo dirty >>work/f.txt
git stash -q
git stash pop -q
git gc -q
git fsck --full
git log --oneline --graph --all >work/log
git ls-files -s >work/files
