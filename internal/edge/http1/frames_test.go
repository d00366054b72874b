package http1_test

import (
	"bytes"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

func frame(op byte, masked bool, size int) []byte {
	b := []byte{0x80 | op}
	bit := byte(0)
	if masked {
		bit = 0x80
	}
	switch {
	case size < 126:
		b = append(b, bit|byte(size))
	case size < 1<<16:
		b = append(b, bit|126, byte(size>>8), byte(size))
	default:
		b = append(b, bit|127, 0, 0, 0, 0, byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
	}
	if masked {
		b = append(b, 1, 2, 3, 4)
	}
	return append(b, bytes.Repeat([]byte{0x88}, size)...)
}

func TestFrames(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 125, 126, 127, 65535, 65536, 70000}
	for _, masked := range []bool{false, true} {
		for _, size := range sizes {
			b := frame(1, masked, size)
			for _, piece := range []int{1, 3, 1000, len(b)} {
				var f http1.Frames
				for at := 0; at < len(b); at += piece {
					end := min(at+piece, len(b))
					whole := f.Next(b[at:end])
					if last := end == len(b); f.Boundary() != last || (whole == end-at) != last {
						t.Fatalf("size %d masked %v pieces of %d: at %d: %d, boundary %v", size, masked, piece, end, whole, f.Boundary())
					}
				}
			}
		}
	}
}

func TestFramesClosed(t *testing.T) {
	t.Parallel()
	var f http1.Frames
	text := frame(1, false, 10)
	stream := append(append([]byte{}, text...), text[:5]...)
	if n := f.Next(stream); n != len(text) || f.Boundary() || f.Closed() {
		t.Errorf("%d, boundary %v, closed %v", n, f.Boundary(), f.Closed())
	}
	f.Next(text[5:])
	if f.Next(http1.AppendClose(nil, 1012, "bye")); !f.Closed() || !f.Boundary() {
		t.Error("the close frame was not detected")
	}
}

// FuzzFrames checks that the result does not depend on the pieces.
func FuzzFrames(f *testing.F) {
	f.Add(append(frame(2, true, 300), frame(8, false, 2)...), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, piece uint8) {
		var whole, pieces http1.Frames
		end := whole.Next(in)
		last, step := 0, int(piece)+1
		for at := 0; at < len(in); at += step {
			if n := pieces.Next(in[at:min(at+step, len(in))]); n > 0 {
				last = at + n
			}
		}
		if whole != pieces || end != last {
			t.Errorf("whole: %+v up to %d; pieces: %+v up to %d", whole, end, pieces, last)
		}
	})
}
