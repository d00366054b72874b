package pageout

import (
	"slices"
	"testing"
)

func TestAreas(t *testing.T) {
	t.Parallel()
	const maps = `55d000000000-55d000001000 r--p 00000000 fe:00 12 /usr/bin/workerd
55d000001000-55d000002000 r-xp 00001000 fe:00 12 /usr/bin/workerd
55d000002000-55d000004000 rw-p 00002000 fe:00 12 /usr/bin/workerd
55d000004000-55d000005000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000001000 ---p 00000000 00:00 0
7f0000001000-7f0000002000 rw-s 00000000 00:01 5 /dev/shm/x
7fff00000000-7fff00001000 r--p 00000000 00:00 0 [vvar]
7fff00001000-7fff00002000 r-xp 00000000 00:00 0 [vdso]
7fff00002000-7fff00003000 rw-p 00000000 00:00 0 [stack]
nonsense
`
	want := []area{{0x55d000002000, 0x2000}, {0x55d000004000, 0x1000}, {0x7f0000000000, 0x1000}, {0x7fff00002000, 0x1000}}
	if got := areas(maps); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestHasSwap(t *testing.T) {
	t.Parallel()
	const heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	for text, want := range map[string]bool{"": false, heading: false, heading + "/dev/zram0 partition 1024 0 100\n": true} {
		if hasSwap(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
