package trusted

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// LaterFile is a kind of file that an agent is there to write, and that a
// program executes, or takes commands from, the next time somebody uses it.
type LaterFile struct {
	Glob    string `json:"glob"`    // over places, letter case ignored
	Program string `json:"program"` // what runs it
	When    string `json:"when"`    // one of the When words
}

// The occasions on which a LaterFile is run.
const (
	WhenInstall = "install" // dependencies are installed or updated
	WhenBuild   = "build"   // the project is built, generated or started
	WhenTest    = "test"    // its tests or linters run
	WhenCommit  = "commit"  // a commit is made, where a hook is set up that calls the program
	WhenPush    = "push"    // it is pushed, and CI runs
	WhenDeploy  = "deploy"  // it is packed, released or deployed
)

// runsLater is not complete and cannot be: any source file runs in the end. It
// names the files that decide what is run, so that somebody who reviews a diff
// knows where to look first. What a program runs without being told to build,
// to test or to push does not belong here but is protected.
var runsLater = []LaterFile{
	// JavaScript
	{"**/package.json", "npm, yarn, pnpm or bun", WhenInstall},
	{"**/.npmrc", "npm or pnpm", WhenInstall},
	{"**/.pnpmfile.cjs", "pnpm", WhenInstall},
	{"**/pnpm-workspace.yaml", "pnpm", WhenInstall},
	{"**/.yarnrc", "yarn", WhenInstall},
	{"**/.yarnrc.yml", "yarn", WhenInstall},
	{"**/.yarn", "yarn", WhenInstall},
	{"**/.pnp.cjs", "yarn", WhenBuild},
	{"**/.pnp.loader.mjs", "yarn", WhenBuild},
	{"**/bunfig.toml", "bun", WhenInstall},
	{"**/.simple-git-hooks.*", "simple-git-hooks", WhenInstall},
	{"**/binding.gyp", "node-gyp", WhenInstall},
	{"**/deno.json", "deno", WhenBuild},
	{"**/deno.jsonc", "deno", WhenBuild},
	{"**/*.config.js", "the tool that it configures", WhenBuild},
	{"**/*.config.cjs", "the tool that it configures", WhenBuild},
	{"**/*.config.mjs", "the tool that it configures", WhenBuild},
	{"**/*.config.ts", "the tool that it configures", WhenBuild},
	{"**/*.config.cts", "the tool that it configures", WhenBuild},
	{"**/*.config.mts", "the tool that it configures", WhenBuild},
	{"**/karma.conf.js", "karma", WhenTest},
	{"**/.mocharc.*", "mocha", WhenTest},
	{"**/.eslintrc*", "eslint", WhenTest},
	{"**/.prettierrc*", "prettier", WhenTest},
	{"**/.babelrc*", "babel", WhenBuild},
	{"**/Gruntfile.*", "grunt", WhenBuild},
	{"**/gulpfile.*", "gulp", WhenBuild},
	{"**/.huskyrc*", "husky", WhenCommit},
	{"**/.lintstagedrc*", "lint-staged", WhenCommit},
	{"**/lint-staged.config.*", "lint-staged", WhenCommit},
	{"**/.commitlintrc*", "commitlint", WhenCommit},
	{"**/.czrc", "commitizen", WhenCommit},
	{"**/.releaserc*", "semantic-release", WhenDeploy},
	// make and its like
	{"**/Makefile", "make", WhenBuild},
	{"**/GNUmakefile", "make", WhenBuild},
	{"**/*.mk", "make", WhenBuild},
	{"**/justfile", "just", WhenBuild},
	{"**/.justfile", "just", WhenBuild},
	{"**/*.just", "just", WhenBuild},
	{"**/Taskfile.yml", "task", WhenBuild},
	{"**/Taskfile.yaml", "task", WhenBuild},
	{"**/Taskfile.dist.yml", "task", WhenBuild},
	{"**/Taskfile.dist.yaml", "task", WhenBuild},
	{"**/CMakeLists.txt", "cmake", WhenBuild},
	{"**/CMakePresets.json", "cmake", WhenBuild},
	{"**/*.cmake", "cmake", WhenBuild},
	{"**/meson.build", "meson", WhenBuild},
	{"**/SConstruct", "scons", WhenBuild},
	{"**/SConscript", "scons", WhenBuild},
	{"**/wscript", "waf", WhenBuild},
	{"**/configure", "the shell", WhenBuild},
	{"**/configure.ac", "autoconf", WhenBuild},
	{"**/autogen.sh", "the shell", WhenBuild},
	{"**/*.m4", "autoconf", WhenBuild},
	{"**/BUILD", "bazel", WhenBuild},
	{"**/BUILD.bazel", "bazel", WhenBuild},
	{"**/WORKSPACE", "bazel", WhenBuild},
	{"**/WORKSPACE.bazel", "bazel", WhenBuild},
	{"**/MODULE.bazel", "bazel", WhenBuild},
	{"**/*.bzl", "bazel", WhenBuild},
	{"**/.bazelrc", "bazel", WhenBuild},
	{"**/tools/bazel", "bazelisk", WhenBuild},
	{"**/Earthfile", "earthly", WhenBuild},
	{"**/flake.nix", "nix", WhenBuild},
	{"**/default.nix", "nix", WhenBuild},
	{"**/shell.nix", "nix", WhenBuild},
	// Go, Rust, C#, Swift
	{"**/go.mod", "go", WhenBuild},
	{"**/go.work", "go", WhenBuild},
	{"**/magefile.go", "mage", WhenBuild},
	{"**/magefiles", "mage", WhenBuild},
	{"**/Cargo.toml", "cargo", WhenBuild},
	{"**/.cargo", "cargo", WhenBuild},
	{"**/build.rs", "cargo", WhenBuild},
	{"**/build.zig", "zig", WhenBuild},
	{"**/*.csproj", "msbuild", WhenBuild},
	{"**/*.fsproj", "msbuild", WhenBuild},
	{"**/*.vbproj", "msbuild", WhenBuild},
	{"**/*.vcxproj", "msbuild", WhenBuild},
	{"**/*.props", "msbuild", WhenBuild},
	{"**/*.targets", "msbuild", WhenBuild},
	{"**/global.json", "dotnet", WhenBuild},
	{"**/.config/dotnet-tools.json", "dotnet", WhenBuild},
	{"**/Package.swift", "swift", WhenBuild},
	{"**/Podfile", "cocoapods", WhenInstall},
	{"**/project.pbxproj", "xcodebuild", WhenBuild},
	{"**/*.xcscheme", "xcodebuild", WhenBuild},
	{"**/fastlane", "fastlane", WhenDeploy},
	// the JVM
	{"**/*.gradle", "gradle", WhenBuild},
	{"**/*.gradle.kts", "gradle", WhenBuild},
	{"**/gradle.properties", "gradle", WhenBuild},
	{"**/gradle/wrapper", "gradle", WhenBuild},
	{"**/gradlew", "gradle", WhenBuild},
	{"**/gradlew.bat", "gradle", WhenBuild},
	{"**/pom.xml", "maven", WhenBuild},
	{"**/.mvn", "maven", WhenBuild},
	{"**/mvnw", "maven", WhenBuild},
	{"**/mvnw.cmd", "maven", WhenBuild},
	{"**/build.xml", "ant", WhenBuild},
	{"**/build.sbt", "sbt", WhenBuild},
	{"**/.bsp", "the editor that asks a build server", WhenBuild},
	{"**/*.sbt", "sbt", WhenBuild},
	{"**/.sbtopts", "sbt", WhenBuild},
	{"**/.jvmopts", "sbt", WhenBuild},
	{"**/project.clj", "lein", WhenBuild},
	{"**/deps.edn", "clojure", WhenBuild},
	{"**/bb.edn", "babashka", WhenBuild},
	// Python, Ruby, PHP, Perl
	{"**/pyproject.toml", "pip, uv or poetry", WhenInstall},
	{"**/setup.py", "pip", WhenInstall},
	{"**/setup.cfg", "pip", WhenInstall},
	{"**/requirements*.txt", "pip", WhenInstall},
	{"**/uv.toml", "uv", WhenInstall},
	{"**/Pipfile", "pipenv", WhenInstall},
	{"**/environment.yml", "conda", WhenInstall},
	{"**/conftest.py", "pytest", WhenTest},
	{"**/pytest.ini", "pytest", WhenTest},
	{"**/tox.ini", "tox", WhenTest},
	{"**/noxfile.py", "nox", WhenTest},
	{"**/.pylintrc", "pylint", WhenTest},
	{"**/mypy.ini", "mypy", WhenTest},
	{"**/.coveragerc", "coverage", WhenTest},
	{"**/tasks.py", "invoke", WhenBuild},
	{"**/fabfile.py", "fabric", WhenDeploy},
	{"**/Rakefile", "rake", WhenBuild},
	{"**/*.rake", "rake", WhenBuild},
	{"**/Gemfile", "bundler", WhenInstall},
	{"**/.bundle/config", "bundler", WhenInstall},
	{"**/*.gemspec", "bundler", WhenInstall},
	{"**/.rspec", "rspec", WhenTest},
	{"**/.rubocop.yml", "rubocop", WhenTest},
	{"**/Guardfile", "guard", WhenTest},
	{"**/composer.json", "composer", WhenInstall},
	{"**/phpunit.xml", "phpunit", WhenTest},
	{"**/phpunit.xml.dist", "phpunit", WhenTest},
	{"**/.yardopts", "yard", WhenBuild},
	{"**/Makefile.PL", "perl", WhenBuild},
	{"**/Build.PL", "perl", WhenBuild},
	{"**/.proverc", "prove", WhenTest},
	// others
	{"**/mix.exs", "mix", WhenBuild},
	{"**/.formatter.exs", "mix format", WhenBuild},
	{"**/rebar.config", "rebar3", WhenBuild},
	{"**/Setup.hs", "cabal", WhenBuild},
	{"**/*.cabal", "cabal", WhenBuild},
	{"**/cabal.project", "cabal", WhenBuild},
	{"**/dune", "dune", WhenBuild},
	{"**/dune-project", "dune", WhenBuild},
	{"**/Procfile", "foreman", WhenBuild},
	// containers, deployment and release
	{"**/Dockerfile", "docker", WhenBuild},
	{"**/Dockerfile.*", "docker", WhenBuild},
	{"**/*.Dockerfile", "docker", WhenBuild},
	{"**/Containerfile", "podman", WhenBuild},
	{"**/compose.yml", "docker compose", WhenBuild},
	{"**/compose.yaml", "docker compose", WhenBuild},
	{"**/compose.*.yml", "docker compose", WhenBuild},
	{"**/compose.*.yaml", "docker compose", WhenBuild},
	{"**/docker-compose*.yml", "docker compose", WhenBuild},
	{"**/docker-compose*.yaml", "docker compose", WhenBuild},
	{"**/docker-bake.*", "docker buildx", WhenBuild},
	{"**/Vagrantfile", "vagrant", WhenBuild},
	{"**/Tiltfile", "tilt", WhenBuild},
	{"**/skaffold.yaml", "skaffold", WhenDeploy},
	{"**/*.tf", "terraform", WhenDeploy},
	{"**/ansible.cfg", "ansible", WhenDeploy},
	{"**/.goreleaser.yml", "goreleaser", WhenDeploy},
	{"**/.goreleaser.yaml", "goreleaser", WhenDeploy},
	{"**/netlify.toml", "netlify", WhenDeploy},
	{"**/vercel.json", "vercel", WhenDeploy},
	{"**/wrangler.toml", "wrangler", WhenDeploy},
	{"**/serverless.yml", "serverless", WhenDeploy},
	// CI
	{".github/workflows", "GitHub Actions", WhenPush},
	{"**/action.yml", "GitHub Actions", WhenPush},
	{"**/action.yaml", "GitHub Actions", WhenPush},
	{".github/actions", "GitHub Actions", WhenPush},
	{".github/dependabot.yml", "Dependabot", WhenPush},
	{".forgejo/workflows", "Forgejo Actions", WhenPush},
	{".gitea/workflows", "Gitea Actions", WhenPush},
	{".gitlab-ci.yml", "GitLab CI", WhenPush},
	{".gitlab", "GitLab CI", WhenPush},
	{".circleci", "CircleCI", WhenPush},
	{".buildkite", "Buildkite", WhenPush},
	{".woodpecker*", "Woodpecker", WhenPush},
	{".drone.yml", "Drone", WhenPush},
	{".travis.yml", "Travis CI", WhenPush},
	{".appveyor.yml", "AppVeyor", WhenPush},
	{"appveyor.yml", "AppVeyor", WhenPush},
	{".cirrus.yml", "Cirrus CI", WhenPush},
	{"azure-pipelines*.yml", "Azure Pipelines", WhenPush},
	{".azure-pipelines", "Azure Pipelines", WhenPush},
	{"bitbucket-pipelines.yml", "Bitbucket Pipelines", WhenPush},
	{"cloudbuild.yaml", "Cloud Build", WhenPush},
	{"**/Jenkinsfile*", "Jenkins", WhenPush},
	{".builds", "builds.sr.ht", WhenPush},
	{".build.yml", "builds.sr.ht", WhenPush},
}

