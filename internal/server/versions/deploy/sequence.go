package deploy

import "sync"

// sequence runs functions one after another, beside its caller. After an error it runs no more.
// The zero value is ready. add and settle are called by one goroutine.
type sequence struct {
	all sync.WaitGroup

	last chan struct{} // closed when the function that was added last is over; nil at first
	err  error         // of the first that failed; owned by the function that runs
}

func (s *sequence) add(do func() error) {
	before, over := s.last, make(chan struct{})
	s.last = over
	s.all.Go(func() {
		defer close(over)
		if before != nil {
			<-before
		}
		if s.err == nil {
			s.err = do()
		}
	})
}

// settle waits for all and returns the first error.
func (s *sequence) settle() error {
	s.all.Wait()
	return s.err
}
