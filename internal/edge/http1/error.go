package http1

// Error describes why a message is refused. Status is the HTTP status of the
// response: 400, 405, 431, 501 or
// 505. Detail is fixed text without parts of the message.
type Error struct {
	Status int
	Detail string
}

func (e *Error) Error() string { return e.Detail }

func bad(detail string) error { return &Error{Status: 400, Detail: detail} }
