package caches

import (
	"archive/zip"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// refusedError says why a piece is not taken over.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// another is what is said of a file that is not what the sum says.
func another(sum string) error {
	return &refusedError{fmt.Sprintf("its content has another checksum, %s", sum)}
}

func provesZip(file, sum string) error {
	if err := fewBytes(file); err != nil {
		return &refusedError{"it is no module's zip file: " + strings.ReplaceAll(err.Error(), file, "the file")}
	}
	got, err := dirhash.HashZip(file, dirhash.Hash1)
	if err != nil {
		return &refusedError{"it is no module's zip file: " + strings.ReplaceAll(err.Error(), file, "the file")}
	}
	if got != sum {
		return another(got)
	}
	return nil
}

// fewBytes refuses a zip file that says that it holds more than a module may: a small one
// can hold terabytes. The reader sees to it that it says so truly.
func fewBytes(file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }() // only read
	left := uint64(maxModuleZip)
	for _, f := range z.File {
		if f.UncompressedSize64 > left {
			return fmt.Errorf("more than %d bytes are in it", maxModuleZip)
		}
		left -= f.UncompressedSize64
	}
	return nil
}

func provesGoMod(file, sum string) error {
	got, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(file) })
	if err == nil && got != sum {
		err = another(got)
	}
	return err
}

func provesSHA512(file, sum string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	h := sha512.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		return another("sha512 " + got)
	}
	return nil
}
