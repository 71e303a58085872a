// Package cases reads the corpus in testdata/cases and makes its trees.
//
// A group of rows is one txtar file. Its comment explains; its lines that
// begin with "+" are tree entries that every row of the group has. Each file
// in the archive is one row, named by its id and title, a list of lines:
//
//   - ENTRY                 a tree entry, see Entry
//     ! STEP                  done by someone else; before "policy": before the start
//     policy FLAG...          the flags of `pinfold run`; without it, no write path
//     policy FLAG... -> refused CODE
//     OP ARG... -> OUTCOME    an operation and what must come of it, see Outcome
//     # ...                   a remark
//
// Paths are relative to the sandbox root; "../" leads beside it. Words are
// separated by blanks; one in double quotes is a Go string. $ROOT, $BASE and
// $OUTSIDE are absolute paths, $PID is a process of the same user outside
// whose working directory is $OUTSIDE and which holds $OUTSIDE/secret as
// descriptor 3; $FD and $DIRFD are descriptors of the acting process for
// $OUTSIDE/secret and $OUTSIDE. {TEXT*N} is TEXT repeated N times.
//
// "->" splits an operation from its outcome:
//
//	ok [= DATA] [CHANGE...]      it works, gives DATA, and changes exactly this
//	refused WORD[,WORD...] [naive KIND | same "REASON" | hangs]
//	leaks "REASON"               a limit, listed in docs/threat-model.md
//
// "| in a view OUTCOME" at the end of a line stands for surfaces whose
// operations are system calls inside a mount, where the kernel or the standard
// library come to another result on the way.
//
// CHANGE is +path, -path or ~path; "..." at its end stands for all beneath. A
// refusal changes nothing. Its WORDs are rules of the resolver or names of
// errnos. The same operation on the bare tree must succeed, done plainly or,
// with "naive", by a tool that makes the mistake KIND (see Naive); "hangs"
// says that plainly it never ends. "same" says that the system refuses as
// well, and why the row stands here all the same.
package cases
