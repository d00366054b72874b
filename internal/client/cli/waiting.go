package cli

import "github.com/svcctl/svcctl/pkg/api"

// workOf says how much work waits: "2 messages and 1 instance of a workflow".
func workOf(w api.WaitingWork) string { return w.String() }
