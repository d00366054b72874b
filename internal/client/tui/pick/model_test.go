package pick_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/tui/pick"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// press sends keys: names of special keys, else text.
func press(m *pick.Model, keys ...string) {
	special := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "up": tea.KeyUp, "down": tea.KeyDown, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
		"home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "ctrl+u": tea.KeyCtrlU, "ctrl+c": tea.KeyCtrlC,
	}
	for _, k := range keys {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		if t, ok := special[k]; ok {
			msg = tea.KeyMsg{Type: t}
		}
		m.Update(msg)
	}
}

func versions(n int) (items []pick.Item) {
	for i := range n {
		items = append(items, pick.Item{Name: fmt.Sprintf("v%d", i+1), Detail: []string{"ready  3m", "archived  2h"}[i%2]})
	}
	return items
}

// TestKeys: which item keys choose.
func TestKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"the first":               {[]string{"enter"}, "v1"},
		"down and up":             {[]string{"down", "down", "up", "enter"}, "v2"},
		"not above the first":     {[]string{"up", "enter"}, "v1"},
		"not below the last":      {[]string{"end", "down", "enter"}, "v30"},
		"a page":                  {[]string{"pgdown", "enter"}, "v13"},
		"a page and back":         {[]string{"pgdown", "pgup", "enter"}, "v1"},
		"by its name":             {[]string{"v", "2", "5", "enter"}, "v25"},
		"by its status":           {[]string{"ARCH", "down", "enter"}, "v4"},
		"by two words":            {[]string{"archived v2", "enter"}, "v2"},
		"a filter taken back":     {[]string{"v9", "backspace", "3", "enter"}, "v3"},
		"no filter again":         {[]string{"v9", "ctrl+u", "enter"}, "v1"},
		"a filter marks the top":  {[]string{"end", "v2", "enter"}, "v2"},
		"none by Esc":             {[]string{"down", "esc"}, ""},
		"nothing to choose, Esc":  {[]string{"absent", "enter", "esc"}, ""},
		"none by Ctrl-C":          {[]string{"ctrl+c"}, ""},
		"control characters, too": {[]string{"v\x1b7", "enter"}, "v7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := pick.New("choose", versions(30))
			press(m, c.keys...)
			if got := m.Chosen(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if m.View() != "" {
				t.Errorf("it is still drawn:\n%s", m.View())
			}
		})
	}
}

// TestView: the list scrolls with its mark and fits the terminal.
func TestView(t *testing.T) {
	t.Parallel()
	m := pick.New("choose a version of shop", versions(5))
	m.Update(tea.WindowSizeMsg{Width: 30, Height: 5})
	press(m, "down", "down", "down")
	want := `choose a version of shop: _
  v2  archived  2h
  v3  ready  3m
> v4  archived  2h
5 of 5; type to filter, up a…`
	if diff := cmp.Diff(want, m.View()); diff != "" {
		t.Error(diff)
	}
	press(m, "home", "v5")
	want = `choose a version of shop: v5_
> v5  ready  3m
1 of 5; type to filter, up a…`
	if diff := cmp.Diff(want, m.View()); diff != "" {
		t.Error(diff)
	}
}

// TestRun: a program with keys from a pipe, ended by Enter, by Ctrl-C and by its context.
func TestRun(t *testing.T) {
	t.Parallel()
	in, person := io.Pipe()
	t.Cleanup(func() { _ = person.Close() })
	go func() { _, _ = io.WriteString(person, "v3\r") }()
	got, err := pick.Run(t.Context(), pick.New("choose", versions(5)), in, &svctest.Buffer{})
	if got != "v3" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	got, err = pick.Run(t.Context(), pick.New("choose", versions(5)), strings.NewReader("\x03"), &svctest.Buffer{})
	if got != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("Ctrl-C: %q %v", got, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	idle, quiet := io.Pipe()
	t.Cleanup(func() { _ = quiet.Close() })
	got, err = pick.Run(ctx, pick.New("choose", versions(5)), idle, &svctest.Buffer{})
	if got != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the context: %q %v", got, err)
	}
}
