package durable

import "encoding/binary"

// An object's own alarm is the row with this key of the table _cf_METADATA, whose value is the
// time. A second copy, which arms the timer, is in the file metadata of the namespace.
const (
	metadataTable = "_cf_METADATA"
	alarmKey      = 1
	leafTable     = 13 // type of a b-tree page
)

// disarm clears the alarm in the pages of an object and returns the numbers of the pages that
// it changed. A child must not see the alarms of its parent: they are not armed there, and
// code that sets an alarm only where none is set would never set one. The record is changed
// in place: its values become NULL and its length stays.
func disarm(pages map[uint32][]byte) (changed []uint32) {
	root := rootOf(pages, metadataTable)
	page := pages[root]
	if root < 2 || len(page) != pageSize || page[0] != leafTable {
		return nil
	}
	eachCell(page, 0, func(cell []byte) {
		length, n := varint(cell)
		key, m := varint(cell[n:])
		record := cell[n+m:]
		// The header: its length, the type of the key (an alias of the row: NULL), that of the value.
		if key != alarmKey || length > uint64(len(record)) || length < 3 || record[0] != 3 || record[1] != 0 || record[2] == 0 {
			return
		}
		record[0] = byte(length) //nolint:gosec // small; all of the record is the header: NULLs
		clear(record[1:length])
		changed = []uint32{root}
	})
	return changed
}

// rootOf is the root page of a table; 0 when the schema does not have it on its first page.
func rootOf(pages map[uint32][]byte, table string) (root uint32) {
	first := pages[1]
	const fileHeader = 100
	if len(first) != pageSize {
		return 0
	}
	if first[fileHeader] == leafTable {
		eachCell(first, fileHeader, func(cell []byte) {
			if name, at, ok := schemaRow(cell); ok && name == table {
				root = at
			}
		})
		return root
	}
	for n := uint32(2); n <= uint32(len(pages)) && root == 0; n++ { //nolint:gosec // a large schema: its leaves are somewhere
		if page := pages[n]; len(page) == pageSize && page[0] == leafTable {
			eachCell(page, 0, func(cell []byte) {
				if name, at, ok := schemaRow(cell); ok && name == table {
					root = at
				}
			})
		}
	}
	return root
}

// schemaRow reads a row of sqlite_schema (type, name, tbl_name, rootpage, sql) of a table.
func schemaRow(cell []byte) (name string, root uint32, ok bool) {
	_, n := varint(cell)
	_, m := varint(cell[n:])
	record := cell[n+m:]
	size, at := varint(record)
	if at == 0 || size > uint64(len(record)) {
		return "", 0, false
	}
	var types [5]uint64
	header := record[at:size]
	for i := range types {
		t, n := varint(header)
		if n == 0 {
			return "", 0, false
		}
		types[i], header = t, header[n:]
	}
	body := record[size:]
	text := func(t uint64) (string, bool) {
		length := int((t - 13) / 2) //nolint:gosec // checked against the body
		if t < 13 || t%2 == 0 || length > len(body) {
			return "", false
		}
		s := string(body[:length])
		body = body[length:]
		return s, true
	}
	kind, ok1 := text(types[0])
	name, ok2 := text(types[1])
	_, ok3 := text(types[2])
	if !ok1 || !ok2 || !ok3 || kind != "table" || types[3] < 1 || types[3] > 4 || uint64(len(body)) < types[3] {
		return "", 0, false
	}
	for _, b := range body[:types[3]] {
		root = root<<8 | uint32(b)
	}
	return name, root, true
}

// eachCell visits the cells of a leaf page whose b-tree header is at from.
func eachCell(page []byte, from int, visit func(cell []byte)) {
	count := int(binary.BigEndian.Uint16(page[from+3:]))
	for i := range count {
		pointer := from + 8 + 2*i
		if pointer+2 > len(page) {
			return
		}
		if at := int(binary.BigEndian.Uint16(page[pointer:])); at >= from+8 && at+4 <= len(page) {
			visit(page[at:])
		}
	}
}

// varint reads SQLite's integer of variable length; n is 0 when b ends early.
func varint(b []byte) (v uint64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
