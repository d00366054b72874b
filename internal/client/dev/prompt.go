package dev

import "context"

// prompt is an answer that is being typed.
type prompt struct {
	question string
	text     []rune
	then     func(ctx context.Context, answer string) error
}

// ask asks a question and calls then with the answer. Other lines wait for it.
func (s *Session) ask(question string, then func(ctx context.Context, answer string) error) {
	s.prompt = &prompt{question: question, then: then}
	s.out.ask(question)
}

// typed handles a key of the prompt.
func (s *Session) typed(ctx context.Context, r rune) error {
	p := s.prompt
	switch {
	case r == escape:
		s.prompt = nil
		s.out.answered()
	case r == backspace && len(p.text) > 0:
		p.text = p.text[:len(p.text)-1]
		s.out.echo("\b \b")
	case r == enter:
		s.prompt = nil
		s.out.answered()
		return p.then(ctx, string(p.text))
	case r == redraw:
		s.out.echo("\r" + p.question + string(p.text))
	case r >= ' ' && r != backspace:
		p.text = append(p.text, r)
		s.out.echo(string(r))
	}
	return nil
}
