package service

import "reflect"

// Late is a part that is made after parts that call it, because they need each other. Set it once, before
// anything starts; the other methods are safe for concurrent use then.
type Late[T any] struct {
	value T
	is    bool
}

// Set says which part it is.
func (l *Late[T]) Set(part T) { l.value, l.is = part, true }

// Get returns the part. It panics with the name of its type before Set: the order of the start is wrong.
func (l *Late[T]) Get() T {
	if !l.is {
		panic(reflect.TypeFor[T]().String() + " is used before it was made")
	}
	return l.value
}
