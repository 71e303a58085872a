// Package gitshare says what a run may change in a git directory that lies
// outside of its project: that of a linked worktree, of a submodule's checkout,
// or of a clone with --separate-git-dir.
//
// What a checkout's .git file says is not believed by itself, since an earlier
// run may have made the checkout: the repository has to name the checkout too,
// and to belong to the caller.
//
// The git directory of a linked worktree is shared with the main work tree and
// with every other worktree (gitrepository-layout(5), git-worktree(1)). A run
// there changes the worktree's own directory, objects, its branch, the stash,
// remote-tracking branches, and what it made itself; everything else it reads.
// packed-refs is among that, since who writes it changes any ref.
//
// Objects are shared whole: git looks an object up by its name and does not
// hash it again at each use, so whoever may write there can damage what other
// branches hold. Who fears that needs a clone.
package gitshare
