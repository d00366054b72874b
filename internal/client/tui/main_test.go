package tui

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// A program of bubbletea does not end the ticks that it has begun; they end by themselves.
func TestMain(m *testing.M) {
	svctest.Main(m, nil, goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.Tick.func1"),
		goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.(*Program).execBatchMsg"))
}
