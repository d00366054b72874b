package api

import "strconv"

// String says how much work waits: "2 messages and 1 instance of a workflow".
func (w WaitingWork) String() string {
	messages := strconv.Itoa(w.Messages) + " messages"
	if w.Messages == 1 {
		messages = "1 message"
	}
	instances := strconv.Itoa(w.Instances) + " instances of workflows"
	if w.Instances == 1 {
		instances = "1 instance of a workflow"
	}
	switch {
	case w.Instances == 0:
		return messages
	case w.Messages == 0:
		return instances
	}
	return messages + " and " + instances
}
