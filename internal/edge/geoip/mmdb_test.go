package geoip_test

import (
	"encoding/binary"
	"maps"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

type object = map[string]any

// encode writes a value in the data format of MaxMind databases, version 2.
func encode(t *testing.T, v any) []byte {
	t.Helper()
	switch v := v.(type) {
	case string:
		return append(control(2, len(v)), v...)
	case float64:
		return binary.BigEndian.AppendUint64(control(3, 8), math.Float64bits(v))
	case int:
		return binary.BigEndian.AppendUint32(control(6, 4), uint32(v))
	case bool:
		return control(14, map[bool]int{true: 1}[v])
	case []any:
		b := control(11, len(v))
		for _, item := range v {
			b = append(b, encode(t, item)...)
		}
		return b
	case object:
		b := control(7, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b = append(append(b, encode(t, k)...), encode(t, v[k])...)
		}
		return b
	}
	t.Fatalf("no data type for %T", v)
	return nil
}

// control is the head of a value of a type and a size below 285.
func control(kind, size int) []byte {
	b := []byte{byte(kind << 5)}
	if kind > 7 {
		b = []byte{0, byte(kind - 7)}
	}
	if size < 29 {
		b[0] |= byte(size)
		return b
	}
	b[0] |= 29
	return append(b, byte(size-29))
}

// tree is a search tree: nodes with two children each.
type tree [][2]int

const (
	empty = -1 // a child that leads nowhere
	found = -2 // a child that leads to the record
)

func (n *tree) add(p netip.Prefix) {
	if len(*n) == 0 {
		*n = tree{{empty, empty}}
	}
	at, ip := 0, p.Addr().As16()
	for i := range p.Bits() {
		bit := ip[i/8] >> (7 - i%8) & 1
		if i == p.Bits()-1 {
			(*n)[at][bit] = found
			return
		}
		if (*n)[at][bit] == empty {
			(*n)[at][bit] = len(*n)
			*n = append(*n, [2]int{empty, empty})
		}
		at = (*n)[at][bit]
	}
}

func (n *tree) encode() (b []byte) {
	const separator = 16
	for _, node := range *n {
		for _, child := range node {
			switch child {
			case empty:
				child = len(*n)
			case found:
				child = len(*n) + separator
			}
			b = binary.BigEndian.AppendUint32(b, uint32(child))
		}
	}
	return append(b, make([]byte, separator)...)
}

// database writes a database that has one record, for 2001:db8::/32 and 192.0.2.0/24. IPv4
// addresses are below ::/96.
func database(t *testing.T, record object) string {
	t.Helper()
	var n tree
	n.add(netip.MustParsePrefix("2001:db8::/32"))
	n.add(netip.MustParsePrefix("::192.0.2.0/120"))
	b := append(n.encode(), encode(t, record)...)
	b = append(b, "\xab\xcd\xefMaxMind.com"...)
	b = append(b, encode(t, object{
		"binary_format_major_version": 2, "binary_format_minor_version": 0, "build_epoch": 1, "database_type": "Test",
		"description": object{"en": "test"}, "ip_version": 6, "languages": []any{"en"}, "node_count": len(n), "record_size": 32,
	})...)
	path := filepath.Join(t.TempDir(), "test.mmdb")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
