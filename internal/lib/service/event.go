package service

// Event is something that one part sees and others must know. They subscribe before anything starts;
// Tell is safe for concurrent use then.
type Event[T any] struct {
	name string
	subs []func(T)
}

// NewEvent returns an event without subscribers. Its name is for the panic of Tell.
func NewEvent[T any](name string) *Event[T] { return &Event[T]{name: name} }

// Subscribe has Tell call f, after the functions that were subscribed before.
func (e *Event[T]) Subscribe(f func(T)) { e.subs = append(e.subs, f) }

// Tell calls the subscribers, one after the other. It panics without one: the order of the start is
// wrong, and the event would be lost.
func (e *Event[T]) Tell(v T) {
	if len(e.subs) == 0 {
		panic("no part has subscribed to the event " + e.name + " yet")
	}
	for _, f := range e.subs {
		f(v)
	}
}
