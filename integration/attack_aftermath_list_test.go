package integration

// aftermaths are what was found to act. Each is tried on every surface that has the
// operations for it.
var aftermaths = []aftermath{
	{key: "git-link", policy: []string{"--git", "-w", "src"},
		attack: `ln -sf $OUT/victim .git/COMMIT_EDITMSG; ln -sf $OUT/victim .git/ORIG_HEAD; ln -sf $OUT/victim .git/FETCH_HEAD`,
		api: `remove .git/COMMIT_EDITMSG
			symlink $OUT/victim .git/COMMIT_EDITMSG
			symlink $OUT/victim .git/ORIG_HEAD
			symlink $OUT/victim .git/FETCH_HEAD`,
		lacks: "no skill makes a symbolic link"},
	{key: "git-link-moved", policy: []string{"--git", "-w", "."},
		before: `ln -s $OUT/victim src/l`,
		attack: `mv -f src/l .git/COMMIT_EDITMSG`,
		ops:    `rename src/l .git/COMMIT_EDITMSG`},
	{key: "git-link-directory", policy: []string{"-w", "."},
		before: `mkdir src/d; ln -s $OUT/victim src/d/HEAD`,
		attack: `mv .git/logs src/logs; mv src/d .git/logs`,
		ops: `rename .git/logs src/logs
			rename src/d .git/logs`},
	{key: "git-fifo", policy: []string{"--git", "-w", "src"},
		attack: `rm -f .git/COMMIT_EDITMSG; mkfifo .git/COMMIT_EDITMSG`,
		lacks:  "neither the API nor a skill makes a FIFO"},
	{key: "git-fifo-moved", policy: []string{"-w", "."},
		before: `mkfifo src/fifo`,
		attack: `mv -f src/fifo .git/COMMIT_EDITMSG`,
		ops:    `rename src/fifo .git/COMMIT_EDITMSG`},
	{key: "git-hard-link", policy: []string{"-w", "."},
		before: `ln $OUT/victim src/h`,
		attack: `mv -f src/h .git/COMMIT_EDITMSG`,
		ops:    `rename src/h .git/COMMIT_EDITMSG`},
	{key: "git-hooks-path", policy: []string{"-w", "."},
		before: `git config core.hooksPath tools/hooks; mkdir -p tools/hooks`,
		attack: `cp $EVIL tools/hooks/post-commit; cp $EVIL tools/hooks/pre-commit`,
		ops: `write src/prog $EVILTEXT
			rename src/prog tools/hooks/post-commit`},
	{key: "git-hooks-path-operator", policy: []string{"-w", "."},
		before: `git config --global core.hooksPath tools/hooks`,
		attack: `mkdir -p tools/hooks; cp $EVIL tools/hooks/post-commit`,
		ops: `write src/prog $EVILTEXT
			mkdirall tools/hooks
			rename src/prog tools/hooks/post-commit`},
	{key: "git-hooks-link", policy: []string{"-w", "."},
		before: `rm -rf .git/hooks; mkdir shared; ln -s ../shared .git/hooks`,
		attack: `cp $EVIL shared/post-commit`,
		ops: `write src/prog $EVILTEXT
			rename src/prog shared/post-commit`},
	{key: "git-include", policy: []string{"-w", "src"},
		before: `git config include.path ../src/git.inc`,
		attack: `printf '[core]\n\tfsmonitor = %s\n' $EVIL >src/git.inc`,
		ops:    `write src/git.inc [core]\n\tfsmonitor = $EVIL\n`},
	{key: "git-include-if", policy: []string{"-w", "src"},
		before: `git config --global includeIf.gitdir:$ROOT/.path $ROOT/src/git.inc`,
		attack: `printf '[core]\n\tfsmonitor = %s\n' $EVIL >src/git.inc`,
		ops:    `write src/git.inc [core]\n\tfsmonitor = $EVIL\n`},
	{key: "git-filter", policy: []string{"-w", "."},
		before: `mkdir tools; printf '#!/bin/sh\ncat\n' >tools/f.sh; chmod +x tools/f.sh; git config filter.f.clean tools/f.sh; echo '* filter=f' >.gitattributes`,
		attack: `cp $EVIL tools/f.sh; echo more >>src/a`,
		ops: `write tools/f.sh $EVILTEXT
			append src/a more`},
	{key: "git-file", policy: []string{"-w", "meta"},
		before: `mkdir meta; mv .git meta/store; echo 'gitdir: meta/store' >.git`,
		attack: `git config -f meta/store/config core.fsmonitor $EVIL`,
		ops:    `append meta/store/config [core]\n\tfsmonitor = $EVIL\n`},
	{key: "git-own-file", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; git -C $OUT/other config core.fsmonitor $EVIL; git -C $OUT/other commit -q --allow-empty -m x; rm -f $RAN`,
		attack: `mkdir src/mine; echo "gitdir: $OUT/other/.git" >src/mine/.git; git add -f src/mine`,
		ops: `mkdirall src/mine
			write src/mine/.git gitdir: $OUT/other/.git\n`},
	{key: "git-worktree", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; git -C $OUT/other config core.fsmonitor $EVIL; rm -f $RAN`,
		attack: `git worktree add -q src/wt; echo $OUT/other/.git >.git/worktrees/wt/commondir; git config -f .git/worktrees/wt/config.worktree core.fsmonitor $EVIL; git config extensions.worktreeConfig true`,
		ops: `mkdirall .git/worktrees/wt
			write .git/worktrees/wt/HEAD ref: refs/heads/wt\n
			write .git/worktrees/wt/gitdir $ROOT/src/wt/.git\n
			write .git/worktrees/wt/commondir $OUT/other/.git\n
			mkdirall src/wt
			write src/wt/.git gitdir: $ROOT/.git/worktrees/wt\n`},
	{key: "git-worktree-there", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; git -C $OUT/other config core.fsmonitor $EVIL; git worktree add -q src/wt; rm -f $RAN`,
		attack: `echo $OUT/other/.git >.git/worktrees/wt/commondir; echo "gitdir: $OUT/other/.git" >src/wt/.git`,
		ops: `write .git/worktrees/wt/commondir $OUT/other/.git\n
			write src/wt/.git gitdir: $OUT/other/.git\n`},
	{key: "git-submodule", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/sub; git -C $OUT/sub commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule --quiet add $OUT/sub src/sub 2>/dev/null; git commit -qm sub`,
		attack: `printf '[core]\n\tfsmonitor = %s\n' $EVIL >>.git/modules/src/sub/config; mkdir -p .git/modules/src/sub/hooks; cp $EVIL .git/modules/src/sub/hooks/post-index-change`,
		ops: `append .git/modules/src/sub/config [core]\n\tfsmonitor = $EVIL\n
			write src/prog $EVILTEXT
			rename src/prog .git/modules/src/sub/hooks/post-index-change`},
	{key: "git-config", policy: []string{"--git", "-w", "src"},
		attack: `printf '[core]\n\tfsmonitor = %s\n' $EVIL >>.git/config; mkdir -p .git/hooks; cp $EVIL .git/hooks/post-commit`,
		ops: `append .git/config [core]\n\tfsmonitor = $EVIL\n
			write src/prog $EVILTEXT
			rename src/prog .git/hooks/post-commit`},
	{key: "git-nested", policy: []string{"-w", "."},
		before: `git init -q src/deep/repo; git -C src/deep/repo commit -q --allow-empty -m x; git add src/deep/repo; git commit -qm nested`,
		attack: `git -C src/deep/repo config core.fsmonitor $EVIL; mkdir -p src/deep/repo/.git/hooks; cp $EVIL src/deep/repo/.git/hooks/post-index-change`,
		ops: `append src/deep/repo/.git/config [core]\n\tfsmonitor = $EVIL\n
			write src/prog $EVILTEXT
			rename src/prog src/deep/repo/.git/hooks/post-index-change`},
	{key: "git-bare-there", policy: []string{"-w", "."},
		before: `git clone -q --bare . .b; rm -rf .git src; mv .b/* .; rmdir .b; printf '#!/bin/sh\n' >prog; chmod +x prog`,
		attack: `printf '[remote "origin"]\n\turl = ext::%s\n[protocol "ext"]\n\tallow = always\n' $EVIL >>config; cp $EVIL hooks/reference-transaction`,
		ops: `append config [remote "origin"]\n\turl = ext::$EVIL\n[protocol "ext"]\n\tallow = always\n
			write prog $EVILTEXT
			rename prog hooks/reference-transaction`},
	{key: "git-bare", policy: []string{"-w", "."},
		attack: `mkdir -p src/objects/info src/refs/heads src/hooks; echo $ROOT/.git/objects >src/objects/info/alternates; git rev-parse HEAD >src/refs/heads/m; cp $EVIL src/hooks/reference-transaction; echo 'ref: refs/heads/m' >src/HEAD`,
		ops: `mkdirall src/objects
			mkdirall src/refs/heads
			write src/config [core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = $ROOT\n\tfsmonitor = $EVIL\n
			write src/HEAD ref: refs/heads/m\n`},
	{key: "git-rebase", policy: []string{"-w", "."},
		before: `echo b >src/a; git commit -qam b; GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git rebase -q -i HEAD~1 2>/dev/null || true`,
		attack: `printf 'exec %s\n' $EVIL >>.git/rebase-merge/git-rebase-todo`,
		ops:    `append .git/rebase-merge/git-rebase-todo exec $EVIL\n`},
	{key: "git-own", policy: []string{"--git", "-w", "src"},
		attack: `git init -q src/mine; cd src/mine; git commit -q --allow-empty -m x; git config core.fsmonitor $EVIL; printf '[core]\n\tfsmonitor = %s\n' $EVIL >>.git/config; cp $EVIL .git/hooks/post-index-change; cd ../..; git add src/mine`,
		ops: `mkdirall src/mine/.git/objects
			mkdirall src/mine/.git/refs/heads
			write src/mine/.git/HEAD ref: refs/heads/main\n
			write src/mine/.git/config [core]\n\trepositoryformatversion = 0\n\tfsmonitor = $EVIL\n`},
	{key: "git-own-again", policy: []string{"--git", "-w", "src"},
		attack: `git init -q src/mine; git -C src/mine commit -q --allow-empty -m x; git add src/mine
again
printf '[core]\n\tfsmonitor = %s\n' $EVIL >>src/mine/.git/config; printf '[core]\n\tfsmonitor = %s\n' $EVIL >src/c; mv -f src/c src/mine/.git/config; cp $EVIL src/mine/.git/hooks/post-index-change`,
		ops: `mkdirall src/mine/.git/objects
			mkdirall src/mine/.git/refs/heads
			write src/mine/.git/HEAD ref: refs/heads/main\n
again
write src/mine/.git/config [core]\n\trepositoryformatversion = 0\n\tfsmonitor = $EVIL\n`},
	{key: "git-alternates", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; echo secret >$OUT/other/s; git -C $OUT/other add s; git -C $OUT/other commit -qm s; rm -f $RAN`,
		attack: `echo $OUT/other/.git/objects >.git/objects/info/alternates`,
		ops:    `write .git/objects/info/alternates $OUT/other/.git/objects\n`},
	{key: "git-index", policy: []string{"--git", "-w", "src"},
		before: `base64 -d >src/i <$INDEXFILE`,
		attack: `cp src/i .git/index.lock; mv -f .git/index.lock .git/index; rm -f .git/index.lock; cp src/i .git/index`,
		ops:    `rename src/i .git/index`},
	{key: "git-remotes", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; git -C $OUT/other commit -q --allow-empty -m x; rm -f $RAN`,
		attack: `mkdir -p .git/remotes; printf 'URL: %s\nPull: refs/heads/*:refs/remotes/o/*\n' $OUT/other >.git/remotes/origin`,
		ops: `mkdirall .git/remotes
			write .git/remotes/origin URL: $OUT/other\nPull: refs/heads/*:refs/remotes/o/*\n`},
	{key: "git-attributes", policy: []string{"--git", "-w", "src"},
		before: `git config --global filter.f.clean $EVIL`,
		attack: `echo 'a filter=f' >.git/info/attributes; echo more >>src/a`,
		ops: `mkdirall .git/info
			write .git/info/attributes a filter=f\n
			append src/a more`},
	{key: "git-config-worktree", policy: []string{"--git", "-w", "src"},
		before: `git config extensions.worktreeConfig true`,
		attack: `printf '[core]\n\tfsmonitor = %s\n' $EVIL >.git/config.worktree`,
		ops:    `write .git/config.worktree [core]\n\tfsmonitor = $EVIL\n`},
	{key: "git-commondir", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; git -C $OUT/other config core.fsmonitor $EVIL; rm -f $RAN`,
		attack: `echo $OUT/other/.git >.git/commondir`,
		ops:    `write .git/commondir $OUT/other/.git\n`},

	// Other programs that run what lies in a project.
	{key: "vim", policy: []string{"-w", "."},
		before: `echo 'set exrc' >~/.vimrc`,
		attack: `echo "silent! !touch $RAN" >.exrc`,
		ops:    `write .exrc silent! !touch $RAN\n`,
		after:  `vim --not-a-term -T dumb -n +qa! src/a </dev/null >/dev/null 2>&1`},
	{key: "vim-below", policy: []string{"-w", "."},
		before: `echo 'set exrc' >~/.vimrc`,
		attack: `echo "silent! !touch $RAN" >src/rc; mv src/rc src/.vimrc`,
		ops: `write src/rc silent! !touch $RAN\n
			rename src/rc src/.vimrc`,
		after: `cd src && vim --not-a-term -T dumb -n +qa! a </dev/null >/dev/null 2>&1`},
	{key: "perl-debugger", policy: []string{"-w", "."},
		attack: `echo "system('touch $RAN');" >.perldb`,
		ops:    `write .perldb system('touch $RAN');\n`,
		after:  `perl -d -e 1 </dev/null >/dev/null 2>&1`},
	{key: "git-safe", policy: []string{"--git", "-w", "."},
		attack: `mkdir -p .git/safe bin; cp $EVIL bin/ls`,
		ops: `mkdirall .git/safe
			mkdirall bin
			write src/prog $EVILTEXT
			rename src/prog bin/ls`,
		after: `PATH=.git/safe/../../bin:$PATH; export PATH; ls </dev/null`},
	{key: "husky", policy: []string{"-w", "."},
		before: `git config core.hooksPath .husky/_; mkdir -p .husky/_; printf '#!/bin/sh\nsh .husky/pre-commit\n' >.husky/_/pre-commit; chmod +x .husky/_/pre-commit; echo true >.husky/pre-commit; git add .; git commit -qm husky`,
		attack: `cp $EVIL .husky/pre-commit`,
		ops:    `write .husky/pre-commit $EVILTEXT`,
		after:  `echo more >>src/a; git commit -qam more </dev/null`},
	{key: "git-rerere", policy: []string{"--git", "-w", "src"},
		before: `id=1111111111111111111111111111111111111111; mkdir src/rr; : >src/rr/preimage; echo agent >src/rr/postimage; printf '%s.-1\t%s\0' $id $OUT/victim >src/merge_rr; echo '* merge=union' >.gitattributes`,
		attack: `id=1111111111111111111111111111111111111111; mkdir -p .git/rr-cache; cp -r src/rr .git/rr-cache/$id; cp src/merge_rr .git/MERGE_RR`,
		ops: `mkdirall .git/rr-cache/1111111111111111111111111111111111111111
			rename src/rr/preimage .git/rr-cache/1111111111111111111111111111111111111111/preimage
			rename src/rr/postimage .git/rr-cache/1111111111111111111111111111111111111111/postimage
			rename src/merge_rr .git/MERGE_RR`},
	{key: "git-moved-out", policy: []string{"--git", "-w", "."},
		before: `git init -q src/plain; git -C src/plain commit -q --allow-empty -m x; mv src/plain/.git src/store; rmdir src/plain; printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = %s\n' $EVIL >src/evil-config; rm src/store/config src/store/HEAD; echo 'ref: refs/heads/main' >src/head`,
		attack: `mkdir -p .git/foo; cp -r src/store .git/foo/.git; cp src/evil-config .git/foo/.git/config; cp src/head .git/foo/.git/HEAD; mv .git/foo src/mine`,
		api: `mkdirall .git/foo
			rename src/store .git/foo/.git
			rename src/evil-config .git/foo/.git/config
			rename src/head .git/foo/.git/HEAD
			rename .git/foo src/mine`,
		lacks: "no skill moves a directory"},
	{key: "git-prompt", policy: []string{"--git", "-w", "src"},
		attack: `mkdir .git/rebase-merge; echo refs/heads/main >.git/rebase-merge/head-name; echo 3 >.git/rebase-merge/end; echo "\$($EVIL </dev/null)" >.git/rebase-merge/msgnum`,
		ops: `mkdirall .git/rebase-merge
			write .git/rebase-merge/head-name refs/heads/main\n
			write .git/rebase-merge/end 3\n
			write .git/rebase-merge/msgnum $(touch $RAN)\n`},
	{key: "git-include-link", policy: []string{"-w", "."},
		before: `git config include.path ../conf/git/x; mkdir -p src/evil/git; printf '[core]\n\tfsmonitor = %s\n' $EVIL >src/evil/git/x; ln -s src/evil src/link`,
		attack: `ln -s src/evil conf`,
		api:    `symlink src/evil conf`,
		lacks:  "no skill makes a symbolic link"},
	{key: "git-above", policy: []string{"-w", "."},
		before: `mv .git ../.git; git config core.hooksPath $ROOT/hooks; mkdir hooks`,
		attack: `cp $EVIL hooks/post-commit`,
		ops: `write src/prog $EVILTEXT
			rename src/prog hooks/post-commit`},
	{key: "git-fifo-ignore", policy: []string{"-w", "src"},
		attack: `mkfifo src/.gitignore`,
		lacks:  "neither the API nor a skill makes a FIFO"},
	{key: "git-worktree-repair", policy: []string{"--git", "-w", "src"},
		before: `mkdir $OUT/home`,
		attack: `git worktree add -q src/wt; echo $OUT/home/.git >.git/worktrees/wt/gitdir`,
		lacks:  "neither the API nor a skill makes a work tree"},
}
