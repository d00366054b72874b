package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/client"
)

// Config configures Run.
type Config struct {
	Client   *client.Client
	Context  string   // its name; "" without one
	Contexts []string // names for the command :ctx
	Connect  func(context string) (*client.Client, error)
	Browse   func(ctx context.Context, url string) error
	ReadOnly bool
	Color    bool   // false draws without colors
	Theme    string // "light" or "dark"; "" asks the terminal
	Mouse    bool
	Plain    bool     // reads and prints lines, for a screen reader
	At       ui.Place // Screen "" begins with the first one
	In       io.Reader
	Out      io.Writer
}

// Run shows the interface until the person leaves it or ctx ends. It restores the
// terminal in every case, a panic included.
func Run(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &lockedWriter{w: c.Out}
	s := state.New(time.Now(), c.Client.Server())
	s.Context, s.Contexts, s.ReadOnly = c.Context, c.Contexts, c.ReadOnly
	if c.At.Screen == "" {
		c.At.Screen = kinds()[0].name
	}
	m := New(s, c.theme(), remote.Open(ctx, c.Client), c.desk(ctx, out), c.At)
	if c.Plain {
		newReader(m, out).run(ctx, c.In)
		m.remote.Close()
		return nil
	}
	// Signals end ctx, and that quits as the key does: a program whose own context ends closes
	// the terminal while it still reads from it.
	options := []tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithInput(c.In), tea.WithOutput(out), tea.WithAltScreen()}
	if c.Mouse {
		options = append(options, tea.WithMouseCellMotion())
	}
	program := tea.NewProgram(m, options...)
	stop := context.AfterFunc(ctx, program.Quit)
	_, err := program.Run()
	stop()
	m.remote.Close()
	if errors.Is(err, tea.ErrInterrupted) {
		return nil // Ctrl-C is one way to leave
	}
	if err != nil {
		return fmt.Errorf("showing the interface: %w", err)
	}
	return nil
}

// theme makes the styles for the terminal.
func (c Config) theme() *ui.Theme {
	r := lipgloss.NewRenderer(c.Out)
	if !c.Color {
		r.SetColorProfile(termenv.Ascii)
	}
	if c.Theme != "" || c.Plain { // lines for a screen reader have no color: the terminal is not asked
		r.SetHasDarkBackground(c.Theme == "dark")
	}
	return ui.NewTheme(r)
}

func (c Config) desk(ctx context.Context, out io.Writer) Desk {
	return Desk{
		Browse: func(url string) error { return c.Browse(ctx, url) },
		Copy: func(text string) error { // OSC 52: the terminal copies, also over ssh
			_, err := io.WriteString(out, ansi.SetSystemClipboard(text))
			return err
		},
		Save: save,
		Connect: func(name string) (Remote, string, error) {
			other, err := c.Connect(name)
			if err != nil {
				return nil, "", err
			}
			return remote.Open(ctx, other), other.Server(), nil
		},
	}
}

// save writes a new file that only the person may read.
func save(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// lockedWriter keeps what is written in one call together.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// Fd lets bubbletea find the terminal, for its size.
func (l *lockedWriter) Fd() uintptr {
	if f, ok := l.w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Read and Close complete the interface of a terminal's file.
func (l *lockedWriter) Read([]byte) (int, error) { return 0, io.EOF }

// Close does nothing: the writer belongs to the caller.
func (*lockedWriter) Close() error { return nil }
