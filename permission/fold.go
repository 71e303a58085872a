package permission

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Names that some file system takes for the same are one name for rules that
// take away (hide, protect, ask): letter case, Unicode composition and code
// points that are not seen. pathresolver reads hide and protect in the same
// way; TestSameAsResolver holds the two together.

// foldString is the spelling that stands for all of them.
func foldString(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFC.String(strings.Map(visible, s))))
		}
	}
	return strings.ToLower(s)
}

// foldInto is foldString into buf, which is empty, so that an ASCII name
// allocates nothing.
func foldInto(buf []byte, s string) []byte {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return append(buf[:0], foldString(s)...)
		}
		buf = append(buf, lower(s[i]))
	}
	return buf
}

// visible drops the code points of Default_Ignorable_Code_Point.
func visible(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	return r
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
