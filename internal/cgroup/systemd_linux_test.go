package cgroup

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// standIn answers on a bus as systemd would, to one client.
type standIn struct {
	t       *testing.T
	answers map[string]func(*dbus.Message) []*dbus.Message // by method; nil keeps silent

	mu     sync.Mutex
	called []*dbus.Message
}

// listen returns its address.
func (s *standIn) listen() string {
	at := filepath.Join(s.t.TempDir(), "bus")
	l, err := net.Listen("unix", at)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		s.serve(c)
	}()
	return "unix:path=" + at
}

func (s *standIn) serve(c net.Conn) {
	in := bufio.NewReader(c)
	for begun := false; !begun; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		answer := "ERROR\r\n"
		switch line = strings.Trim(line, "\x00\r\n"); {
		case line == "BEGIN":
			begun, answer = true, ""
		case line == "AUTH":
			answer = "REJECTED EXTERNAL\r\n"
		case strings.HasPrefix(line, "AUTH EXTERNAL"):
			answer = "OK 1234deadbeef1234deadbeef1234dead\r\n"
		}
		if _, err := c.Write([]byte(answer)); err != nil {
			return
		}
	}
	for serial := uint32(1); ; {
		m, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.called = append(s.called, m)
		s.mu.Unlock()
		member, _ := m.Headers[dbus.FieldMember].Value().(string)
		answer, known := s.answers[member]
		if !known {
			answer = func(m *dbus.Message) []*dbus.Message { return []*dbus.Message{reply(m)} }
		}
		if answer == nil {
			continue
		}
		for _, a := range answer(m) {
			// Only the connection's own code numbers messages: the second header field.
			a.Headers[dbus.FieldSender] = dbus.MakeVariant(systemdName)
			if err := a.EncodeTo(numbered{c, serial}, binary.LittleEndian); err != nil {
				return
			}
			serial++
		}
	}
}

// numbered gives a message its number, which is not to be 0.
type numbered struct {
	to     net.Conn
	serial uint32
}

func (n numbered) Write(data []byte) (int, error) {
	if len(data) >= 12 && data[0] == 'l' {
		binary.LittleEndian.PutUint32(data[8:], n.serial)
	}
	return n.to.Write(data)
}

func reply(m *dbus.Message, body ...any) *dbus.Message {
	a := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(m.Serial())}, Body: body}
	if len(body) > 0 {
		a.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
	}
	return a
}

func refusal(m *dbus.Message, name, text string) *dbus.Message {
	a := reply(m, text)
	a.Type = dbus.TypeError
	a.Headers[dbus.FieldErrorName] = dbus.MakeVariant(name)
	return a
}

func jobRemoved(job dbus.ObjectPath, unit, result string) *dbus.Message {
	body := []any{uint32(7), job, unit, result}
	return &dbus.Message{Type: dbus.TypeSignal, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldPath: dbus.MakeVariant(dbus.ObjectPath(systemdPath)), dbus.FieldInterface: dbus.MakeVariant(systemdManager),
		dbus.FieldMember: dbus.MakeVariant("JobRemoved"), dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(body...)),
	}}
}

const ourJob, otherJob dbus.ObjectPath = "/org/freedesktop/systemd1/job/7", "/org/freedesktop/systemd1/job/8"

// asSystemd starts a unit, whose job ends with result.
func asSystemd(t *testing.T, result string) *standIn {
	return &standIn{t: t, answers: map[string]func(*dbus.Message) []*dbus.Message{
		"Hello": func(m *dbus.Message) []*dbus.Message { return []*dbus.Message{reply(m, ":1.1")} },
		"StartTransientUnit": func(m *dbus.Message) []*dbus.Message {
			name, _ := m.Body[0].(string)
			return []*dbus.Message{reply(m, ourJob), jobRemoved(otherJob, "other.scope", "failed"), jobRemoved(ourJob, name, result)}
		},
	}}
}

func TestStartScope(t *testing.T) {
	s := asSystemd(t, "done")
	name, err := startScope(t.Context(), s.listen(), []int{12, 34})
	require.NoError(t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	var asked *dbus.Message
	for _, m := range s.called {
		if m.Headers[dbus.FieldMember].Value() == "StartTransientUnit" {
			asked = m
		}
	}
	require.NotNil(t, asked)
	assert.Equal(t, systemdName, asked.Headers[dbus.FieldDestination].Value())
	var given, mode string
	var properties []property
	var more []unit
	require.NoError(t, dbus.Store(asked.Body, &given, &mode, &properties, &more))
	assert.Equal(t, name, given)
	assert.Regexp(t, `^pinfold-\d+-\w{8}\.scope$`, name)
	assert.Equal(t, "fail", mode)
	assert.Empty(t, more)
	got := map[string]any{}
	for _, p := range properties {
		got[p.Name] = p.Value.Value()
	}
	delete(got, "Description")
	assert.Equal(t, map[string]any{"PIDs": []uint32{12, 34}, "Delegate": true, "CollectMode": "inactive-or-failed"}, got)
}

func TestStartScopeFails(t *testing.T) {
	_, err := startScope(t.Context(), asSystemd(t, "timeout").listen(), []int{1})
	assert.ErrorContains(t, err, "ended with timeout")

	s := asSystemd(t, "done")
	s.answers["StartTransientUnit"] = func(m *dbus.Message) []*dbus.Message {
		return []*dbus.Message{refusal(m, "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", "Interactive authentication required.")}
	}
	_, err = startScope(t.Context(), s.listen(), []int{1})
	assert.ErrorContains(t, err, "StartTransientUnit: Interactive authentication required")

	for _, silent := range []string{"Hello", "Subscribe", "StartTransientUnit"} {
		s := asSystemd(t, "done")
		s.answers[silent] = nil
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err = startScope(ctx, s.listen(), []int{1})
		cancel()
		assert.ErrorIs(t, err, context.DeadlineExceeded, silent)
	}

	_, err = startScope(t.Context(), "unix:path=/nonexistent/bus", []int{1})
	assert.ErrorContains(t, err, "/nonexistent/bus")
	_, err = startScope(t.Context(), "", []int{1})
	assert.ErrorContains(t, err, "no session bus")
}
