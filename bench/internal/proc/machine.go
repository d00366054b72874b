package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticksPerSecond is USER_HZ, which is 100 on every Linux that /proc is read on.
const ticksPerSecond = 100

// Clock tells how much of the machine others used meanwhile.
type Clock struct {
	at         time.Time
	busy, mine float64 // seconds of processor time
}

// StartClock begins to look.
func StartClock() (Clock, error) {
	busy, err := busySeconds()
	if err != nil {
		return Clock{}, err
	}
	mine, err := mySeconds()
	return Clock{time.Now(), busy, mine}, err
}

// Others is how many processors everything but this process and its children
// kept busy since the clock was started, on average. Children count once they
// have ended.
func (c Clock) Others() (float64, error) {
	now, err := StartClock()
	if err != nil {
		return 0, err
	}
	used := (now.busy - c.busy) - (now.mine - c.mine)
	return max(0, used/now.at.Sub(c.at).Seconds()), nil
}

// busySeconds is what all processors have worked, or were kept from working.
func busySeconds() (float64, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var ticks float64
	for i, field := range fields[1:9] { // user nice system idle iowait irq softirq steal
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, err
		}
		if idle := i == 3 || i == 4; !idle {
			ticks += n
		}
	}
	return ticks / ticksPerSecond, nil
}

// mySeconds is what this process and its ended children have worked.
func mySeconds() (float64, error) {
	var sum float64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			return 0, err
		}
		sum += time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
	}
	return sum, nil
}

// WorkedAll is how long the threads of a process and of its children have run.
func WorkedAll(pid int) (time.Duration, error) {
	children, err := Children(pid)
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, p := range append(children, pid) {
		worked, err := Worked(p)
		if err != nil {
			return 0, err
		}
		sum += worked
	}
	return sum, nil
}

// Worked is how long the threads of a process have run. Those that have ended do
// not count.
func Worked(pid int) (time.Duration, error) {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, task := range tasks {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, task.Name()))
		if err != nil {
			return 0, err
		}
		first, _, _ := strings.Cut(string(data), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}
