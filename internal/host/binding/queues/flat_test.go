package queues_test

import "fmt"

// seenMessage is one message that the worker saw.
type seenMessage struct {
	receivedMessage

	queue string
}

// String has its body, or its number if it has one, and the attempts.
func (m seenMessage) String() string {
	if o, ok := m.Body.(object); ok && o["n"] != nil {
		return fmt.Sprint(o["n"], " ", m.Attempts)
	}
	return fmt.Sprint(m.Body, " ", m.Attempts)
}

func flat(list []received) (all []seenMessage) {
	for _, b := range list {
		for _, m := range b.Messages {
			all = append(all, seenMessage{m, b.Queue})
		}
	}
	return all
}

// numbered is a batch of objects that are given their numbers.
func numbered(bodies args) args {
	for i, b := range bodies {
		b.(object)["n"] = i //nolint:forcetypeassert // written by the test
	}
	return batch(bodies...)
}
