package svc

import "time"

// Event is one invocation of a worker other than a request.
// Exactly one of Scheduled, Queue and Workflow is set.
type Event struct {
	Scheduled *Scheduled   `json:"scheduled,omitempty"`
	Queue     *QueueBatch  `json:"queue,omitempty"`
	Workflow  *WorkflowRun `json:"workflow,omitempty"`

	// Limit is the maximum duration; 0 for 15 minutes, the largest value. A workflow has its own limits.
	Limit time.Duration `json:"limit,omitempty"`

	// NoRetry, if set, is called when the worker calls controller.noRetry() in a
	// scheduled run. It must not block.
	NoRetry func() `json:"-"`
}

// Handler is the name of the worker's function that an event goes to: "scheduled".
func (e Event) Handler() string {
	switch {
	case e.Scheduled != nil:
		return "scheduled"
	case e.Queue != nil:
		return "queue"
	case e.Workflow != nil:
		return "workflow"
	}
	return ""
}

// Scheduled is one run of a cron expression.
type Scheduled struct {
	Cron string    `json:"cron"` // the worker's controller.cron; "" for a run without an expression
	Time time.Time `json:"time"` // scheduled time, to the millisecond
}

// WorkflowRun is one run of an instance of a workflow, from its start or from where it rested.
type WorkflowRun struct {
	Workflow string `json:"workflow"`
	Instance string `json:"instance"`
	Job      string `json:"job"` // JSON, for the workflow's runner in workerd
}

// QueueBatch is a delivery of messages of one queue.
type QueueBatch struct {
	Queue    string         `json:"queue"`
	Messages []QueueMessage `json:"messages"`
	Backlog  QueueBacklog   `json:"backlog"` // of the queue, these messages included
}

// QueueBacklog describes the messages of a queue, whatever their state.
type QueueBacklog struct {
	Count  int64 `json:"count"`
	Bytes  int64 `json:"bytes"`  // of their bodies
	Oldest int64 `json:"oldest"` // time of sending in milliseconds since 1970; 0 for none
}

// QueueMessage is one message of a batch.
type QueueMessage struct {
	ID          string    `json:"id"`
	Timestamp   time.Time `json:"timestamp"`
	Attempts    int       `json:"attempts"`     // this delivery included
	ContentType string    `json:"content_type"` // json, text, bytes or v8
	Body        []byte    `json:"body"`
}

// EventResult is the end of an event that was sent to the worker.
type EventResult struct {
	Outcome  Outcome       `json:"outcome"`
	NoRetry  bool          `json:"no_retry"`        // the worker called controller.noRetry()
	Error    *EventError   `json:"error,omitempty"` // unless Outcome is OutcomeOK
	Queue    *QueueResult  `json:"queue,omitempty"` // of a queue batch
	Duration time.Duration `json:"duration"`

	// RequestID names the event in the log; "" for one that printed nothing.
	RequestID string `json:"request_id,omitempty"`

	// Logs are the lines that the worker printed while the event ran, oldest
	// first. They include lines of requests that ran at the same time.
	Logs        []LogLine `json:"logs"`
	LogsDropped int       `json:"logs_dropped"` // number of lines above the limit of Logs
}

// Outcome says how an event ended.
type Outcome string

// The outcomes of events.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeException Outcome = "exception" // the handler, or work it gave to waitUntil, threw
	OutcomeTimeout   Outcome = "timeout"   // stopped at its deadline
	OutcomeCanceled  Outcome = "canceled"  // stopped by its caller, or with its version
	OutcomeExited    Outcome = "exited"    // the worker's process exited meanwhile
)

// EventCount is a number of events that ended alike.
type EventCount struct {
	Handler string  `json:"handler"`
	Outcome Outcome `json:"outcome"`
	N       int     `json:"n"`
}

// EventError is the reason of an outcome other than OutcomeOK. Stack begins with name and
// message; it and Name are empty where JavaScript has none.
type EventError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
}

// QueueResult is what a worker did with the messages of a batch. A message that
// neither list names is acknowledged if AckAll is set or the outcome is OutcomeOK
// without RetryAll, and otherwise is delivered again.
type QueueResult struct {
	AckAll     bool         `json:"ack_all"`
	RetryAll   bool         `json:"retry_all"`
	RetryDelay int          `json:"retry_delay"` // in seconds, with RetryAll; QueueDelay for the queue's own
	Acked      []string     `json:"acked"`       // ids of messages
	Retried    []QueueRetry `json:"retried"`
}

// QueueRetry is a message that the worker asked to receive again.
type QueueRetry struct {
	ID    string `json:"id"`
	Delay int    `json:"delay"` // in seconds; QueueDelay for the queue's own
}

// QueueDelay stands for the retry delay of the queue.
const QueueDelay = -1

// Wake is the time at which a version must run for its own work.
type Wake struct {
	At      time.Time     `json:"at"`               // zero for never
	Pending int           `json:"pending"`          // events that are due or running
	Queues  []QueueStatus `json:"queues,omitempty"` // with a consumer, or of dead letters
	Waiting Waiting       `json:"waiting"`
	Worked  time.Time     `json:"worked"` // the end of the last event; zero for none
}

// Waiting is the work of a version that continues only while the version serves.
type Waiting struct {
	Messages  int `json:"messages"`  // not acknowledged, of queues with a consumer
	Instances int `json:"instances"` // of workflows, that have not ended
}

// Add returns the sum of w and o.
func (w Waiting) Add(o Waiting) Waiting {
	return Waiting{w.Messages + o.Messages, w.Instances + o.Instances}
}

// With returns w for a version that must also run at a time, zero for none.
func (w Wake) With(at time.Time) Wake {
	if w.At.IsZero() || !at.IsZero() && at.Before(w.At) {
		w.At = at
	}
	return w
}

// QueueStatus is the state of a queue and what its consumer did since the version was
// opened.
type QueueStatus struct {
	Name       string            `json:"name"`
	Backlog    int64             `json:"backlog"` // messages, whatever their state
	Oldest     int64             `json:"oldest"`  // time of sending of the oldest in milliseconds since 1970; 0 for none
	Deliveries map[Outcome]int64 `json:"deliveries"`
}
