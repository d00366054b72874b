package svc

import "time"

// Brief holds the fields of a version that bulk queries return.
type Brief struct {
	ID        string
	Status    Status
	ForkTXID  string // the cut in the parent's data; "" without a fork
	UpdatedAt time.Time
}
