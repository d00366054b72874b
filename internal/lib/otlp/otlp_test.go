package otlp_test

import (
	"encoding/binary"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/otlp"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// fields reads a message of protobuf: the contents of its fields, numbers as 8 bytes.
func fields(t *testing.T, b []byte) map[uint64][]string {
	t.Helper()
	out := map[uint64][]string{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		b = b[n:]
		var content []byte
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			content, b = binary.LittleEndian.AppendUint64(nil, v), b[n:]
		case 1:
			content, b = b[:8], b[8:]
		case 2:
			size, n := binary.Uvarint(b)
			content, b = b[n:n+int(size)], b[n+int(size):]
		default:
			t.Fatalf("type %d", tag&7)
		}
		out[tag>>3] = append(out[tag>>3], string(content))
	}
	return out
}

// spansOf returns the spans and the properties of the process of an export.
func spansOf(t *testing.T, body []byte) (spans []map[uint64][]string, resource []string) {
	t.Helper()
	one := fields(t, []byte(fields(t, body)[1][0]))
	for _, s := range fields(t, []byte(one[2][0]))[2] {
		spans = append(spans, fields(t, []byte(s)))
	}
	return spans, fields(t, []byte(one[1][0]))[1]
}

func number(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }

func TestExport(t *testing.T) {
	t.Parallel()
	bodies := make(chan []byte, 1)
	header := make(chan http.Header, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		header <- r.Header
		bodies <- body
	}))
	t.Cleanup(collector.Close)
	e := otlp.New(otlp.Config{
		URL: collector.URL + "/v1/traces", Headers: map[string]string{"X-Key": "k"}, Logger: slog.New(slog.DiscardHandler),
		Resource: []otlp.Attr{otlp.String("service.name", "svcctl")},
	})
	start := time.Unix(1_900_000_000, 5)
	e.Record(otlp.Span{
		Trace: [16]byte{1, 15: 2}, ID: [8]byte{3}, Parent: [8]byte{4}, Name: "GET", Kind: otlp.Server, Start: start, End: start.Add(time.Second),
		Attrs: []otlp.Attr{otlp.Int("n", 300), otlp.String("empty", "")}, Failed: true, Error: "boom",
	})
	e.Record(otlp.Span{Name: "root", Kind: otlp.Internal, Start: start, End: start})
	if err := e.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := svctest.Wait(t, "the export", header); h.Get("Content-Type") != "application/x-protobuf" || h.Get("X-Key") != "k" {
		t.Error(h)
	}
	spans, resource := spansOf(t, <-bodies)
	if len(spans) != 2 || len(resource) != 1 || !strings.Contains(resource[0], "service.name") || !strings.Contains(resource[0], "svcctl") {
		t.Fatalf("%v of %q", spans, resource)
	}
	s := spans[0]
	for field, want := range map[uint64]string{
		1: "\x01" + strings.Repeat("\x00", 14) + "\x02", 2: "\x03" + strings.Repeat("\x00", 7), 4: "\x04" + strings.Repeat("\x00", 7), 5: "GET", 6: number(2),
		7: number(1_900_000_000_000_000_005), 8: number(1_900_000_001_000_000_005),
	} {
		if len(s[field]) != 1 || s[field][0] != want {
			t.Errorf("field %d is %q, want %q", field, s[field], want)
		}
	}
	status := fields(t, []byte(s[15][0]))
	if status[2][0] != "boom" || status[3][0] != number(2) {
		t.Errorf("status %v", status)
	}
	value := func(i int) map[uint64][]string { return fields(t, []byte(fields(t, []byte(s[9][i]))[2][0])) }
	if n := value(0)[3]; len(n) != 1 || n[0] != number(300) {
		t.Errorf("n is %q", n)
	}
	if empty := value(1)[1]; len(empty) != 1 || empty[0] != "" {
		t.Errorf("empty is %q", empty)
	}
	if root := spans[1]; root[4] != nil || root[15] != nil {
		t.Errorf("the root has a parent or an error: %v", root)
	}
}

// TestCollectorFails: spans that a collector refuses are dropped and reported once. Record
// never blocks.
func TestCollectorFails(t *testing.T) {
	t.Parallel()
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(collector.Close)
	var log svctest.Buffer
	e := otlp.New(otlp.Config{URL: collector.URL, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 10_000 {
		e.Record(otlp.Span{Name: "x"})
	}
	if err := e.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "sending spans failed"); n != 1 || !strings.Contains(log.String(), "503") {
		t.Error(log.String())
	}
}

func TestMain(m *testing.M) { svctest.Main(m, nil) }
