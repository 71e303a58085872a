package globs

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold maps names that some file system takes for the same to one spelling:
// letter case, Unicode composition, and code points that are not seen, which a
// file system that folds case ignores (CVE-2014-9390). It is for rules that take
// away, and never for those that grant: both the glob and the place are folded.
func Fold(s string) string {
	upper := false
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFC.String(strings.Map(visible, s))))
		}
		upper = upper || 'A' <= s[i] && s[i] <= 'Z'
	}
	if upper {
		return strings.ToLower(s)
	}
	return s
}

// AppendFold appends Fold(s) to buf, and allocates nothing for an ASCII name.
func AppendFold(buf []byte, s string) []byte {
	start := len(buf)
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return append(buf[:start], Fold(s)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf = append(buf, c)
	}
	return buf
}

// visible drops the code points of Default_Ignorable_Code_Point. Bytes that are
// no UTF-8 stay apart from each other only in number, which is enough here.
func visible(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	return r
}
