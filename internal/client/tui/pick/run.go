package pick

import (
	"context"
	"fmt"
	"io"

	tea "github.com/charmbracelet/bubbletea"
)

// Run shows the list until the person chooses, and returns the name of the item; "" for
// none. Ctrl-C and the end of ctx return an error that is context.Canceled.
func Run(ctx context.Context, m *Model, in io.Reader, out io.Writer) (string, error) {
	program := tea.NewProgram(m, tea.WithoutSignalHandler(), tea.WithInput(in), tea.WithOutput(out))
	stop := context.AfterFunc(ctx, program.Quit)
	_, err := program.Run()
	stop()
	switch {
	case err != nil:
		return "", fmt.Errorf("showing the list: %w", err)
	case ctx.Err() != nil || m.Interrupted():
		return "", fmt.Errorf("interrupted; nothing was changed: %w", context.Canceled)
	}
	return m.Chosen(), nil
}
