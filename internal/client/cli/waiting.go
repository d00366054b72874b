package cli

import (
	"strconv"

	"github.com/svcctl/svcctl/pkg/api"
)

// workOf says how much work waits: "2 messages and 1 instance of a workflow".
func workOf(w api.WaitingWork) string {
	instances := strconv.Itoa(w.Instances) + " instances of workflows"
	if w.Instances == 1 {
		instances = "1 instance of a workflow"
	}
	switch {
	case w.Instances == 0:
		return messages(w.Messages)
	case w.Messages == 0:
		return instances
	}
	return messages(w.Messages) + " and " + instances
}
