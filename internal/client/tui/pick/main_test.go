package pick_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// A read of a terminal that a program of bubbletea has begun ends with the next key.
func TestMain(m *testing.M) {
	svctest.Main(m, nil, goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.Tick.func1"))
}
