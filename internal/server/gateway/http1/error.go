package http1

// Error is a message that is refused. Status is what to answer: 400, 431, 501
// or 505. Detail is fixed text and holds nothing of the message.
type Error struct {
	Status int
	Detail string
}

func (e *Error) Error() string { return e.Detail }

func bad(detail string) error { return &Error{Status: 400, Detail: detail} }
