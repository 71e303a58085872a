package viewbench

import (
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// stop ends the worker, the mount and the daemon. It does so also for an
// environment that started only in part.
func (e *env) stop() {
	if e.worker != nil {
		e.worker.stop()
		e.worker = nil
	}
	if e.daemon == nil || e.daemon.Process == nil {
		return
	}
	unmount(e.paths.Point)
	_ = e.daemon.Process.Signal(unix.SIGTERM)
	select {
	case <-e.ended:
	case <-time.After(5 * time.Second):
		_ = e.daemon.Process.Kill()
		<-e.ended
	}
	unmount(e.paths.Point)
	e.daemon = nil
}

// unmount takes a mount away, lazily; where none is, it does nothing.
func unmount(point string) {
	if !isFUSE(point) {
		return
	}
	if os.Geteuid() == 0 {
		_ = unix.Unmount(point, unix.MNT_DETACH)
		return
	}
	_ = exec.Command("fusermount3", "-u", "-z", "--", point).Run()
}
