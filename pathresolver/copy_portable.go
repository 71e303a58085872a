//go:build !linux || portable

package pathresolver

import (
	"context"
	"io"
	"os"
	"time"
)

// copyContent copies the rest of in to out at the offset to, which is out's end.
func copyContent(ctx context.Context, out handle, to int64, in handle) (int64, error) {
	from, err := seek(in, 0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	var st stat
	if err := fstat(in, &st); err != nil {
		return 0, err
	}
	size := max(st.Size-from, 0)
	return size, copyExtent(ctx, out, in, to, from, size)
}

// copyRange copies the first size bytes from in to out, offset by offset.
func copyRange(ctx context.Context, out, in handle, size int64) error {
	return copyExtent(ctx, out, in, 0, 0, size)
}

// copyExtent copies size bytes. A source that ends early is an error: it
// changed meanwhile.
func copyExtent(ctx context.Context, out, in handle, to, from, size int64) error {
	for done := int64(0); done < size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.Copy(io.NewOffsetWriter(out.file, to+done), io.NewSectionReader(in.file, from+done, min(size-done, 1<<20)))
		if err != nil {
			return errno(err)
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		done += n
	}
	return nil
}

// copyTimes gives out the modification time of in.
func copyTimes(in, out handle) error {
	info, err := in.file.Stat()
	if err != nil {
		return errno(err)
	}
	return errno(os.Chtimes(out.file.Name(), time.Time{}, info.ModTime()))
}
