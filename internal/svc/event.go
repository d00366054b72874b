package svc

import "time"

// Event is one thing, other than a request, that the platform has a worker do.
// Exactly one of Scheduled and Queue is set.
type Event struct {
	Scheduled *Scheduled  `json:"scheduled,omitempty"`
	Queue     *QueueBatch `json:"queue,omitempty"`

	Limit time.Duration `json:"limit,omitempty"` // of its duration; 0 for 15 minutes, which is the maximum
}

// Handler is the name of the worker's function that an event goes to: "scheduled".
func (e Event) Handler() string {
	switch {
	case e.Scheduled != nil:
		return "scheduled"
	case e.Queue != nil:
		return "queue"
	}
	return ""
}

// Scheduled is one run of a cron expression.
type Scheduled struct {
	Cron string    `json:"cron"` // as the worker sees it; "" for a run without one
	Time time.Time `json:"time"` // when it was due, to the millisecond
}

// QueueBatch is a delivery of messages of one queue.
type QueueBatch struct {
	Queue    string         `json:"queue"`
	Messages []QueueMessage `json:"messages"`
}

// QueueMessage is one message of a batch.
type QueueMessage struct {
	ID          string    `json:"id"`
	Timestamp   time.Time `json:"timestamp"`
	Attempts    int       `json:"attempts"`     // this delivery included
	ContentType string    `json:"content_type"` // json, text, bytes or v8
	Body        []byte    `json:"body"`
}

// EventResult is how an event ended that the worker may have seen.
type EventResult struct {
	Outcome  Outcome       `json:"outcome"`
	NoRetry  bool          `json:"no_retry"`        // the worker asked not to be sent the event again
	Error    *EventError   `json:"error,omitempty"` // unless Outcome is OutcomeOK
	Queue    *QueueResult  `json:"queue,omitempty"` // of a queue batch
	Duration time.Duration `json:"duration"`

	// Logs are the lines that the worker printed while the event ran, oldest
	// first. Lines of requests that ran at the same time are among them.
	Logs        []LogLine `json:"logs"`
	LogsDropped int       `json:"logs_dropped"` // lines that were too many to be in Logs
}

// Outcome says how an event ended.
type Outcome string

// The outcomes of events.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeException Outcome = "exception" // the handler, or work it gave to waitUntil, threw
	OutcomeTimeout   Outcome = "timeout"   // it was ended at its deadline
	OutcomeCanceled  Outcome = "canceled"  // it was ended by its caller, or with its version
	OutcomeExited    Outcome = "exited"    // the worker's process ended meanwhile
)

// EventError says why an event did not end well. Stack begins with name and
// message; it and Name are empty where JavaScript has none.
type EventError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
}

// QueueResult is what a worker did with the messages of a batch. A message that
// neither list names is acknowledged if AckAll is set or the outcome is OutcomeOK
// without RetryAll, and else is to be retried.
type QueueResult struct {
	AckAll     bool         `json:"ack_all"`
	RetryAll   bool         `json:"retry_all"`
	RetryDelay int          `json:"retry_delay"` // in seconds, with RetryAll; 0 for the queue's own
	Acked      []string     `json:"acked"`       // ids of messages
	Retried    []QueueRetry `json:"retried"`
}

// QueueRetry is a message that the worker wants to see again.
type QueueRetry struct {
	ID    string `json:"id"`
	Delay int    `json:"delay"` // in seconds; 0 for the queue's own
}

// Wake says when a version needs to run, to do work of its own.
type Wake struct {
	At      time.Time `json:"at"`      // zero for never
	Pending int       `json:"pending"` // events that are due or under way
}
