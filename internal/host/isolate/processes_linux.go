package isolate

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// evictLimit is how long processes may take to end.
const evictLimit = 2 * time.Second

// evict ends all processes with a uid, and returns when no such process is left.
func evict(has func(uid int) bool) error {
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; <-again.C {
		list, err := processes(has)
		if err != nil || len(list) == 0 {
			return err
		}
		if time.Since(began) > evictLimit {
			return fmt.Errorf("process %d, which should end, does not", list[0])
		}
		for _, pid := range list {
			end(pid, has)
		}
	}
}

// end kills a process if it still has a uid.
func end(pid int, has func(uid int) bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it has ended
	}
	defer unix.Close(fd)
	if uids := uidsOf(pid); slices.ContainsFunc(uids, has) {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // one that is gone needs none
	}
}

// processes lists those that have a uid as one of theirs, and run.
func processes(has func(uid int) bool) (list []int, err error) {
	err = each(func(pid int, uids []int) {
		if slices.ContainsFunc(uids, has) {
			list = append(list, pid)
		}
	})
	return list, err
}

// users lists the uids of all processes, of those that has accepts.
func users(has func(uid int) bool) ([]int, error) {
	found := map[int]bool{}
	err := each(func(_ int, uids []int) {
		for _, uid := range uids {
			if has(uid) {
				found[uid] = true
			}
		}
	})
	return slices.Collect(maps.Keys(found)), err
}

func each(do func(pid int, uids []int)) error {
	proc, err := os.Open("/proc")
	if err != nil {
		return err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			do(pid, uidsOf(pid))
		}
	}
	return err
}

// uidsOf are the real, effective, saved and file system uid of a process; nil if it has ended. The
// owner of its directory in /proc says less: a program can have root shown there.
func uidsOf(pid int) []int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return nil
	}
	var uids []int
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		switch {
		case name == "State" && (fields[0] == "Z" || fields[0] == "X"):
			return nil
		case name == "Uid":
			for _, f := range fields {
				uid, _ := strconv.Atoi(f) // the kernel writes numbers
				uids = append(uids, uid)
			}
		}
	}
	return uids
}
