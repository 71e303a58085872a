package integration

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDatabaseOnBothSides has the host and two runs commit to one SQLite database at the
// same time, each by a connection that reads before it writes. Nothing that was committed
// may be lost: each has pages of its own of what it has read, and of shared memory.
func TestDatabaseOnBothSides(t *testing.T) {
	commits := 300
	if long {
		commits = 10_000
	}
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		for _, journal := range []string{"wal", "delete"} {
			t.Run(run.name+"/"+journal, func(t *testing.T) {
				site := newSite(t, run.uid, true)
				require.NoError(t, os.Mkdir(site.root+"/work", 0o755))
				writers := []string{"host", "one", "two"}
				for _, who := range writers {
					var script strings.Builder
					fmt.Fprintf(&script, ".timeout 600000\npragma journal_mode=%s;\npragma synchronous=off;\n", journal)
					for i := range commits {
						fmt.Fprintf(&script, "select count(*) from t;\ninsert into t values('%s', %d);\n", who, i)
					}
					require.NoError(t, os.WriteFile(site.root+"/"+who+".sql", []byte(script.String()), 0o644))
				}
				site.own()
				outside := func(args ...string) *exec.Cmd {
					cmd := exec.Command("sqlite3", append([]string{"-bail", "work/a.db"}, args...)...)
					cmd.Dir, cmd.SysProcAttr = site.root, credential(run.uid)
					return cmd
				}
				runToEnd(t, outside("pragma journal_mode="+journal+"; create table t(who, i);"))

				done := make(chan error, len(writers))
				for _, who := range writers {
					cmd := outside(".read " + who + ".sql")
					if who != "host" {
						cmd = pinfoldRun(site, run.uid, modes[0], []string{"-w", "work", "--home", tempDir(t, run.uid)},
							"sqlite3", "-bail", "work/a.db", ".read "+who+".sql")
					}
					var said strings.Builder
					cmd.Stderr = &said
					require.NoError(t, cmd.Start())
					t.Cleanup(func() { _ = cmd.Process.Kill() })
					go func() {
						err := cmd.Wait()
						if err != nil {
							err = fmt.Errorf("%s: %w: %s", who, err, said.String())
						}
						done <- err
					}()
				}
				for range writers {
					require.NoError(t, <-done)
				}
				counts, err := outside("select who, count(*) from t group by who order by who; pragma integrity_check;").Output()
				require.NoError(t, err)
				require.Equal(t, fmt.Sprintf("host|%[1]d\none|%[1]d\ntwo|%[1]d\nok\n", commits), string(counts))
			})
		}
	}
}

// TestDatabaseOpenOutside starts a run while the host has a database in WAL mode open. An
// ordinary user's run shares no memory with it: SQLite tries for ten seconds, and the report
// says why. Root's does, and goes on; so does the user's when the host has closed it.
func TestDatabaseOpenOutside(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			site := newSite(t, run.uid, true)
			require.NoError(t, os.Mkdir(site.root+"/work", 0o755))
			site.own()
			host := exec.Command("sqlite3", "work/a.db")
			host.Dir, host.SysProcAttr = site.root, credential(run.uid)
			in, err := host.StdinPipe()
			require.NoError(t, err)
			out, err := host.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, host.Start())
			t.Cleanup(func() { _ = host.Process.Kill() })
			_, err = fmt.Fprintln(in, "pragma journal_mode=wal; create table t(k); insert into t values(1); select 'ready';")
			require.NoError(t, err)
			lines := bufio.NewScanner(out)
			for lines.Scan() && lines.Text() != "ready" {
			}
			require.NoError(t, lines.Err())

			insert := func() (said, told string, err error) {
				report := tempDir(t, run.uid) + "/report"
				cmd := pinfoldRun(site, run.uid, modes[0],
					[]string{"-w", "work", "--home", tempDir(t, run.uid), "--report", report},
					"sqlite3", "-bail", "work/a.db", "insert into t values(2);")
				output, err := cmd.CombinedOutput()
				lines, failed := os.ReadFile(report)
				require.NoError(t, failed)
				return string(output), string(lines), err
			}
			said, told, err := insert()
			if run.uid == 0 {
				require.NoError(t, err, said)
				require.NotContains(t, told, "open_outside")
			} else {
				require.Error(t, err)
				require.Contains(t, said, "lock")
				require.Equal(t, 1, strings.Count(told, `"rule":"open_outside"`), told)
				require.Contains(t, told, `work/a.db-shm"`)
			}
			require.NoError(t, in.Close())
			require.NoError(t, host.Wait())
			said, told, err = insert()
			require.NoError(t, err, said)
			require.NotContains(t, told, "open_outside")
		})
	}
}
