package svc

// Amount is a number of objects and their total size in bytes.
type Amount struct {
	Objects int
	Bytes   int64
}

// Add counts one more object of the given size.
func (a *Amount) Add(bytes int64) {
	a.Objects++
	a.Bytes += bytes
}

// Plus returns the sum of a and b.
func (a Amount) Plus(b Amount) Amount {
	return Amount{a.Objects + b.Objects, a.Bytes + b.Bytes}
}
