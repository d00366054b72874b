package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// The schema of the compatibility flags as Cap'n Proto encodes it: workerd embeds its schemas, with the annotations
// that name the flags.

var errSchema = errors.New("the program has no schema of compatibility flags in the form that this program reads")

// schema is the words of an encoded node, which begin with its root pointer.
type schema []byte

// object is a struct: where its data and its pointers begin.
type object struct {
	data, pointers int
	of             schema
}

const word = 8

// findSchema finds the node with a name in a program: the last root pointer before the name.
func findSchema(program []byte, name string) (schema, error) {
	at := bytes.Index(program, []byte(name+"\x00"))
	const before = 64 * word
	for start := at - at%word; at >= 0 && start >= max(0, at-before); start -= word {
		lo, hi := binary.LittleEndian.Uint32(program[start:]), binary.LittleEndian.Uint32(program[start+4:])
		if lo == 0 && hi&0xffff >= 5 && hi&0xffff < 10 && hi>>16 >= 5 && hi>>16 < 10 {
			s := schema(program[start:min(start+1<<20, len(program))])
			if root, ok := s.object(0); ok && root.text(0) == name {
				return s, nil
			}
		}
	}
	return nil, errSchema
}

// target is where the pointer at an offset leads to, and its upper half.
func (s schema) target(at int) (to int, hi uint32, ok bool) {
	if at < 0 || at+word > len(s) || binary.LittleEndian.Uint64(s[at:]) == 0 {
		return 0, 0, false
	}
	lo := int32(binary.LittleEndian.Uint32(s[at:])) //nolint:gosec // two's complement
	to = at + word + int(lo>>2)*word
	return to, binary.LittleEndian.Uint32(s[at+4:]), to >= 0 && to <= len(s)
}

// object is the struct that a pointer leads to.
func (s schema) object(at int) (object, bool) {
	to, hi, ok := s.target(at)
	return object{to, to + int(hi&0xffff)*word, s}, ok
}

// text is the text of a pointer of a struct; "" for none.
func (o object) text(pointer int) string {
	to, hi, ok := o.of.target(o.pointers + pointer*word)
	n := int(hi >> 3)
	if !ok || n == 0 || to+n > len(o.of) {
		return ""
	}
	return strings.TrimSuffix(string(o.of[to:to+n]), "\x00")
}

// list is the structs of a list.
func (o object) list(pointer int) (all []object) {
	to, hi, ok := o.of.target(o.pointers + pointer*word)
	if !ok || hi&7 != 7 || to+word > len(o.of) {
		return nil
	}
	count, size := int(binary.LittleEndian.Uint32(o.of[to:])>>2), binary.LittleEndian.Uint32(o.of[to+4:])
	data, pointers := int(size&0xffff)*word, int(size>>16)*word
	for i := range count {
		at := to + word + i*(data+pointers)
		if at+data+pointers > len(o.of) {
			return nil
		}
		all = append(all, object{at, at + data, o.of})
	}
	return all
}

func (o object) uint64() uint64 { return binary.LittleEndian.Uint64(o.of[o.data:]) }
