package replica

import (
	"bytes"
	"strings"
	"testing"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
)

// sampleFile is a file of two transactions with three pages.
func sampleFile(f testing.TB) []byte {
	f.Helper()
	var out bytes.Buffer
	enc, err := ltx.NewEncoder(&out)
	if err == nil {
		err = enc.EncodeHeader(ltx.Header{Version: ltx.Version, Flags: ltx.HeaderFlagNoChecksum, PageSize: 512, Commit: 3, MinTXID: 1, MaxTXID: 2})
	}
	for n := uint32(1); n <= 3 && err == nil; n++ {
		err = enc.EncodePage(ltx.PageHeader{Pgno: n}, bytes.Repeat([]byte{byte(n)}, 512))
	}
	if err == nil {
		err = enc.Close()
	}
	if err != nil {
		f.Fatal(err)
	}
	return out.Bytes()
}

// Whatever is in a file: what is read from it is inside of it, or it is corrupt.
func FuzzFile(f *testing.F) {
	good := sampleFile(f)
	f.Add(good, 0)
	f.Add(good, len(good)/2)
	f.Add(good[:len(good)-1], 0)
	// A frame claims to have 4 GiB.
	f.Add(append(bytes.Clone(good[:ltx.HeaderSize]), 0, 0, 0, 1, 0, 1, 255, 255, 255, 255, 0), 0)
	// The offset of the frame is so large that offset and size add up to a small number.
	f.Add([]byte(strings.Repeat("x", 200)+"\x01\xf7\xff\xff\xff\xff\xff\xff\xff\xff\x01\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x0d0123456789abcdef"), 0)
	f.Fuzz(func(t *testing.T, data []byte, from int) {
		file := branch.File{Prefix: "p/v/db/sys", Min: 1, Max: 2, Size: int64(len(data))}
		_, _ = headerOf(file, data)
		if _, err := verifyWhole(file, data); err == nil && !bytes.Equal(data[:4], good[:4]) {
			t.Error("a file of another format is whole")
		}
		from = int(uint(from) % uint(len(data)+1))
		x, err := newIndex(file, data[from:])
		if err != nil {
			return
		}
		page := make([]byte, 512)
		_ = x.each(x.entries, func(fr frame) error {
			if fr.off < ltx.HeaderSize || fr.off+int64(fr.size) > x.start() {
				t.Fatalf("page %d is at %d, with %d bytes, in a file whose pages end at %d", fr.pgno, fr.off, fr.size, x.start())
			}
			_ = decodeFrame(file, fr.pgno, data[fr.off:fr.off+int64(fr.size)], page, newHash())
			return nil
		})
		_ = x.grows(0, ltx.Header{PageSize: 512, Commit: 3})
	})
}

// TestFrameOfFourGigabytes: nothing is allocated for what a corrupt frame claims to have.
func TestFrameOfFourGigabytes(t *testing.T) {
	t.Parallel()
	data := append(sampleFile(t)[:ltx.HeaderSize:ltx.HeaderSize], 0, 0, 0, 1, 0, 1, 255, 255, 255, 255, 0)
	_, err := verifyWhole(branch.File{Prefix: "p/v/db/sys", Min: 1, Max: 2, Size: int64(len(data))}, data)
	if err == nil || !strings.Contains(err.Error(), "page 1 claims to have 4294967295 bytes") {
		t.Error(err)
	}
}
