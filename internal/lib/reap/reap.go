package reap

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// signaled is what shells add to the number of the signal that ended a program.
const signaled = 128

// Run starts the program argv[0] with these arguments and environment, and with the
// standard files of this process. It passes on the signals that this process receives,
// waits for every child, and returns the exit code when the program has ended. The
// process must have no other children: Run would take their status from os/exec.
func Run(argv, env []string) (code int, err error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals)
	defer signal.Stop(signals)
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	done := make(chan struct{})
	defer close(done)
	go forward(signals, pid, done)
	return wait(pid)
}

// forward sends signals to the program until done.
func forward(signals <-chan os.Signal, pid int, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case s := <-signals:
			own, ok := s.(syscall.Signal)
			if ok && own != syscall.SIGCHLD && own != syscall.SIGURG { // Go's scheduler sends itself SIGURG
				_ = syscall.Kill(pid, own) // it may have ended
			}
		}
	}
}

// wait waits for children until the program has ended.
func wait(pid int) (code int, err error) {
	for {
		var status syscall.WaitStatus
		switch ended, err := syscall.Wait4(-1, &status, 0, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for child processes: %w", err)
		case ended == pid && status.Signaled():
			return signaled + int(status.Signal()), nil
		case ended == pid:
			return status.ExitStatus(), nil
		}
	}
}
