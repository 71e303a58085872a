package fileskills

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// clipBytes cuts a text to at most n bytes, between two characters.
func clipBytes(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	for i := range utf8.UTFMax {
		if n-i > 0 && utf8.RuneStart(text[n-i]) {
			return text[:n-i]
		}
	}
	return text[:n]
}

// writeText writes what is UTF-8 as it is, and other bytes as \xNN.
func writeText(b *strings.Builder, text []byte) (escaped bool) {
	for len(text) > 0 {
		if utf8.Valid(text) {
			b.Write(text)
			break
		}
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(b, `\x%02x`, text[0])
			escaped = true
		} else {
			b.Write(text[:n])
		}
		text = text[n:]
	}
	return escaped
}

// textReader reads a file as UTF-8: what a byte order mark says is UTF-16 is
// decoded, and the mark is left out. head is how the file begins; r goes on
// after it.
func textReader(head []byte, r io.Reader) (text io.Reader, encoding string) {
	all := io.MultiReader(bytes.NewReader(head), r)
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return io.MultiReader(bytes.NewReader(head[3:]), r), ""
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return transform.NewReader(all, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()), "UTF-16LE"
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return transform.NewReader(all, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder()), "UTF-16BE"
	}
	return all, ""
}
