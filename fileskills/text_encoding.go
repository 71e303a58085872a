package fileskills

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how a text file says its characters. What it says is kept: a
// byte order mark stays, UTF-16 goes back as the UTF-16 it came in.
type encoding uint8

const (
	encUTF8 encoding = iota
	encUTF8Mark
	encUTF16LE
	encUTF16BE
)

var marks = map[encoding][]byte{
	encUTF8Mark: {0xEF, 0xBB, 0xBF},
	encUTF16LE:  {0xFF, 0xFE},
	encUTF16BE:  {0xFE, 0xFF},
}

const (
	// binaryProbe is how far a NUL is looked for: it makes a file binary.
	binaryProbe = 8 << 10
	// stride is how much is worked through between two looks at the context.
	stride = 1 << 20
)

// decodeText returns the encoding of raw and its text as UTF-8 without byte order
// mark. It is strict: what it returns encodes to raw again, byte for byte.
func decodeText(ctx context.Context, name string, raw []byte) (encoding, []byte, error) {
	enc := encUTF8
	for e, mark := range marks {
		if bytes.HasPrefix(raw, mark) {
			enc = e
		}
	}
	body := raw[len(marks[enc]):]
	var err error
	switch enc {
	case encUTF16LE:
		body, err = decode16(ctx, name, body, binary.LittleEndian)
	case encUTF16BE:
		body, err = decode16(ctx, name, body, binary.BigEndian)
	}
	if err != nil {
		return 0, nil, err
	}
	if at := bytes.IndexByte(body[:min(len(body), binaryProbe)], 0); at >= 0 {
		return 0, nil, fail(CodeBinaryFile, "", "%s is a binary file (NUL at byte %d). Nothing was changed.", name, at)
	}
	if enc == encUTF8 || enc == encUTF8Mark {
		if err := validUTF8(ctx, name, body); err != nil {
			return 0, nil, err
		}
	}
	return enc, body, nil
}

// encodeText is the inverse of decodeText.
func encodeText(ctx context.Context, enc encoding, text []byte) ([]byte, error) {
	switch enc {
	case encUTF16LE:
		return encode16(ctx, marks[enc], text, binary.LittleEndian)
	case encUTF16BE:
		return encode16(ctx, marks[enc], text, binary.BigEndian)
	case encUTF8Mark:
		return append(bytes.Clone(marks[enc]), text...), nil
	}
	return text, nil
}

func validUTF8(ctx context.Context, name string, text []byte) error {
	for rest := text; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(rest), stride)
		for back := 0; n < len(rest) && back < utf8.UTFMax && !utf8.RuneStart(rest[n]); back++ {
			n--
		}
		if !utf8.Valid(rest[:n]) {
			at := len(text) - len(rest)
			for r, size := utf8.DecodeRune(text[at:]); r != utf8.RuneError || size != 1; r, size = utf8.DecodeRune(text[at:]) {
				at += size
			}
			return notEncoded(name, "UTF-8", text[:at], fmt.Sprintf("0x%02X", text[at]))
		}
		rest = rest[n:]
	}
	return nil
}

func decode16(ctx context.Context, name string, body []byte, order binary.ByteOrder) ([]byte, error) {
	out := make([]byte, 0, len(body)/2+utf8.UTFMax)
	for at := 0; at < len(body); at += 2 {
		if at%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if at+1 == len(body) {
			return nil, notEncoded(name, "UTF-16", out, "half a unit")
		}
		r := rune(order.Uint16(body[at:]))
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if at+3 < len(body) {
				pair = utf16.DecodeRune(r, rune(order.Uint16(body[at+2:])))
			}
			if pair == utf8.RuneError {
				return nil, notEncoded(name, "UTF-16", out, fmt.Sprintf("0x%04X", r))
			}
			r, at = pair, at+2
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}

func encode16(ctx context.Context, mark, text []byte, order binary.AppendByteOrder) ([]byte, error) {
	out := append(make([]byte, 0, len(mark)+2*len(text)), mark...)
	for n := 0; len(text) > 0; n++ {
		if n%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			out = order.AppendUint16(order.AppendUint16(out, uint16(high)), uint16(low))
		} else {
			out = order.AppendUint16(out, uint16(r))
		}
	}
	return out, nil
}

// notEncoded says where the text ends being what it should be.
func notEncoded(name, encoding string, good []byte, what string) error {
	return fail(CodeInvalidEncoding, "", "%s is not valid %s (%s in line %d). Nothing was changed.",
		name, encoding, what, lineAt(good, len(good))).
		hint("Only UTF-8, and UTF-16 with a byte order mark, can be edited without damage.")
}

// hashOf names content: sha256, in hex.
func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// hashSoon is hashOf, and ends when ctx does.
func hashSoon(ctx context.Context, raw []byte) (string, error) {
	sum := sha256.New()
	err := writeWhole(ctx, sum, raw)
	return hex.EncodeToString(sum.Sum(nil)), err
}
