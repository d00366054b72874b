package workerd_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestEncode: the message says what workerd reads in the text of the same config, for every
// part of the model.
func TestEncode(t *testing.T) {
	t.Parallel()
	dir := svctest.ShortDir(t)
	if err := os.WriteFile(filepath.Join(dir, "a file.txt"), []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := full(dir)
	withObjects(c.Services[0].Worker)
	c.Services[0].Worker.Bindings = append(c.Services[0].Worker.Bindings, awkwardTexts()...)
	withHyperdrive(&c)
	withMemory(&c)
	c.Extensions = append(c.Extensions, workerd.Module{Name: "svc:public", Type: workerd.ESModule, Source: "export {}", Public: true})
	got, err := workerd.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, compiled(t, dir, c)), tree(t, got)); diff != "" {
		t.Errorf("the message differs from workerd's own (-want +got):\n%s", diff)
	}
}

func withObjects(w *workerd.Worker) {
	w.ObjectClasses = []workerd.ObjectClass{{Name: "Room", Key: "room", SQL: true}, {Name: "Old", Key: "old"}}
	w.ObjectStorage = "files"
	w.Tails = []workerd.ServiceRef{{Name: "hyperdrive"}, {Name: "hyperdrive", Entrypoint: "Tail", Props: `{"a":1}`}}
	w.Bindings = append(w.Bindings, workerd.Binding{Name: "ROOM", ObjectClass: "Room"}, workerd.Binding{Name: "FAR", ObjectClass: "Room", ObjectService: "memory"}, workerd.Binding{Name: "DEBUG", DebugPort: true})
}

// withMemory adds a worker whose objects are in memory.
func withMemory(c *workerd.Config) {
	c.Services = append(c.Services, workerd.Service{Name: "memory", Worker: &workerd.Worker{
		Modules: []workerd.Module{{Name: "o.js", Type: workerd.ESModule, Source: "export class Room {}"}}, CompatibilityDate: "2026-11-01",
		ObjectClasses: []workerd.ObjectClass{{Name: "Room", Key: "room"}},
	}})
}

func withHyperdrive(c *workerd.Config) {
	c.Services = append(c.Services, workerd.Service{Name: "hyperdrive", External: &workerd.External{Address: "10.0.0.5:5432", TCP: true}})
	w := c.Services[0].Worker
	w.Bindings = append(w.Bindings, workerd.Binding{Name: "PG", Hyperdrive: &workerd.Hyperdrive{
		Service: "hyperdrive", Database: "shop", User: "u", Password: "p \"q\"", Scheme: "postgresql",
	}})
}

func awkwardTexts() (list []workerd.Binding) {
	for i, s := range awkward() {
		list = append(list, workerd.Binding{Name: fmt.Sprintf("AWKWARD_%d", i), Text: &s})
	}
	return list
}

// compiled is the message that workerd makes of the text of c.
func compiled(t *testing.T, dir string, c workerd.Config) []byte {
	t.Helper()
	text, err := workerd.Render(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.capnp")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	message, err := exec.CommandContext(t.Context(), workerdtest.Binary(t), "compile", "--config-only", "-I", "/", path).Output()
	if err != nil {
		t.Fatalf("compiling the text: %v", err)
	}
	return message
}

// structTree is a struct without its schema. What a message leaves out at the end is zero.
type structTree struct {
	Data []uint64
	Ptrs []any
}

// reader reads a message of several segments.
type reader struct {
	t        *testing.T
	segments [][]uint64
}

func tree(t *testing.T, message []byte) any {
	t.Helper()
	count := int(binary.LittleEndian.Uint32(message)) + 1
	r := reader{t, make([][]uint64, count)}
	rest := message[(4+4*count+7)/8*8:]
	for i := range r.segments {
		r.segments[i] = make([]uint64, binary.LittleEndian.Uint32(message[4+4*i:]))
		for w := range r.segments[i] {
			r.segments[i][w], rest = binary.LittleEndian.Uint64(rest), rest[8:]
		}
	}
	return r.pointer(0, 0)
}

// pointer is what the pointer at a word leads to: a structTree, a string of bytes, a list, or nil.
func (r reader) pointer(segment, word int) any {
	p := r.segments[segment][word]
	at := word + 1 + int(int32(uint32(p)))>>2
	switch {
	case p == 0:
		return nil
	case p&3 == 0:
		return r.structure(segment, at, int(p>>32&0xffff), int(p>>48))
	case p&3 == 1:
		return r.list(segment, at, int(p>>32&7), int(p>>35))
	case p&7 == 2:
		return r.pointer(int(p>>32), int(uint32(p)>>3))
	}
	r.t.Fatalf("a pointer of another kind: %x", p)
	return nil
}

func (r reader) structure(segment, at, data, ptrs int) structTree {
	var s structTree
	for i := range data {
		s.Data = append(s.Data, r.segments[segment][at+i])
	}
	for i := range ptrs {
		s.Ptrs = append(s.Ptrs, r.pointer(segment, at+data+i))
	}
	for len(s.Data) > 0 && s.Data[len(s.Data)-1] == 0 {
		s.Data = s.Data[:len(s.Data)-1]
	}
	for len(s.Ptrs) > 0 && s.Ptrs[len(s.Ptrs)-1] == nil {
		s.Ptrs = s.Ptrs[:len(s.Ptrs)-1]
	}
	return s
}

func (r reader) list(segment, at, size, count int) any {
	switch size {
	case 2: // bytes
		var b []byte
		for i := 0; i < count; i += 8 {
			b = binary.LittleEndian.AppendUint64(b, r.segments[segment][at+i/8])
		}
		return string(b[:count])
	case 6: // pointers
		items := make([]any, count)
		for i := range items {
			items[i] = r.pointer(segment, at+i)
		}
		return items
	case 7: // structs, with a tag before them
		tag := r.segments[segment][at]
		data, ptrs := int(tag>>32&0xffff), int(tag>>48)
		items := make([]any, uint32(tag)>>2)
		for i := range items {
			items[i] = r.structure(segment, at+1+i*(data+ptrs), data, ptrs)
		}
		return items
	}
	r.t.Fatalf("a list of elements of size %d", size)
	return nil
}
