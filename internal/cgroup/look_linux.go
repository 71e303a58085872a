package cgroup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"
)

// Look says where New would make a group, as far as can be seen without making one. An
// error is a *Refused.
func Look(ctx context.Context, l Limits) (where string, err error) {
	dir, own := seen(l)
	if own == nil {
		return "in a control group of its own beneath " + dir, nil
	}
	if err := asked(ctx, l); err != nil {
		return "", &Refused{Own: own, Systemd: err}
	}
	return "in a control group that systemd is asked for", nil
}

// seen is what delegated would find.
func seen(l Limits) (dir string, err error) {
	dir, top, err := groupOf(os.Getpid())
	if err != nil {
		return "", err
	}
	p, err := open(dir)
	if err != nil {
		return "", err
	}
	defer p.close()
	if there, err := p.has("cgroup.controllers", l); err != nil || !there {
		return "", fmt.Errorf("the group %s has not all of the controllers %s", dir, strings.Join(l.controllers(), ", "))
	}
	ready, _ := p.has(subs, l)
	if !ready {
		alone, _ := p.root.ReadFile(procs)
		ready = strings.TrimSpace(string(alone)) == strconv.Itoa(os.Getpid())
	}
	if _, managed := os.Lstat("/run/systemd/system"); !ready && managed != nil && dir != top {
		dir, ready = filepath.Dir(dir), true
	}
	if !ready {
		return "", fmt.Errorf("in the group %s are other processes", dir)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return "", fmt.Errorf("the group %s is not delegated: %w", dir, err)
	}
	return dir, nil
}

// asked reports whether systemd could be asked.
func asked(ctx context.Context, l Limits) error {
	top, _, err := version2()
	if err != nil {
		return err
	}
	p, err := open(top)
	if err != nil {
		return err
	}
	defer p.close()
	if there, err := p.has("cgroup.controllers", l); err != nil || !there {
		return fmt.Errorf("version 2 has not all of the controllers %s: version 1 may have them", strings.Join(l.controllers(), ", "))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := connect(ctx, busAddress())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it was only looked at
	var there bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, systemdName).Store(&there); err != nil {
		return failed(ctx, err)
	}
	if !there {
		return fmt.Errorf("it is not on its bus, %s", busAddress())
	}
	return nil
}

// connect connects to a bus; "" is none.
func connect(ctx context.Context, address string) (*dbus.Conn, error) {
	if address == "" {
		return nil, errNoBus
	}
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("connect to its bus, %s: %w", address, err))
	}
	return conn, nil
}
