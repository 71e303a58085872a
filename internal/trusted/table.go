package trusted

// files is what programs on the host run, or take rights from, without
// being told to build, to test or to push: because an editor or an agent was
// started in the directory, or a shell entered it. Every name is matched at
// every depth, since any directory may be the one that somebody opens next, but
// for those without "**/". Beneath node_modules the names mean nothing: packages
// bring such files along, and nobody works there.
//
// Left out on purpose:
//   - what is only read as text: CLAUDE.md, AGENTS.md, GEMINI.md, .cursorrules,
//     .clinerules but for its hooks, .github/copilot-instructions.md, .editorconfig;
//   - what runs on an install, a build, a test or a push, which later.go lists:
//     package.json, .npmrc, .yarnrc.yml, Makefile, .bazelrc, flake.nix, and
//     .lintstagedrc, which an installed hook calls and package.json can replace;
//     The same goes for .huskyrc, and for .bsp, which sbt writes whenever it starts;
//   - what only chooses among installed versions: .python-version, .ruby-version,
//     .nvmrc, .node-version, .java-version;
//   - .env, which is data to nearly all who read it, and which agents write;
//   - installed code: .venv, vendor, node_modules;
//   - what a program reads from the home directory only: .bashrc, .gitconfig;
//   - git's own, which pathresolver.DefaultProtected lists, and directories that its
//     configuration names, such as .githooks.
var files = []File{
	// Agents.
	{Glob: "**/.claude/**", Name: ".claude", But: []string{"CLAUDE.md", "CLAUDE.local.md", "rules", "worktrees"},
		Program: "Claude Code", Why: "runs its hooks and plugins, and takes permissions from settings, agents, commands and skills", Source: "https://code.claude.com/docs/en/hooks"},
	{Glob: "**/.mcp.json", Name: ".mcp.json", Program: "Claude Code", Why: "starts the MCP servers that it names", Source: "https://code.claude.com/docs/en/mcp"},
	{Glob: "**/.cursor/**", Name: ".cursor", Program: "Cursor", Why: "runs its hooks, MCP servers and worktree setup", Source: "https://cursor.com/docs/agent/hooks"},
	{Glob: "**/.codex/**", Name: ".codex", Program: "Codex", Why: "takes its configuration, MCP servers, hooks and command rules from it", Source: "https://developers.openai.com/codex/config-basic"},
	{Glob: "**/.agents/**", Name: ".agents", Program: "Codex and others", Why: "load skills and plugins from it", Source: "https://developers.openai.com/codex/skills"},
	{Glob: "**/.gemini/**", Name: ".gemini", Program: "Gemini CLI", Why: "runs its MCP servers, hooks, commands and extensions", Source: "https://geminicli.com/docs/reference/configuration/"},
	{Glob: "**/.qwen/**", Name: ".qwen", Program: "Qwen Code", Why: "runs its MCP servers, hooks and extensions", Source: "https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings/"},
	{Glob: "**/.opencode/**", Name: ".opencode", Program: "OpenCode", Why: "runs its plugins and tools", Source: "https://opencode.ai/docs/plugins/"},
	{Glob: "**/opencode.{json,jsonc}", Name: "opencode.json", Program: "OpenCode", Why: "starts its MCP servers and takes permissions from it", Source: "https://opencode.ai/docs/config/"},
	{Glob: "**/{,.}crush.json", Name: "crush.json", Program: "Crush", Why: "starts its MCP and language servers", Source: "https://github.com/charmbracelet/crush#configuration"},
	{Glob: "**/.windsurf/**", Name: ".windsurf", Program: "Windsurf", Why: "runs its hooks and workflows", Source: "https://docs.windsurf.com/windsurf/cascade/hooks"},
	{Glob: "**/.continue/**", Name: ".continue", Program: "Continue", Why: "starts the MCP servers that it defines", Source: "https://docs.continue.dev/customize/deep-dives/mcp"},
	{Glob: "**/.continuerc.json", Name: ".continue", Program: "Continue", Why: "takes its configuration from it", Source: "https://docs.continue.dev/reference"},
	{Glob: "**/.aider.conf.{yml,yaml}", Name: ".aider.conf.yml", Program: "aider", Why: "runs its lint and test commands", Source: "https://aider.chat/docs/config/aider_conf.html"},
	{Glob: "**/.roo/**", Name: ".roo", Program: "Roo Code", Why: "starts the MCP servers that it names", Source: "https://docs.roocode.com/features/mcp/using-mcp-in-roo"},
	{Glob: "**/.roomodes", Name: ".roo", Program: "Roo Code", Why: "takes the rights of its modes from it", Source: "https://docs.roocode.com/features/custom-modes"},
	{Glob: "**/.clinerules/hooks/**", Name: ".clinerules", Program: "Cline", Why: "runs them as hooks", Source: "https://docs.cline.bot/features/hooks"},
	{Glob: "**/.kilocode/**", Name: ".kilocode", Program: "Kilo Code", Why: "starts the MCP servers that it names", Source: "https://kilo.ai/docs/automate/mcp/using-in-kilo-code"},
	{Glob: "**/.kiro/**", Name: ".kiro", But: []string{"specs", "steering"}, Program: "Kiro", Why: "runs its hooks and MCP servers", Source: "https://kiro.dev/docs/hooks/"},
	{Glob: "**/.amazonq/**", Name: ".amazonq", But: []string{"rules"}, Program: "Amazon Q Developer", Why: "starts its MCP servers and agents", Source: "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line-mcp-configuration.html"},
	{Glob: "**/.amp/**", Name: ".amp", Program: "Amp", Why: "takes permissions and MCP servers from it", Source: "https://ampcode.com/manual"},
	{Glob: "**/.factory/**", Name: ".factory", Program: "Droid", Why: "runs its hooks and MCP servers", Source: "https://docs.factory.ai/cli/configuration/hooks-guide"},
	{Glob: "**/.augment/**", Name: ".augment", But: []string{"rules"}, Program: "Augment", Why: "takes permissions and hooks from it", Source: "https://docs.augmentcode.com/cli/config"},
	{Glob: "**/.junie/mcp/**", Name: ".junie", Program: "Junie", Why: "starts the MCP servers that it names", Source: "https://www.jetbrains.com/help/junie/mcp-settings.html"},
	{Glob: "**/.openhands/**", Name: ".openhands", But: []string{"microagents"}, Program: "OpenHands", Why: "runs its setup script and hooks", Source: "https://docs.openhands.dev/openhands/usage/customization/repository"},
	{Glob: "**/.trae/**", Name: ".trae", But: []string{"rules"}, Program: "Trae", Why: "starts the MCP servers that it names", Source: "https://docs.trae.ai/ide/model-context-protocol"},
	{Glob: "**/.pi/**", Name: ".pi", Program: "pi", Why: "runs its extensions", Source: "https://github.com/badlogic/pi-mono/tree/main/packages/coding-agent#extensions"},
	{Glob: "**/.github/{agents,copilot,extensions,hooks,skills}/**", Name: ".github/hooks", Program: "GitHub Copilot", Why: "runs its hooks and extensions, and takes tools from its agents", Source: "https://docs.github.com/en/copilot/how-tos/use-copilot-agents/coding-agent/use-hooks"},
	{Glob: "**/.github/mcp.json", Name: ".github/mcp.json", Program: "GitHub Copilot", Why: "starts the MCP servers that it names", Source: "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers"},
	{Glob: "**/.pinfold.yaml", Name: ".pinfold.yaml", Program: "pinfold", Why: "takes from it what runs may do, and which policies it checks", Source: "docs/project-file.md"},

	// Editors, and debuggers that read the directory they start in.
	{Glob: "**/.vscode/tasks.json", Name: ".vscode", Program: "VS Code", Why: "runs its tasks", Source: "https://code.visualstudio.com/docs/debugtest/tasks"},
	{Glob: "**/.vscode/launch.json", Name: ".vscode", Program: "VS Code", Why: "runs what it starts", Source: "https://code.visualstudio.com/docs/debugtest/debugging-configuration"},
	{Glob: "**/.vscode/settings.json", Name: ".vscode", Program: "VS Code", Why: "runs the programs that its settings name", Source: "https://code.visualstudio.com/docs/configure/settings"},
	{Glob: "**/.vscode/extensions.json", Name: ".vscode", Program: "VS Code", Why: "offers to install what it recommends", Source: "https://code.visualstudio.com/docs/configure/extensions/extension-marketplace#_workspace-recommended-extensions"},
	{Glob: "**/.vscode/mcp.json", Name: ".vscode", Program: "VS Code", Why: "starts the MCP servers that it names", Source: "https://code.visualstudio.com/docs/copilot/customization/mcp-servers"},
	{Glob: "**/.vscode/{c_cpp_properties,cmake-kits}.json", Name: ".vscode", Program: "VS Code", Why: "runs the compilers that it names", Source: "https://code.visualstudio.com/docs/cpp/customize-cpp-settings"},
	{Glob: "**/.theia/**", Name: ".theia", Program: "Theia", Why: "runs its tasks and the programs that its settings name", Source: "https://www.npmjs.com/package/@theia/task"},
	{Glob: "**/*.code-workspace", Name: ".code-workspace", Program: "VS Code", Why: "takes settings and tasks from it", Source: "https://code.visualstudio.com/docs/editing/workspaces/multi-root-workspaces"},
	{Glob: "**/.vs/**", Name: ".vs", Program: "Visual Studio", Why: "runs its tasks", Source: "https://learn.microsoft.com/en-us/visualstudio/ide/customize-build-and-debug-tasks-in-visual-studio"},
	{Glob: "**/.idea/**", Name: ".idea", Program: "JetBrains IDEs", Why: "run its startup tasks and file watchers", Source: "https://www.jetbrains.com/help/idea/settings-tools-startup-tasks.html"},
	{Glob: "**/*.run.xml", Name: ".run.xml", Program: "JetBrains IDEs", Why: "run it as a configuration", Source: "https://www.jetbrains.com/help/idea/run-debug-configuration.html#share-configurations"},
	{Glob: "**/*.{ipr,iws}", Name: ".ipr", Program: "JetBrains IDEs", Why: "take the project's configuration from it", Source: "https://www.jetbrains.com/help/idea/creating-and-managing-projects.html#project-formats"},
	{Glob: "**/.fleet/**", Name: ".fleet", Program: "Fleet", Why: "runs what it configures", Source: "https://www.jetbrains.com/help/fleet/run-configurations.html"},
	{Glob: "**/.devcontainer/**", Name: ".devcontainer", Program: "dev containers", Why: "initializeCommand runs on the host", Source: "https://containers.dev/implementors/json_reference/#lifecycle-scripts"},
	{Glob: "**/.devcontainer.json", Name: ".devcontainer", Program: "dev containers", Why: "initializeCommand runs on the host", Source: "https://containers.dev/implementors/json_reference/#lifecycle-scripts"},
	{Glob: "**/.vim*", Name: ".vim", Program: "Vim", Why: "sources .vimrc under 'exrc', and plugins read .vim", Source: "https://vimhelp.org/starting.txt.html#.vimrc"},
	{Glob: "**/{.exrc,.gvimrc,.lvimrc,_vimrc,_exrc,_gvimrc}", Name: ".exrc", Program: "Vim", Why: "sources it under 'exrc'", Source: "https://vimhelp.org/options.txt.html#'exrc'"},
	{Glob: "**/{.nvim.lua,.nvimrc,.lazy.lua}", Name: ".nvim.lua", Program: "Neovim", Why: "runs it under 'exrc'", Source: "https://neovim.io/doc/user/options.html#'exrc'"},
	{Glob: "**/.nvim/**", Name: ".nvim.lua", Program: "Neovim", Why: "plugins run what is in it", Source: "https://neovim.io/doc/user/lua.html#vim.secure"},
	{Glob: "**/{.,_}dir-locals.el", Name: ".dir-locals.el", Program: "Emacs", Why: "evaluates forms in it", Source: "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html"},
	{Glob: "**/{.,_}dir-locals-2.el", Name: ".dir-locals.el", Program: "Emacs", Why: "evaluates forms in it", Source: "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html"},
	{Glob: "**/.zed/**", Name: ".zed", Program: "Zed", Why: "runs its tasks and the language servers that it names", Source: "https://zed.dev/docs/configuring-zed#settings-files"},
	{Glob: "**/*.sublime-{project,workspace}", Name: ".sublime-project", Program: "Sublime Text", Why: "takes build systems and plugin settings from it", Source: "https://www.sublimetext.com/docs/projects.html"},
	{Glob: "**/.helix/**", Name: ".helix", Program: "Helix", Why: "starts the language servers that it names", Source: "https://docs.helix-editor.com/languages.html"},
	{Glob: "**/.nova/**", Name: ".nova", Program: "Nova", Why: "runs its tasks", Source: "https://help.nova.app/nova/tasks/"},
	{Glob: "**/.kateproject", Name: ".kateproject", Program: "Kate", Why: "starts the language servers that it names", Source: "https://docs.kde.org/stable5/en/kate/kate/kate-application-plugin-projects.html"},
	{Glob: "**/.externalToolBuilders/**", Name: ".externalToolBuilders", Program: "Eclipse", Why: "runs it when it builds by itself", Source: "https://help.eclipse.org/latest/topic/org.eclipse.platform.doc.user/concepts/concepts-exttools.htm"},
	{Glob: "**/.project", Name: ".project", Program: "Eclipse", Why: "runs the builders that it names when it builds by itself", Source: "https://help.eclipse.org/latest/topic/org.eclipse.platform.doc.isv/reference/misc/project_description_file.html"},
	{Glob: "**/.solargraph.yml", Name: ".solargraph.yml", Program: "Solargraph", Why: "loads the plugins that it names", Source: "https://solargraph.org/guides/configuration"},
	{Glob: "**/{,.}ctags.d/**", Name: ".ctags.d", Program: "Universal Ctags", Why: "takes options from it, such as which file it writes", Source: "ctags(1)"},
	{Glob: "**/.ctags", Name: ".ctags.d", Program: "Exuberant Ctags", Why: "takes options from it, such as which file it writes", Source: "ctags(1)"},
	{Glob: "**/.ycm_extra_conf.py", Name: ".ycm_extra_conf.py", Program: "YouCompleteMe", Why: "runs it", Source: "https://github.com/ycm-core/YouCompleteMe#option-2-provide-the-flags-manually"},
	{Glob: "**/.gdbinit", Name: ".gdbinit", Program: "gdb", Why: "runs its commands at the start", Source: "gdb(1)"},
	{Glob: "**/.lldbinit*", Name: ".lldbinit", Program: "lldb", Why: "runs its commands at the start", Source: "lldb(1)"},
	{Glob: "**/.pdbrc", Name: ".pdbrc", Program: "Python's debugger", Why: "runs its commands at the start", Source: "https://docs.python.org/3/library/pdb.html#debugger-commands"},
	{Glob: "**/{.irbrc,_irbrc,.pryrc}", Name: ".irbrc", Program: "irb and pry", Why: "run it at the start", Source: "https://docs.ruby-lang.org/en/master/IRB.html"},
	{Glob: "**/{.Rprofile,.Renviron,.RData}", Name: ".Rprofile", Program: "R", Why: "runs or loads it at the start", Source: "https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html"},
	{Glob: "**/.octaverc", Name: ".octaverc", Program: "Octave", Why: "runs it at the start", Source: "https://docs.octave.org/latest/Startup-Files.html"},
	{Glob: "**/.ghci", Name: ".ghci", Program: "GHCi", Why: "runs it at the start", Source: "https://downloads.haskell.org/ghc/latest/docs/users_guide/ghci.html#the-ghci-files"},
	{Glob: "**/.ocamlinit", Name: ".ocamlinit", Program: "OCaml", Why: "runs it at the start", Source: "https://ocaml.org/manual/latest/toplevel.html"},
	{Glob: "**/.iex.exs", Name: ".iex.exs", Program: "IEx", Why: "runs it at the start", Source: "https://hexdocs.pm/iex/IEx.html#module-the-iex-exs-file"},

	// Shells, version and hook managers, and other version control.
	{Glob: "**/.envrc", Name: ".envrc", Program: "direnv", Why: "runs it when a shell enters the directory", Source: "direnv(1)"},
	{Glob: "**/.direnv/**", Name: ".direnv", Program: "direnv", Why: "reads back what it has kept there", Source: "direnv-stdlib(1)"},
	{Glob: "**/.autoenv*", Name: ".autoenv", Program: "autoenv", Why: "runs it when a shell enters the directory", Source: "https://github.com/hyperupcall/autoenv"},
	{Glob: "**/.rvmrc", Name: ".rvmrc", Program: "rvm", Why: "runs it when a shell enters the directory", Source: "https://rvm.io/workflow/rvmrc"},
	{Glob: "**/.rbenv-vars", Name: ".rbenv-vars", Program: "rbenv", Why: "sets its variables for every Ruby program", Source: "https://github.com/rbenv/rbenv-vars"},
	{Glob: "**/{,.}mise.toml", Name: "mise", Program: "mise", Why: "runs its hooks, and sets variables and tools, when a shell enters the directory", Source: "https://mise.jdx.dev/configuration.html"},
	{Glob: "**/{,.}mise.*.toml", Name: "mise", Program: "mise", Why: "runs its hooks, and sets variables and tools, when a shell enters the directory", Source: "https://mise.jdx.dev/configuration.html"},
	{Glob: "**/.mise/**", Name: "mise", Program: "mise", Why: "takes its configuration from it", Source: "https://mise.jdx.dev/configuration.html"},
	{Glob: "**/mise/config{,.local}.toml", Name: "mise", Program: "mise", Why: "takes its configuration from it", Source: "https://mise.jdx.dev/configuration.html"},
	{Glob: "**/.config/mise/**", Name: "mise", Program: "mise", Why: "takes its configuration from it", Source: "https://mise.jdx.dev/configuration.html"},
	{Glob: "**/.rtx*.toml", Name: "mise", Program: "mise", Why: "takes its configuration from it", Source: "https://mise.jdx.dev/configuration.html"},
	{Glob: "**/.tool-versions", Name: ".tool-versions", Program: "asdf and mise", Why: "choose by it which programs a command starts, also by path", Source: "https://asdf-vm.com/manage/configuration.html"},
	{Glob: "**/.prototools", Name: ".prototools", Program: "proto", Why: "loads the plugins that it names", Source: "https://moonrepo.dev/docs/proto/config"},
	{Glob: ".husky/**", Name: ".husky", Program: "husky", Why: "git runs it as hooks", Source: "https://typicode.github.io/husky/"},
	{Glob: "**/.pre-commit-config.{yaml,yml}", Name: ".pre-commit-config.yaml", Program: "pre-commit", Why: "runs its hooks on the next commit", Source: "https://pre-commit.com/#adding-pre-commit-plugins-to-your-project"},
	{Glob: "**/prek.toml", Name: ".pre-commit-config.yaml", Program: "prek", Why: "runs its hooks on the next commit", Source: "https://prek.j178.dev/configuration/"},
	{Glob: "**/{,.}lefthook{,-local}.{yml,yaml,toml,json,jsonc}", Name: "lefthook", Program: "lefthook", Why: "runs its commands on the next commit", Source: "https://lefthook.dev/configuration/"},
	{Glob: "**/.lefthook{,-local}/**", Name: "lefthook", Program: "lefthook", Why: "runs its scripts on the next commit", Source: "https://lefthook.dev/configuration/source_dir.html"},
	{Glob: "**/.overcommit.yml", Name: ".overcommit.yml", Program: "overcommit", Why: "runs its hooks on the next commit", Source: "https://github.com/sds/overcommit#configuration"},
	{Glob: "**/.git-hooks/**", Name: ".overcommit.yml", Program: "overcommit", Why: "runs its scripts on the next commit", Source: "https://github.com/sds/overcommit#repo-specific-hooks"},
	{Glob: "**/hk{,.local}.pkl", Name: "hk.pkl", Program: "hk", Why: "runs its commands on the next commit", Source: "https://hk.jdx.dev/configuration.html"},
	{Glob: "**/captainhook.json", Name: "captainhook.json", Program: "CaptainHook", Why: "runs its actions on the next commit", Source: "https://github.com/captainhook-git/captainhook"},
	{Glob: "**/grumphp.{yml,yaml}{,.dist}", Name: "grumphp.yml", Program: "GrumPHP", Why: "runs its tasks on the next commit", Source: "https://github.com/phpro/grumphp"},
	{Glob: "**/{,.}rusty-hook.toml", Name: ".rusty-hook.toml", Program: "rusty-hook", Why: "runs its commands on the next commit", Source: "https://github.com/swellaby/rusty-hook"},
	{Glob: "**/.trunk/**", Name: ".trunk", Program: "trunk", Why: "runs the linters and actions that it defines", Source: "https://docs.trunk.io/code-quality/overview/cli/getting-started/configuration"},
	{Glob: "**/.hg/{hgrc,hgrc-not-shared,sharedpath,requires}", Name: ".hg/hgrc", Program: "Mercurial", Why: "runs its hooks and aliases", Source: "hgrc(5)"},
	{Glob: "**/.sl/{config,sharedpath,requires}", Name: ".sl", Program: "Sapling", Why: "runs its hooks and aliases", Source: "https://sapling-scm.com/docs/git/git_support_modes"},
	{Glob: "**/.repo/{repo,manifests,local_manifests}/**", Name: ".repo", Program: "repo", Why: "runs itself from it, and the hooks that a manifest names", Source: "https://gerrit.googlesource.com/git-repo/+/HEAD/docs/internal-fs-layout.md"},
	{Glob: "**/.repo/manifest.xml", Name: ".repo", Program: "repo", Why: "runs the hooks that it names", Source: "https://gerrit.googlesource.com/git-repo/+/HEAD/docs/internal-fs-layout.md"},
	{Glob: "**/.reviewboardrc", Name: ".reviewboardrc", Program: "rbt", Why: "runs it as Python", Source: "https://www.reviewboard.org/docs/rbtools/latest/rbt/configuration/"},
	{Glob: "**/.arcconfig", Name: ".arcconfig", Program: "arc", Why: "loads the libraries that it names", Source: "https://secure.phabricator.com/book/phabricator/article/arcanist_new_project/"},
	{Glob: "**/.jj/repo/config.toml", Name: ".jj", Dir: true, Program: "jj", Why: "runs the tools and aliases that it names", Source: "https://jj-vcs.github.io/jj/latest/config/"},
	{Glob: "**/.jj/workspace-config.toml", Name: ".jj", Program: "jj", Why: "runs the tools and aliases that it names", Source: "https://jj-vcs.github.io/jj/latest/config/"},
}
