package kv

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadLine(t *testing.T) {
	t.Parallel()
	in := bufio.NewReaderSize(strings.NewReader("\nshort\n"+strings.Repeat("x", 99)+"\nlast"), 16)
	for _, want := range []string{"\n", "short\n", strings.Repeat("x", 99) + "\n", "last"} {
		if got, err := readLine(in, 100); string(got) != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	if got, err := readLine(in, 100); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %q, %v", got, err)
	}
	in = bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 101)+"\n"), 16)
	if _, err := readLine(in, 100); err == nil || err.Error() != "it is longer than 100 bytes" {
		t.Errorf("a long line: %v", err)
	}
}

func TestSeedValueLimit(t *testing.T) {
	t.Parallel()
	for size, ok := range map[int]bool{maxValue: true, maxValue + 1: false} {
		text := strings.Repeat("x", size)
		encoded := base64.StdEncoding.EncodeToString([]byte(text))
		if len(encoded) > maxSeedLine-maxMetadata-maxKey-1000 {
			t.Errorf("a line cannot hold %d bytes in base64", size)
		}
		for _, l := range []seedLine{{Key: "k", Value: &text}, {Key: "k", Value: &encoded, Base64: true}} {
			value, err := l.value()
			if ok != (err == nil) || ok && len(value) != size {
				t.Errorf("%d bytes: got %d, %v", size, len(value), err)
			}
		}
	}
}
