# clone, commit, branch, rebase, stash, gc: a repository of its own beneath a write path
git clone -q in/upstream.git work/clone
cd work/clone
echo one >one.txt
git add one.txt
git commit -q -m one
git checkout -q -b topic HEAD~1
echo two >two.txt
mkdir dir
git mv a.txt dir/a.txt
git add two.txt
git commit -q -m two
git rebase -q master
echo dirty >>one.txt
git stash -q
git stash pop -q
git status --short >status
git remote add other ../../in/upstream.git
git fetch -q other
git tag -a -m tag v1
git worktree add -q ../tree v1
git worktree remove ../tree
git gc -q
git fsck --full
git log --oneline --graph --all >log
git ls-files -s >files
