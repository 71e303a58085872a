package fileskills

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// maxTypo is the longest text, in bytes, that is looked for with typing
// errors: one bit of a word for each.
const maxTypo = 64

// typo is a part of one line that differs from what was looked for by a few
// letters.
type typo struct {
	line, column int // from 1
	text         string
}

// nearestTypo finds the part of a line that comes nearest to want, letter case
// aside. At most a third of the bytes may differ, rounded; in text of less than
// four, none. nil when there is no such part, or ctx has ended.
func nearestTypo(ctx context.Context, lf []byte, want string) *typo {
	if want == "" || len(want) > maxTypo || strings.Contains(want, "\n") {
		return nil
	}
	limit := (len(want) + 1) / 3 // so that two letters of five may have changed places
	if len(want) < 4 {
		limit = 0
	}
	end := typoEnd(ctx, lf, want, limit)
	if end < 0 {
		return nil
	}
	bol := bytes.LastIndexByte(lf[:end], '\n') + 1
	start, best := end-1, len(want)
	for n := max(1, len(want)-limit); n <= min(len(want)+limit, end-bol); n++ {
		if cost := didyoumean.Distance(want, string(lf[end-n:end])); cost < best {
			start, best = end-n, cost
		}
	}
	start, end = wholeWords(lf, start, end)
	return &typo{lineAt(lf, start), utf8.RuneCount(lf[bol:start]) + 1, string(lf[start:end])}
}

// wholeWords widens a part to the words it begins and ends in, by at most
// maxTypo bytes on either side, and to whole characters.
func wholeWords(lf []byte, start, end int) (int, int) {
	for least := start - maxTypo; start > max(0, least) && inWord(lf[start]) && inWord(lf[start-1]); {
		start--
	}
	for most := end + maxTypo; end < min(len(lf), most) && inWord(lf[end-1]) && inWord(lf[end]); {
		end++
	}
	for start > 0 && !utf8.RuneStart(lf[start]) {
		start--
	}
	for end < len(lf) && !utf8.RuneStart(lf[end]) {
		end++
	}
	return start, end
}

func inWord(c byte) bool {
	return c == '_' || c >= utf8.RuneSelf || '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z'
}

// typoEnd is where the first of the nearest parts ends, -1 when more than
// limit bytes differ in each. Its time is linear, whatever the text: Myers, A
// fast bit-vector algorithm for approximate string matching, JACM 46(3), 1999.
func typoEnd(ctx context.Context, lf []byte, want string, limit int) int {
	var at [256]uint64 // where each byte stands in want
	for i := range len(want) {
		at[lower(want[i])] |= 1 << i
	}
	last := uint64(1) << (len(want) - 1)
	best, end := limit+1, -1
	up, down, cost := ^uint64(0), uint64(0), len(want) // the column's steps by +1 and -1, and its last cell
	for i, c := range lf {
		if i%stride == 0 && ctx.Err() != nil {
			return -1
		}
		if c == '\n' {
			up, down, cost = ^uint64(0), 0, len(want)
			continue
		}
		same := at[lower(c)]
		vertical := same | down
		horizontal := (((same & up) + up) ^ up) | same
		more, less := down|^(horizontal|up), up&horizontal
		switch {
		case more&last != 0:
			cost++
		case less&last != 0:
			cost--
		}
		more <<= 1
		up, down = less<<1|^(vertical|more), more&vertical
		if cost < best || cost == best && end == i && cost <= limit { // the longest of those that begin alike
			best, end = cost, i+1
		}
	}
	return end
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// describe shows the part and where it stands.
func (p *typo) describe(want string) string {
	return fmt.Sprintf("Nearest text, in line %d from column %d (· is a space, → a tab):\n%s\nWhat was looked for is:\n%s",
		p.line, p.column, visible(p.text), visible(want))
}
