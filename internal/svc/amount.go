package svc

// Amount is a number of objects and how much they hold.
type Amount struct {
	Objects int
	Bytes   int64
}

// Add counts one more object.
func (a *Amount) Add(bytes int64) {
	a.Objects++
	a.Bytes += bytes
}

// Plus is the sum of two amounts.
func (a Amount) Plus(b Amount) Amount {
	return Amount{a.Objects + b.Objects, a.Bytes + b.Bytes}
}
