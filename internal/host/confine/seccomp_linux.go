package confine

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The offsets in the data that a filter reads, on machines of little endian.
const (
	atCall = 0
	atArch = 4
)

// atArg is the lower half of an argument, which is all that the kernel uses of an int.
func atArg(n uint32) uint32 { return 16 + 8*n }

const otherABI = 0x40000000 // the first system call of x32, which no filter by numbers sees

// filter is the program for seccomp: what no rule names is allowed.
func filter() []unix.SockFilter {
	program := []unix.SockFilter{
		load(atArch), jump(unix.BPF_JEQ, arch, 1, 0), deny,
		load(atCall), jump(unix.BPF_JGE, otherABI, 0, 1), deny,
	}
	return append(program, match(atCall, allow, rules()...)...)
}

// rule is what happens with a value: instructions of which the last one is an answer.
type rule struct {
	value uint32
	then  []unix.SockFilter
}

// match loads what is at an offset and does what the rule of that value says, or answers otherwise.
func match(at uint32, otherwise unix.SockFilter, rules ...rule) []unix.SockFilter {
	program := []unix.SockFilter{load(at)}
	for _, r := range rules {
		program = append(program, jump(unix.BPF_JEQ, r.value, 0, uint8(len(r.then)))) //nolint:gosec // some dozens at most
		program = append(program, r.then...)
	}
	return append(program, otherwise)
}

// The answers of the filter.
//
//nolint:gochecknoglobals // constants
var (
	allow = answer(unix.SECCOMP_RET_ALLOW)
	deny  = answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
)

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

// and keeps the bits of a mask of what was loaded.
func and(mask uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask}
}

// jump skips yes or no instructions, by a test of what was loaded.
func jump(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | test, K: k, Jt: yes, Jf: no}
}

func answer(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }

// restrictCalls applies the filter, unless the kernel has none.
func restrictCalls() (bool, error) {
	if arch == 0 {
		return false, nil
	}
	list := filter()
	program := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}                                       //nolint:gosec // some hundreds
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0) //nolint:gosec // the kernel reads program during the call
	if errors.Is(err, unix.EINVAL) {                                                                          // a kernel without it
		return false, nil
	}
	return err == nil, err
}
