package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/config"
)

// world is the home directory of a person, with what runs in it.
type world struct {
	bin    string // directory of the programs
	home   string
	env    []string
	hidden []string // pairs of a text of this run, and what the recording has instead
	server *exec.Cmd
	note   config.Note
}

func newWorld(bin string) (*world, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	workerd, err := exec.Command(filepath.Join(bin, "svcctl"), "runtime", "install").Output() //nolint:noctx // short, or a download
	if err != nil {
		return nil, fmt.Errorf("installing workerd: %w: run make build first", err)
	}
	home, err := os.MkdirTemp("", "walk")
	if err != nil {
		return nil, err
	}
	w := &world{bin: bin, home: home, hidden: []string{home, "~"}}
	w.env = []string{
		"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "SVC_WORKERD=" + strings.TrimSpace(string(workerd)),
		"TERM=xterm-256color", "LANG=C.UTF-8", "TZ=UTC", "GIT_CEILING_DIRECTORIES=" + home,
	}
	return w, nil
}

func (w *world) close() {
	if w.server != nil {
		_ = w.server.Process.Signal(syscall.SIGTERM)
		_ = w.server.Wait()
	}
	_ = os.RemoveAll(w.home)
}

// serve starts a server of this home with free ports, and waits until it serves.
func (w *world) serve(ctx context.Context) error {
	data := filepath.Join(w.home, ".local/state/svcd")
	cmd := exec.Command(filepath.Join(w.bin, "svcctl"), "serve", "--base-domain", "localhost") //nolint:noctx // close ends it
	cmd.Env = append(w.env, "PLATFORM_PORT=0", "GATEWAY_PORT=0", "SVC_EMBEDDED_S3_ADDR=127.0.0.1:0", "SVC_LOG_LEVEL=error")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is ours
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	w.server = cmd
	for {
		if note, err := config.ReadNote(data); err == nil {
			w.note = note
			w.hide(port(note.Gateway), ":8787")
			w.hide(port(note.API), ":8790")
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("the server does not start")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// hide has the recordings say instead for a text.
func (w *world) hide(text, instead string) { w.hidden = append(w.hidden, text, instead) }

// shown is output as the recordings have it.
func (w *world) shown(output string) string { return strings.NewReplacer(w.hidden...).Replace(output) }

func port(url string) string { return url[strings.LastIndexByte(url, ':'):] }

// write writes a file below the home.
func (w *world) write(name, text string) error {
	path := filepath.Join(w.home, name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
}

// replace replaces a text in the source of the worker, as an editor does.
func (w *world) replace(from, to string) error {
	path := filepath.Join(w.home, source)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(data), from) {
		return fmt.Errorf("%s does not contain %q", source, from)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), from, to, 1)), 0o600) //nolint:gosec // a file of this program
}

// remove deletes a file below the home.
func (w *world) remove(name string) error { return os.Remove(filepath.Join(w.home, name)) }
