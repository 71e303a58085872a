package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/cgroup"
)

// verb is what a message between supervisor, keeper and init says.
type verb string

const (
	sayFuse    verb = "fuse"    // set-up helper: mount Mount of view View is mounted; its descriptor is attached
	sayServed  verb = "served"  // supervisor: requests of that mount are answered
	sayNet     verb = "net"     // set-up helper: part ID of the command's network is attached
	sayLost    verb = "lost"    // set-up helper: these guarantees cannot be given
	sayRoot    verb = "root"    // set-up helper, to init: the new root is attached
	saySlave   verb = "slave"   // set-up helper, to init: the terminal is attached
	sayWatch   verb = "watch"   // init, to the set-up helper: the listener of the watch filter is attached
	sayMaster  verb = "master"  // set-up helper: the terminal's master is attached
	sayBeat    verb = "beat"    // supervisor: alive
	sayPause   verb = "pause"   // supervisor: about to stop on purpose (Ctrl-Z)
	sayHung    verb = "hung"    // set-up helper: gave up on the supervisor
	sayKeep    verb = "keep"    // supervisor, to the keeper: Kept is the group to remove, whose place is attached
	sayGo      verb = "go"      // supervisor: the set-up helper is in its control group
	sayTime    verb = "time"    // set-up helper: ended everything inside, since the time for it was over
	sayStarted verb = "started" // init: the command runs
	sayStopped verb = "stopped" // init: the command was stopped (Ctrl-Z)
	sayCont    verb = "cont"    // supervisor: continue it
	saySignal  verb = "signal"  // supervisor: pass Signal on
	sayEnd     verb = "end"     // supervisor: kill everything inside
	sayExit    verb = "exit"    // init: the command ended
	sayFailed  verb = "failed"  // set-up helper, init: a step of the set-up failed
	sayExec    verb = "exec"    // a further command: start what the attached file says
	sayStream  verb = "stream"  // init: our end of a stream of a further command is attached
	sayMount   verb = "mount"   // supervisor: mount Mount of view View, which was added, at Path, as Args say
	sayShow    verb = "show"    // supervisor: the attached file has new content for files of the plan
	sayInotify verb = "inotify" // set-up helper: a program inside is about to use inotify(7)
	sayRepeat  verb = "repeat"  // supervisor: repeat in the view what the host does, as the attached channel says; there: do Event
	sayThread  verb = "thread"  // set-up helper, on that channel: the thread ID repeats
	sayDone    verb = "done"    // set-up helper: mount or show is done; Reason says why not
)

// message is one packet. Its fields depend on Verb.
type message struct {
	Verb   verb
	ID     int            `json:",omitempty"` // of a further command (Control.Exec); 0: of the first one
	Stream int            `json:",omitempty"`
	View   int            `json:",omitempty"`
	Mount  int            `json:",omitempty"`
	Signal syscall.Signal `json:",omitempty"`
	Group  bool           `json:",omitempty"` // signal the foreground group
	Code   int            `json:",omitempty"`
	Reason string         `json:",omitempty"`
	Step   string         `json:",omitempty"`
	Hint   string         `json:",omitempty"`
	Errno  syscall.Errno  `json:",omitempty"`
	Lost   []string       `json:",omitempty"`
	Path   []byte         `json:",omitempty"` // need not be UTF-8
	Args   *mountArgs     `json:",omitempty"`
	Event  *hostEvent     `json:",omitempty"`

	Kept *cgroup.Kept `json:",omitempty"`

	attached int // where a channel hands it on: the descriptor that came along, or -1
}

// maxMessage bounds one packet, in bytes.
const maxMessage = 16 << 10

// channelPair makes the two ends of a packet channel, close-on-exec.
func channelPair() (ours, theirs int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	return fds[0], fds[1], err
}

// send sends m, and a copy of attach unless that is negative.
func send(fd int, m message, attach int) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var rights []byte
	if attach >= 0 {
		rights = unix.UnixRights(attach)
	}
	for {
		err = unix.Sendmsg(fd, data, rights, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

// receive waits for a message, at most millis milliseconds if that is not
// negative. attached is -1 or a descriptor that the caller owns. It returns
// io.EOF when the other side is gone and errTimeout when it was silent.
func receive(fd, millis int) (m message, attached int, err error) {
	if err := waitReadable(fd, millis); err != nil {
		return m, -1, err
	}
	data := make([]byte, maxMessage)
	rights := make([]byte, unix.CmsgSpace(4))
	var n, rn int
	for reset := false; ; {
		n, rn, _, _, err = unix.Recvmsg(fd, data, rights, unix.MSG_CMSG_CLOEXEC)
		// Where the other side went with something of ours unread, that is told
		// once, before what it has said last.
		if err == unix.EINTR || err == unix.ECONNRESET && !reset {
			reset = reset || err == unix.ECONNRESET
			continue
		}
		break
	}
	if err == unix.ECONNRESET || err == nil && n == 0 {
		return m, -1, io.EOF
	}
	if err != nil {
		return m, -1, err
	}
	attached = -1
	if rn > 0 {
		if attached, err = oneDescriptor(rights[:rn]); err != nil {
			return m, -1, err
		}
	}
	if err := json.Unmarshal(data[:n], &m); err != nil {
		if attached >= 0 {
			unix.Close(attached)
		}
		return m, -1, err
	}
	return m, attached, nil
}

var errTimeout = errors.New("no answer in time")

func waitReadable(fd, millis int) error {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, millis)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return errTimeout
		}
		return nil
	}
}

func oneDescriptor(rights []byte) (int, error) {
	msgs, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return -1, fmt.Errorf("control message: %w", err)
	}
	if len(msgs) != 1 {
		return -1, fmt.Errorf("%d control messages, want 1", len(msgs))
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return -1, fmt.Errorf("descriptor in a control message: %w", err)
	}
	if len(fds) != 1 {
		return -1, fmt.Errorf("%d descriptors in a control message, want 1", len(fds))
	}
	return fds[0], nil
}

// failure turns a set-up error into a message.
func failure(err error) message {
	m := message{Verb: sayFailed, Reason: err.Error()}
	var se *SetupError
	if errors.As(err, &se) {
		m.Step, m.Hint, m.Reason = se.Step, se.Fix, se.Err.Error()
	}
	errors.As(err, &m.Errno)
	return m
}

// setupError turns it back.
func (m message) setupError() *SetupError {
	err := errors.New(m.Reason)
	if m.Errno != 0 {
		err = &remoteError{m.Reason, m.Errno}
	}
	return &SetupError{Step: m.Step, Err: err, Fix: m.Hint}
}

// remoteError is an error of a child; its errno survives the way.
type remoteError struct {
	text  string
	errno syscall.Errno
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.errno }
