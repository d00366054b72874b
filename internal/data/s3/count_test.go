package s3_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
)

// TestReport: every request is reported with its result.
func TestReport(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusPreconditionFailed)
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Has("list-type"):
			_, _ = w.Write([]byte(`<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></ListBucketResult>`))
		}
	}))
	t.Cleanup(server.Close)
	var mu sync.Mutex
	var got []string
	store, err := s3.New(s3.Config{Endpoint: server.URL, AccessKey: "k", SecretKey: "s", Report: func(op, result string, took time.Duration) {
		if took <= 0 {
			t.Errorf("%s took %s", op, took)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, op+" "+result)
	}})
	if err != nil {
		t.Fatal(err)
	}
	b := store.Bucket("bucket", "")
	_, putErr := b.Put(t.Context(), "a", strings.NewReader("x"), 1, objstore.Condition{})
	_, refused := b.Put(t.Context(), "a", strings.NewReader("x"), 1, objstore.Condition{IfAbsent: true})
	_, statErr := b.Stat(t.Context(), "a")
	_, listErr := b.List(t.Context(), "", "", 10)
	server.Close()
	if want := []string{"put ok", "put precondition", "head not_found", "list ok"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v (%v, %v, %v, %v)", got, want, putErr, refused, statErr, listErr)
	}
}
