package queues

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// The limits of what is sent, which are Cloudflare's.
const (
	maxMessage      = 128_000 // bytes
	maxBatch        = 100     // messages
	maxBatchBytes   = 256_000
	maxBatchRequest = 1 << 20 // bytes of JSON, more than a batch can have
)

// message is one message.
type message struct {
	id          int64  // of its row
	key         string // the id that workers see
	sent        int64  // milliseconds since 1970
	attempts    int    // deliveries that have ended
	contentType string
	delay       int64 // seconds; of a new one
	body        []byte
}

// newKey makes the id of a message: 32 hex digits.
func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// event is how the worker gets m.
func (m *message) event() svc.QueueMessage {
	kind := m.contentType
	if kind == typeJSON && !json.Valid(m.body) { // stored by a release that did not check: it would block the queue
		kind = typeText
	}
	return svc.QueueMessage{
		ID: m.key, Timestamp: time.UnixMilli(m.sent).UTC(), Attempts: m.attempts + 1, ContentType: kind, Body: m.body,
	}
}

// refusal is an error that the sender sees.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// contentTypes are the forms of a body.
func contentTypes() []string { return []string{typeJSON, typeText, "bytes", "v8"} }

const (
	typeJSON = "json"
	typeText = "text"
)

// check checks what one call stores.
func check(list []message) error {
	if len(list) == 0 {
		return refuse(http.StatusBadRequest, "a batch has at least one message")
	}
	if len(list) > maxBatch {
		return refuse(http.StatusRequestEntityTooLarge, "batch message count of %d exceeds limit of %d", len(list), maxBatch)
	}
	total := 0
	for i := range list {
		m := &list[i]
		total += len(m.body)
		switch {
		case !slices.Contains(contentTypes(), m.contentType):
			return refuse(http.StatusBadRequest, "unknown content type %q", m.contentType)
		case m.contentType == typeJSON && !json.Valid(m.body): // no batch that has it could be delivered
			return refuse(http.StatusBadRequest, "the body of a message of type json is not JSON")
		case len(m.body) > maxMessage:
			return refuse(http.StatusRequestEntityTooLarge, "message length of %d bytes exceeds limit of %d", len(m.body), maxMessage)
		case m.delay < 0 || m.delay > bundle.MaxQueueDelay:
			return refuse(http.StatusBadRequest, "delay of %d seconds is not between 0 and %d", m.delay, bundle.MaxQueueDelay)
		}
	}
	if total > maxBatchBytes {
		return refuse(http.StatusRequestEntityTooLarge, "batch size of %d bytes exceeds limit of %d", total, maxBatchBytes)
	}
	return nil
}
