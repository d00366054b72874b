package database

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxImportSQL is the size of a statement that is imported, in bytes: a row of
// maxRow bytes, written out by a dump that needs six for one.
const maxImportSQL = 16 << 20

// maxComments is how many bytes of comments are kept with the statement behind
// them.
const maxComments = 64 << 10

// piece is a part of a script that ends where a statement or a comment does.
type piece struct {
	text string
	line int // of the script on which it begins, from 1
}

// splitter cuts a script into statements while it is read: a script may be
// larger than memory. Where a statement ends is decided as sqlite3_complete
// does, so that the body of a trigger stays in one piece.
type splitter struct {
	in    *bufio.Reader
	text  []byte // of the piece that is being read
	state int
	line  int // on which the next piece begins
}

// The states of a splitter, and the tokens that lead from one to the next.
const (
	atStart = iota
	inStatement
	afterExplain
	afterCreate
	inTrigger
	afterSemicolon // in a trigger
	afterEnd       // of a trigger
)

const (
	semicolon = iota
	otherToken
	explainWord
	createWord
	tempWord
	triggerWord
	endWord
)

//nolint:gochecknoglobals // a constant table: by state, then by token
var transitions = [...][7]int{
	atStart:        {atStart, inStatement, afterExplain, afterCreate, inStatement, inStatement, inStatement},
	inStatement:    {atStart, inStatement, inStatement, inStatement, inStatement, inStatement, inStatement},
	afterExplain:   {atStart, afterExplain, inStatement, afterCreate, inStatement, inStatement, inStatement},
	afterCreate:    {atStart, inStatement, inStatement, inStatement, afterCreate, inTrigger, inStatement},
	inTrigger:      {afterSemicolon, inTrigger, inTrigger, inTrigger, inTrigger, inTrigger, inTrigger},
	afterSemicolon: {afterSemicolon, inTrigger, inTrigger, inTrigger, inTrigger, inTrigger, afterEnd},
	afterEnd:       {atStart, inTrigger, inTrigger, inTrigger, inTrigger, inTrigger, inTrigger},
}

const errUTF16 = said("the script is UTF-16: save it as UTF-8")

func newSplitter(r io.Reader) (*splitter, error) {
	s := &splitter{in: bufio.NewReaderSize(r, 256<<10), line: 1}
	head, err := s.in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err = s.in.Discard(3)
		return s, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, errUTF16
	}
	return s, nil
}

// next gives the next statement, with what is before it; at the end of the
// script the error is io.EOF, after a piece with all that is left.
func (s *splitter) next() (piece, error) {
	s.text, s.state = s.text[:0], atStart
	p := piece{line: s.line}
	for {
		ended, err := s.token()
		if errors.Is(err, io.EOF) && len(s.text) > 0 {
			ended, err = true, nil // what is left
		}
		if s.state == atStart && len(s.text) > maxComments {
			ended = true // comments and space, however much there is of them
		}
		if len(s.text) > maxImportSQL {
			return p, s.tooLong()
		}
		if err != nil {
			return p, err
		}
		if ended {
			p.text = string(s.text)
			s.line += bytes.Count(s.text, newline)
			return p, nil
		}
	}
}

// tooLong is the error for the piece being read.
func (s *splitter) tooLong() error {
	const shown = 4096
	text := string(s.text[:shown])
	return badAt(piece{text, s.line}, begin(text, 0), fmt.Errorf("the statement is longer than %d bytes", maxImportSQL))
}

var newline = []byte{'\n'} //nolint:gochecknoglobals // constant

// token reads one token, space or comment. ended is true after the semicolon
// that ends the statement.
func (s *splitter) token() (ended bool, err error) {
	c, err := s.take()
	if err != nil {
		return false, err
	}
	kind := otherToken
	switch {
	case isSpace(c):
		return false, nil
	case c == ';':
		kind = semicolon
	case c == '-' && s.follows('-'):
		return false, s.until('\n')
	case c == '/' && s.follows('*'):
		return false, s.comment()
	case c == '\'' || c == '"' || c == '`':
		err = s.until(c)
	case c == '[':
		err = s.until(']')
	case isNameByte(c):
		kind, err = s.word()
	}
	s.state = transitions[s.state][kind]
	return kind == semicolon && s.state == atStart, err
}

// take moves one byte to the piece.
func (s *splitter) take() (byte, error) {
	c, err := s.in.ReadByte()
	if err == nil {
		s.text = append(s.text, c)
	}
	return c, err
}

func (s *splitter) follows(c byte) bool {
	next, err := s.in.Peek(1)
	return err == nil && next[0] == c
}

// until takes all up to and with mark. A quote that is doubled in a quoted text
// ends it and begins another, which comes to the same.
func (s *splitter) until(mark byte) error {
	for {
		part, err := s.in.ReadSlice(mark)
		s.text = append(s.text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(s.text) > maxImportSQL {
			return err
		}
	}
}

// comment takes the rest of a comment that began with a slash.
func (s *splitter) comment() error {
	if _, err := s.take(); err != nil { // the asterisk, which does not end it
		return err
	}
	for {
		if err := s.until('*'); err != nil {
			return err
		}
		if s.follows('/') {
			_, err := s.take()
			return err
		}
		if len(s.text) > maxImportSQL {
			return nil
		}
	}
}

// word takes the rest of a word and says which it is.
func (s *splitter) word() (kind int, err error) {
	from := len(s.text) - 1
	for err == nil {
		var next []byte
		if next, err = s.in.Peek(1); err != nil || !isNameByte(next[0]) {
			break
		}
		_, err = s.take()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return wordKind(s.text[from:]), err
}

func wordKind(w []byte) int {
	is := func(word string) bool { return len(w) == len(word) && strings.EqualFold(string(w), word) }
	switch {
	case is("explain"):
		return explainWord
	case is("create"):
		return createWord
	case is("temp"), is("temporary"):
		return tempWord
	case is("trigger"):
		return triggerWord
	case is("end"):
		return endWord
	}
	return otherToken
}
