package mcpserver

import (
	"bytes"
	"encoding/json"
)

// maxID is the longest id, in bytes, that is made out in a message that is not kept.
const maxID = 256

// idScanner makes out the id of a JSON-RPC request whose bytes pass by, since the
// message is too large to be kept. It holds no more than a name and an id, and
// judges nothing: of bytes that are no JSON it finds some id, or none.
type idScanner struct {
	depth   int  // of objects and lists
	object  bool // the outermost is an object
	quoted  bool // within a string
	escaped bool // behind a backslash
	key     bool // the next string of the outermost object is a name
	value   bool // what follows is the value of "id"
	method  bool // there is a method: it is a request, and no answer
	text    []byte
	id      json.RawMessage
}

// request is the id; nil where none was made out, or it is no request's.
func (s *idScanner) request() json.RawMessage {
	if !s.method {
		return nil
	}
	return s.id
}

// scan takes the next bytes.
func (s *idScanner) scan(part []byte) {
	for len(part) > 0 {
		if s.quoted && !s.escaped && len(s.text) > maxID { // of a long string only its end counts
			end := bytes.IndexAny(part, `"\`)
			if end < 0 {
				return
			}
			part = part[end:]
		}
		s.take(part[0])
		part = part[1:]
	}
}

func (s *idScanner) take(c byte) {
	switch {
	case s.quoted:
		s.keep(c)
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = false
			s.stringEnds()
		}
		return
	case c == '"':
		s.quoted, s.text = true, append(s.text[:0], c)
		return
	case c == '{' || c == '[':
		s.depth++
		s.object = s.object || c == '{' && s.depth == 1
		s.key = s.object && s.depth == 1
		s.value = false
	case c == '}' || c == ']':
		s.valueEnds()
		s.depth--
	case c == ',':
		s.valueEnds()
		s.key = s.object && s.depth == 1
	case c == ':':
		s.text = s.text[:0]
	case s.value && c > ' ':
		s.keep(c) // a number
	}
}

// keep notes a byte of a name or a value, as far as one can be of use.
func (s *idScanner) keep(c byte) {
	if len(s.text) <= maxID {
		s.text = append(s.text, c)
	}
}

// stringEnds is about a string that was a name, or the id.
func (s *idScanner) stringEnds() {
	switch {
	case s.depth == 1 && s.key:
		var name string
		if len(s.text) > maxID || json.Unmarshal(s.text, &name) != nil {
			name = ""
		}
		s.key, s.value, s.method = false, name == "id", s.method || name == "method"
	case s.value:
		s.valueEnds()
	}
}

// valueEnds is about what may have been the id.
func (s *idScanner) valueEnds() {
	if !s.value || s.depth != 1 {
		return
	}
	s.value = false
	s.id = nil // of several the last counts, as where a message is read whole
	if len(s.text) <= maxID {
		s.id = idOf(append(append([]byte(`{"id":`), s.text...), '}'))
	}
}