// laterIndex finds entries of runsLater by the first name of their globs. It is asked
// at each new name in a view: 0.1 µs where hint tells that nothing is found, five times
// that with a look at the map for every name, and 6 µs to try every glob, which was a
// tenth of a rename.
type laterIndex struct {
	names map[string][]laterGlob // where that is literal
	wild  []laterGlob            // where it has a "*"
	hint  hint                   // of both
}

type laterGlob struct {
	nth  int
	glob globs.Glob
}

// laterRules are compiled once, when they are first asked.
var laterRules = sync.OnceValue(func() *laterIndex {
	x := &laterIndex{names: make(map[string][]laterGlob, len(runsLater))}
	for i, l := range runsLater {
		folded := globs.Fold(l.Glob)
		g, err := globs.Parse(folded)
		if err != nil {
			panic("trusted: bug: " + l.Glob + " " + err.Error())
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(folded, "**/"), "/")
		switch {
		case !strings.ContainsAny(name, `*?[{\`):
			x.names[name] = append(x.names[name], laterGlob{i, g})
		case strings.Count(name, "*") == 1 && !strings.ContainsAny(name, `?[{\`):
			x.wild = append(x.wild, laterGlob{i, g})
		default:
			panic("trusted: bug: no such glob: " + l.Glob)
		}
		x.hint.add(name)
	}
	return x
})

// RunsLater returns the files that run on a build, a test, a push and the like:
// an agent may write them, and somebody who reviews its work wants to know
// which of them it changed.
func RunsLater() []LaterFile { return slices.Clone(runsLater) }

// RunsLaterAt returns the entry of RunsLater that covers a place; ok is false
// where none does. Of several the first is returned. It looks at the name only
// and is safe for use by many goroutines.
func RunsLaterAt(place string) (l LaterFile, ok bool) {
	x := laterRules()
	if x.hint.foreign(place) {
		return LaterFile{}, false
	}
	folded, first := globs.Fold(place), math.MaxInt
	try := func(list []laterGlob) {
		for _, g := range list {
			if g.nth >= first {
				break
			}
			if globs.Covers(g.glob, folded) {
				first = g.nth
			}
		}
	}
	for name := range strings.SplitSeq(folded, "/") {
		try(x.names[name])
	}
	try(x.wild)
	if first == math.MaxInt {
		return LaterFile{}, false
	}
	return runsLater[first], true
}
