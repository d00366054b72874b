package svc

import "time"

// Brief is the little of a version that is asked for in bulk.
type Brief struct {
	ID        string
	Status    Status
	ForkTXID  string // the cut in the parent's data; "" without one
	UpdatedAt time.Time
}
