package isolate_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/svcctl/svcctl/internal/host/isolate"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"take": take, "stay": stay, "self": self})
}

// take takes a uid of the range args[1], and keeps it until it ends.
func take(_ context.Context, args []string) error {
	from, err := svc.ParseIsolation(args[1])
	if err != nil {
		return err
	}
	l, err := isolate.Take(args[0], from)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, l.UID)
	_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
	return l.Close()
}

// stay says that it runs, and waits to be killed, or for the end of the test.
func stay(context.Context, []string) error {
	fmt.Fprintln(os.Stdout, "runs")
	_, _ = os.Stdin.Read(make([]byte, 1))
	return nil
}

// self says which user runs it, in which groups.
func self(context.Context, []string) error {
	groups, err := os.Getgroups()
	fmt.Fprintln(os.Stdout, os.Getuid(), os.Geteuid(), os.Getgid(), groups)
	return err
}
