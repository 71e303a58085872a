package gitrepo

// use is what git does with a key's value.
type use int

const (
	useNone     use = iota
	useFile         // reads the file
	useDir          // reads, copies or runs what is in the directory
	useHooks        // the directory of hooks
	useCommand      // gives it to a shell, or runs it
	useSwitch       // as useCommand, but a boolean or a number turns something on or off
	useHelper       // a credential helper: a name, a path, or '!' and a command
	useBang         // '!' and a command; everything else is a word of git's
	useAlias        // as useBang, but runs only when a person types it
	useURL          // ext::COMMAND runs the command
	useBase         // the subsection is a URL
	useAbsolute     // a program if it is an absolute path, else a host
	useSuffix       // the last part of the name of a program, git-remote-VALUE
	useTrace        // writes to the file
	useGit          // settings that say where the repository lies
)

// keys is what git-config(1), githooks(5), gitattributes(5), git-send-email(1)
// and the manuals of the common extensions say of keys whose value is run or
// read as a file. A key is written without its subsection: whether
// diff.external or diff.NAME.command has one makes no difference here. In
// sections that stand in anyName each name counts.
var keys = map[string]use{
	"core.hookspath":            useHooks,
	"core.fsmonitor":            useSwitch,
	"core.sshcommand":           useCommand,
	"core.editor":               useCommand,
	"core.pager":                useCommand,
	"core.askpass":              useCommand,
	"core.gitproxy":             useCommand,
	"core.alternaterefscommand": useCommand,
	"core.attributesfile":       useFile,
	"core.excludesfile":         useFile,
	"core.worktree":             useGit,

	"attr.file":                  useFile,
	"blame.ignorerevsfile":       useFile,
	"browser.cmd":                useCommand,
	"browser.path":               useCommand,
	"commit.template":            useFile,
	"credential.helper":          useHelper,
	"delta.pager":                useCommand,
	"diff.command":               useCommand,
	"diff.external":              useCommand,
	"diff.orderfile":             useFile,
	"diff.textconv":              useCommand,
	"difftool.cmd":               useCommand,
	"difftool.path":              useCommand,
	"fetch.skiplist":             useFile,
	"filter.clean":               useCommand,
	"filter.process":             useCommand,
	"filter.smudge":              useCommand,
	"format.signaturefile":       useFile,
	"fsck.skiplist":              useFile,
	"gc.recentobjectshook":       useCommand,
	"gitcvs.logfile":             useFile,
	"gitflow.hooks":              useDir, // gitflow.path.hooks
	"gpg.allowedsignersfile":     useFile,
	"gpg.defaultkeycommand":      useCommand,
	"gpg.program":                useCommand,
	"gpg.revocationfile":         useFile,
	"guitool.cmd":                useCommand,
	"help.htmlpath":              useDir,
	"hook.command":               useCommand,
	"http.cookiefile":            useFile,
	"http.proxysslcainfo":        useFile,
	"http.proxysslcert":          useFile,
	"http.proxysslkey":           useFile,
	"http.sslcainfo":             useFile,
	"http.sslcapath":             useDir,
	"http.sslcert":               useFile,
	"http.sslkey":                useFile,
	"imap.tunnel":                useCommand,
	"init.templatedir":           useDir,
	"instaweb.httpd":             useCommand,
	"instaweb.modulepath":        useDir,
	"interactive.difffilter":     useCommand,
	"lfs.clean":                  useCommand, // lfs.extension.NAME.clean of git-lfs
	"lfs.path":                   useCommand, // lfs.customtransfer.NAME.path
	"lfs.smudge":                 useCommand,
	"mailmap.file":               useFile,
	"man.cmd":                    useCommand,
	"man.path":                   useCommand,
	"merge.driver":               useCommand,
	"mergetool.cmd":              useCommand,
	"mergetool.path":             useCommand,
	"receive.skiplist":           useFile,
	"remote.pushurl":             useURL,
	"remote.receivepack":         useCommand,
	"remote.uploadpack":          useCommand,
	"remote.url":                 useURL,
	"remote.vcs":                 useSuffix,
	"secrets.providers":          useCommand,
	"sendemail.aliasesfile":      useFile,
	"sendemail.cccmd":            useCommand,
	"sendemail.headercmd":        useCommand,
	"sendemail.sendmailcmd":      useCommand,
	"sendemail.smtpserver":       useAbsolute,
	"sendemail.smtpsslcertpath":  useFile,
	"sendemail.tocmd":            useCommand,
	"sequence.editor":            useCommand,
	"submodule.update":           useBang,
	"submodule.url":              useURL,
	"svn.authorsfile":            useFile,
	"svn.authorsprog":            useCommand,
	"tar.command":                useCommand,
	"trace2.eventtarget":         useTrace,
	"trace2.normaltarget":        useTrace,
	"trace2.perftarget":          useTrace,
	"trailer.cmd":                useCommand,
	"trailer.command":            useCommand,
	"uploadpack.packobjectshook": useCommand,
	"url.insteadof":              useBase,
	"url.pushinsteadof":          useBase,
	"user.signingkey":            useFile,
}

// anyName are the sections whose names are chosen by the person who writes.
var anyName = map[string]use{
	"alias": useAlias,
	"pager": useSwitch,
}

// variables are the environment's counterparts of keys (git(1)).
var variables = map[string]use{
	"GIT_EDITOR":          useCommand,
	"GIT_SEQUENCE_EDITOR": useCommand,
	"GIT_PAGER":           useCommand,
	"GIT_SSH_COMMAND":     useCommand,
	"GIT_SSH":             useCommand,
	"GIT_ASKPASS":         useCommand,
	"SSH_ASKPASS":         useCommand,
	"GIT_EXTERNAL_DIFF":   useCommand,
	"GIT_PROXY_COMMAND":   useCommand,
	"GIT_TEMPLATE_DIR":    useDir,
	"GIT_EXEC_PATH":       useDir,
	"VISUAL":              useCommand,
	"EDITOR":              useCommand,
	"PAGER":               useCommand,
}

// use of a setting's value.
func (s setting) use() use {
	if u, ok := anyName[s.section]; ok {
		return u
	}
	return keys[s.section+"."+s.name]
}

// hooks are the names of githooks(5), and of newer versions of git.
var hooks = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit",
	"pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit",
	"pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive",
	"update", "proc-receive", "post-receive", "post-update",
	"reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite",
	"sendemail-validate", "fsmonitor-watchman", "p4-changelist",
	"p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit",
	"post-index-change",
}
