package workerd

import "encoding/binary"

// message is one segment of a Cap'n Proto message: words of 8 bytes. The zero value has no
// room for the root pointer.
type message struct{ words []byte }

// object is a struct in a message: its first word, and how many words are data.
type object struct{ at, data int }

// ptr is the word of the n-th pointer.
func (o object) ptr(n int) int { return o.at + o.data + n }

// bytes returns the message as a stream with one segment.
func (m *message) bytes() []byte {
	head := make([]byte, 8, 8+len(m.words))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(m.words)/8)) //nolint:gosec // far below 4 billion
	return append(head, m.words...)
}

func (m *message) alloc(words int) int {
	at := len(m.words) / 8
	m.words = append(m.words, make([]byte, 8*words)...)
	return at
}

func (m *message) put(word int, v uint64) { binary.LittleEndian.PutUint64(m.words[8*word:], v) }

// offset is the part of a pointer at word p that leads to the word at, which is after p.
func offset(p, at int) uint64 { return uint64(at-p-1) << 2 } //nolint:gosec // not negative

// structure makes a struct to which the pointer at word p leads.
func (m *message) structure(p, data, ptrs int) object {
	at := m.alloc(data + ptrs)
	m.put(p, offset(p, at)|uint64(data)<<32|uint64(ptrs)<<48) //nolint:gosec // small numbers
	return object{at, data}
}

// The sizes of a list's elements.
const (
	byteSize    = 2
	pointerSize = 6
	structSize  = 7
)

// list makes a list to which the pointer at word p leads. count is the number of its
// elements, or of its words for structs.
func (m *message) list(p, words, size, count int) int {
	at := m.alloc(words)
	m.put(p, offset(p, at)|1|uint64(size)<<32|uint64(count)<<35) //nolint:gosec // small numbers
	return at
}

// layout is how many words of a struct are data, and how many pointers.
type layout struct{ data, ptrs int }

// structures makes a list of structs, unless it is empty.
func structures[T any](m *message, p int, l layout, items []T, write func(object, T)) {
	if len(items) == 0 {
		return
	}
	size := l.data + l.ptrs
	at := m.list(p, 1+size*len(items), structSize, size*len(items))
	m.put(at, uint64(len(items))<<2|uint64(l.data)<<32|uint64(l.ptrs)<<48) //nolint:gosec // small numbers
	for i, item := range items {
		write(object{at + 1 + i*size, l.data}, item)
	}
}

// choose sets the tag of a struct's union, which is in the first bytes of all of ours.
func (m *message) choose(o object, tag uint16) { binary.LittleEndian.PutUint16(m.words[8*o.at:], tag) }

func (m *message) bit(o object, n int, set bool) {
	if set {
		m.words[8*o.at+n/8] |= 1 << (n % 8)
	}
}

// blob sets Data.
func (m *message) blob(p int, s string) {
	at := m.list(p, (len(s)+7)/8, byteSize, len(s))
	copy(m.words[8*at:], s)
}

// text sets a Text, which ends with a zero, also if it is empty.
func (m *message) text(p int, s string) { m.blob(p, s+"\x00") }

// str sets a Text unless it is empty.
func (m *message) str(p int, s string) {
	if s != "" {
		m.text(p, s)
	}
}

func (m *message) texts(p int, list []string) {
	if len(list) == 0 {
		return
	}
	at := m.list(p, len(list), pointerSize, len(list))
	for i, s := range list {
		m.text(at+i, s)
	}
}
