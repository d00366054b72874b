package cli

import (
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

func TestWorkOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		work api.WaitingWork
	}{
		{"1 message", api.WaitingWork{Messages: 1}},
		{"1 instance of a workflow", api.WaitingWork{Instances: 1}},
		{"2 messages and 3 instances of workflows", api.WaitingWork{Messages: 2, Instances: 3}},
	} {
		if got := workOf(c.work); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
