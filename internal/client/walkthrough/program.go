package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
)

// program is a program in the foreground of the terminal.
type program struct {
	r      *recorder
	line   string
	keys   io.WriteCloser
	cmd    *exec.Cmd
	copied sync.WaitGroup
}

// start starts a command line, with arguments that the recording does not show.
func (r *recorder) start(line, hidden string) (*program, error) {
	r.typed(line)
	p := &program{r: r, line: line, cmd: exec.CommandContext(r.ctx, "bash", "-c", "exec "+line+" "+hidden)}
	p.cmd.Dir, p.cmd.Env = filepath.Join(r.world.home, r.dir), append(r.world.env, r.env...)
	if r.plain {
		p.cmd.Stdout, p.cmd.Stderr = r, r
		return p, p.cmd.Start()
	}
	master, slave, err := openTerminal(columns, lines)
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	p.keys, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = master, slave, slave, slave
	inForeground(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", line, err), master.Close())
	}
	p.copied.Go(func() { _, _ = io.Copy(r, master) }) // it ends with the program
	return p, nil
}

// end waits for the end of the program.
func (p *program) end(code int) error {
	err := p.cmd.Wait()
	p.copied.Wait()
	if p.keys != nil {
		_ = p.keys.Close()
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		return fmt.Errorf("%s: exit code %d, %w, after\n%s", p.line, got, err, p.r.output.String())
	}
	return nil
}

func (p *program) press(keys string) {
	p.r.try(func() error {
		_, err := io.WriteString(p.keys, keys)
		return err
	})
}
