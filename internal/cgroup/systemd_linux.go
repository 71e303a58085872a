package cgroup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	systemdName    = "org.freedesktop.systemd1"
	systemdPath    = "/org/freedesktop/systemd1"
	systemdManager = "org.freedesktop.systemd1.Manager"

	// patience is how long systemd may take.
	patience = 30 * time.Second
	// initialProcesses is the process namespace whose numbers systemd knows.
	initialProcesses = "pid:[4026531836]"
)

var errNoBus = errors.New("there is no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")

// busAddress is where systemd is asked: the user's own, or root's that of the system.
// "" is none.
func busAddress() string {
	if os.Geteuid() == 0 {
		if given := os.Getenv("DBUS_SYSTEM_BUS_ADDRESS"); given != "" {
			return given
		}
		return "unix:path=/run/dbus/system_bus_socket"
	}
	if given := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); given != "" {
		return given
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return "unix:path=" + dbus.EscapeBusAddressValue(filepath.Join(dir, "bus"))
	}
	return ""
}

// ofSystemd has systemd make a scope that is delegated, with the processes in it, and
// makes a place of it. The scope goes away with its last process.
func ofSystemd(ctx context.Context, l Limits, pids ...int) (*place, error) {
	if _, _, err := version2(); err != nil {
		return nil, err
	}
	if ns, err := os.Readlink("/proc/self/ns/pid"); err != nil || ns != initialProcesses {
		return nil, errors.New("in a process namespace it would take the process for another one")
	}
	name, err := startScope(ctx, busAddress(), pids)
	if err != nil {
		return nil, err
	}
	dir, _, err := groupOf(pids[0])
	if err != nil {
		return nil, err
	}
	if filepath.Base(dir) != name {
		return nil, fmt.Errorf("it made %s, but no control group of version 2 for it", name)
	}
	p, err := open(dir)
	if err != nil {
		return nil, err
	}
	if err := p.clear(l); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// property is one of a unit.
type property struct {
	Name  string
	Value dbus.Variant
}

// unit is a further one; none is wanted.
type unit struct {
	Name       string
	Properties []property
}

// startScope has systemd start a scope with processes in it, and waits until it has.
func startScope(ctx context.Context, address string, pids []int) (name string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it did not answer for %v", patience))
	defer cancel()
	conn, err := connect(ctx, address)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }() // the answer has come, or does not matter
	signals := make(chan *dbus.Signal, 64)
	conn.Signal(signals)
	if err := conn.AddMatchSignalContext(ctx, dbus.WithMatchObjectPath(systemdPath), dbus.WithMatchInterface(systemdManager), dbus.WithMatchMember("JobRemoved")); err != nil {
		return "", failed(ctx, err)
	}
	manager := conn.Object(systemdName, systemdPath)
	if err := manager.CallWithContext(ctx, systemdManager+".Subscribe", 0).Err; err != nil {
		return "", failed(ctx, err)
	}
	var numbers []uint32
	for _, pid := range pids {
		numbers = append(numbers, uint32(pid))
	}
	name = fmt.Sprintf("pinfold-%d-%s.scope", os.Getpid(), rand.Text()[:8])
	properties := []property{
		{"Description", dbus.MakeVariant("A run of pinfold's")},
		{"PIDs", dbus.MakeVariant(numbers)},
		{"Delegate", dbus.MakeVariant(true)},
		{"CollectMode", dbus.MakeVariant("inactive-or-failed")},
	}
	var job dbus.ObjectPath
	if err := manager.CallWithContext(ctx, systemdManager+".StartTransientUnit", 0, name, "fail", properties, []unit{}).Store(&job); err != nil {
		return "", failed(ctx, fmt.Errorf("StartTransientUnit: %w", err))
	}
	for {
		select {
		case s, open := <-signals:
			if !open {
				return "", failed(ctx, errors.New("its bus is gone"))
			}
			if s.Name != systemdManager+".JobRemoved" || len(s.Body) != 4 || !slices.Contains(s.Body, any(job)) {
				break
			}
			if result := s.Body[3]; result != "done" {
				return "", fmt.Errorf("the start of %s ended with %v", name, result)
			}
			return name, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// failed is err, or why no more was waited.
func failed(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
