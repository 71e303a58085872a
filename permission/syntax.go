package permission

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/pinfold-dev/pinfold/access"
)

// parsed is the syntax of one document: a tree without anchors, aliases, tags
// and directives, and the comments apart.
type parsed struct {
	root     ast.Node // nil for an empty document
	comments []*token.Token
}

// parse reads YAML, of which JSON is a part. Whatever could make the parser
// slow or deep is refused before it is asked.
func parse(ps *problems, data []byte) (parsed, bool) {
	bad := func(line, column int, code, message, hint string) (parsed, bool) {
		ps.add(Problem{Position: access.Position{Line: line, Column: column}, Code: code, Message: message, Hint: hint})
		return parsed{}, false
	}
	if len(data) > maxDocument {
		return bad(1, 1, "too_large", fmt.Sprintf("the document has %d bytes; at most %d are read", len(data), maxDocument), "")
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return bad(lineOf(data, at), 1, "encoding", "the document holds a NUL byte", "")
	}
	if !utf8.Valid(data) {
		return bad(lineOf(data, invalidAt(data)), 1, "encoding", "the document is not valid UTF-8", "")
	}
	if marks := countMarks(data); marks > maxMarks {
		return bad(1, 1, "too_large", fmt.Sprintf("the document has too many parts: %d where %d are read", marks, maxMarks), "")
	}
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(data, []byte("\ufeff"))))
	var doc parsed
	kept, keys := tokens[:0:0], 0
	for _, t := range tokens {
		switch t.Type {
		case token.CommentType:
			doc.comments = append(doc.comments, t)
			continue
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.DirectiveType:
			return bad(t.Position.Line, t.Position.Column, "syntax", refusedToken(t), refusedHint(t))
		case token.InvalidType:
			return bad(t.Position.Line, t.Position.Column, "syntax", "this is not YAML: "+t.Error, "")
		}
		if t.Type == token.MappingValueType {
			if keys++; keys > maxKeys {
				return bad(t.Position.Line, t.Position.Column, "too_large", fmt.Sprintf("the document has more than %d keys", maxKeys), "")
			}
		}
		kept.Add(t)
	}
	if t := tooDeep(kept); t != nil {
		return bad(t.Position.Line, t.Position.Column, "too_deep", fmt.Sprintf("the document is nested deeper than %d", maxDepth), "")
	}
	file, err := parser.Parse(kept, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		line, column, message := 1, 1, "cannot be read"
		var ye yaml.Error
		if errors.As(err, &ye) {
			message = ye.GetMessage()
			if t := ye.GetToken(); t != nil && t.Position != nil {
				line, column = t.Position.Line, t.Position.Column
			}
		}
		return bad(line, column, "syntax", "this is not YAML: "+message, "quote a value that holds a colon, a # or a leading symbol")
	}
	if len(file.Docs) > 1 && file.Docs[1].Body != nil {
		line := 1
		if t := file.Docs[1].Body.GetToken(); t != nil {
			line = t.Position.Line
		}
		return bad(line, 1, "syntax", "a second document in one file", "write one file for each")
	}
	if len(file.Docs) > 0 {
		doc.root = file.Docs[0].Body
	}
	return doc, true
}

// refusedToken names what the schema does not take.
func refusedToken(t *token.Token) string {
	switch t.Type {
	case token.AnchorType:
		return "anchors are not allowed"
	case token.AliasType:
		return "aliases are not allowed"
	case token.MergeKeyType:
		return "merge keys are not allowed"
	case token.TagType:
		return "tags are not allowed"
	}
	return "directives are not allowed"
}

func refusedHint(t *token.Token) string {
	if t.Type == token.AliasType {
		return `a glob that begins with * must be quoted: "**/.env"`
	}
	return "write the value out"
}

// countMarks is an upper bound, cheaply had, on the number of tokens.
func countMarks(data []byte) int {
	n := 0
	for i, c := range data {
		switch c {
		case ',', '[', ']', '{', '}', '#', '"', '\'', '&', '*', '!', '\n', '\r', '|', '>', '@', '`', '%':
			n++
		case ':', '-', '?':
			if i+1 == len(data) || strings.IndexByte(" \t\r\n,]}", data[i+1]) >= 0 {
				n++
			}
		}
	}
	return n
}

// tooDeep returns the token that is nested too deeply. Each level of a block
// opens at a column of its own, or by a bracket.
func tooDeep(tokens token.Tokens) *token.Token {
	var columns []int // of the open blocks
	flow := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		}
		if flow == 0 || flow == 1 && t.Type == token.SequenceStartType {
			at := t.Position.Column
			opens := t.Type == token.SequenceEntryType || t.Type == token.MappingKeyType || t.NextType() == token.MappingValueType
			for len(columns) > 0 && columns[len(columns)-1] > at && opens {
				columns = columns[:len(columns)-1]
			}
			if opens && (len(columns) == 0 || columns[len(columns)-1] < at) {
				columns = append(columns, at)
			}
		}
		if flow+len(columns) > maxDepth {
			return t
		}
	}
	return nil
}

func lineOf(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte{'\n'}) }

func invalidAt(data []byte) int {
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return 0
}
