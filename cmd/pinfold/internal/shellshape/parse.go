package shellshape

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds on a command. What exceeds them is not known.
const (
	maxCommand = 16 << 10 // bytes
	maxParts   = 32       // programs of one command
	maxWords   = 512      // words of one program
)

// part is one program with its arguments, as the shell would start it.
type part struct {
	argv  []string
	piped bool // it reads what another part writes
}

// parse splits a command into its programs. Words with an expansion, another
// redirection than of output to /dev/null or between standard output and standard
// error, assignments, comments, and all other syntax but the chains of ; && || and
// | are an error: shells differ in what they make of them. Every word that is
// returned is the same in sh, bash and zsh with any of their options.
func parse(command string) ([]part, error) {
	switch {
	case len(command) > maxCommand:
		return nil, fmt.Errorf("it has more than %d bytes", maxCommand)
	case !utf8.ValidString(command) || strings.ContainsFunc(command, isControl):
		return nil, errors.New("it holds control characters, or is no UTF-8")
	case strings.Contains(command, "\\\n"): // the parser leaves it out
		return nil, errors.New("it goes on after a backslash")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil, fmt.Errorf("it cannot be parsed: %w", err)
	}
	if len(file.Last) > 0 || len(file.Stmts) == 0 {
		return nil, errors.New("it holds a comment, or nothing")
	}
	var p parser
	for _, stmt := range file.Stmts {
		if err := p.stmt(stmt, false); err != nil {
			return nil, err
		}
	}
	return p.parts, nil
}

// isControl reports whether a character has no place in a command: it may be
// shown otherwise than it is read. Newlines and tabs separate words.
func isControl(r rune) bool { return r != '\n' && r != '\t' && r != ' ' && !unicode.IsGraphic(r) }

type parser struct{ parts []part }

func (p *parser) stmt(s *syntax.Stmt, piped bool) error {
	if s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Comments) > 0 {
		return errors.New("it is negated, in the background or commented")
	}
	for _, r := range s.Redirs {
		if !harmless(r) {
			return errors.New("it redirects to or from a file")
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		return p.call(cmd, piped)
	case *syntax.BinaryCmd:
		if len(s.Redirs) > 0 || cmd.Op == syntax.PipeAll {
			break
		}
		if err := p.stmt(cmd.X, piped); err != nil {
			return err
		}
		return p.stmt(cmd.Y, cmd.Op == syntax.Pipe)
	}
	return errors.New("it is more than programs with arguments, chained by ; && || or |")
}

func (p *parser) call(c *syntax.CallExpr, piped bool) error {
	switch {
	case len(c.Assigns) > 0:
		return errors.New("it sets variables")
	case len(p.parts) == maxParts || len(c.Args) > maxWords:
		return fmt.Errorf("it has more than %d programs, or one with more than %d words", maxParts, maxWords)
	}
	words := make([]string, 0, len(c.Args))
	for _, arg := range c.Args {
		word, err := text(arg)
		if err != nil {
			return err
		}
		words = append(words, word)
	}
	p.parts = append(p.parts, part{words, piped})
	return nil
}

// harmless reports whether a redirection touches no file: N>&M of the two outputs,
// or an output to /dev/null.
func harmless(r *syntax.Redirect) bool {
	if r.N != nil && r.N.Value != "1" && r.N.Value != "2" || r.Hdoc != nil || r.Word == nil {
		return false
	}
	to := r.Word.Lit()
	switch r.Op {
	case syntax.DplOut:
		return to == "1" || to == "2"
	case syntax.RdrOut, syntax.AppOut:
		return to == "/dev/null"
	}
	return false
}

// text is a word without quotes. Single quotes hold anything, double quotes
// nothing that a shell would expand in them.
func text(w *syntax.Word) (string, error) {
	var b strings.Builder
	for i, piece := range w.Parts {
		switch piece := piece.(type) {
		case *syntax.Lit:
			if !isPlain(piece.Value, i == 0) {
				return "", fmt.Errorf("%q may be expanded: quote it by '...'", piece.Value)
			}
			b.WriteString(piece.Value)
		case *syntax.SglQuoted:
			if piece.Dollar {
				return "", errors.New("$'...' is expanded")
			}
			b.WriteString(piece.Value)
		case *syntax.DblQuoted:
			if piece.Dollar {
				return "", errors.New(`$"..." is expanded`)
			}
			for _, inner := range piece.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.ContainsAny(lit.Value, "\\$`!") {
					return "", errors.New("it holds an expansion")
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", errors.New("it holds an expansion")
		}
	}
	return b.String(), nil
}

// isPlain reports whether no shell gives a bare text another meaning: no glob,
// brace, tilde at the beginning of a path, or zsh's =program.
func isPlain(s string, first bool) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("_-./:,@%+", c) >= 0:
		case c == '=' && (i > 0 || !first):
		case c == '~' && i > 0 && s[i-1] != '=' && s[i-1] != ':':
		default:
			return false
		}
	}
	return true
}
